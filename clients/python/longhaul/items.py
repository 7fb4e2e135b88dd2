"""Foreign items as messages of a conversation: readable for people and recall, exact for their own program."""

from __future__ import annotations

import json
from typing import Any, Mapping

#: A larger item is a part of the message instead of a fact about it: large parts are stored as blobs.
MAX_META_CHARACTERS = 65_536

Roles = {"system", "user", "assistant", "tool"}


def to_message(name: str, role: str, parts: list[dict[str, Any]], item: Mapping[str, Any]) -> dict[str, Any]:
    """A message with the readable parts of an item, and the item itself under `name`."""
    message: dict[str, Any] = {"role": role if role in Roles else "user", "parts": list(parts)}
    if len(json.dumps(item, ensure_ascii=False)) > MAX_META_CHARACTERS:
        message["parts"].append({"type": "raw", "format": name, "value": dict(item)})
    else:
        message["meta"] = {name: dict(item)}
    if not message["parts"]:
        message["parts"] = [{"type": "text", "text": ""}]
    return message


def text_parts(texts: list[str]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text} for text in texts if text]


def from_entry(name: str, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """The item of an entry; None if another program wrote the entry."""
    message = entry.get("message") or {}
    item = (message.get("meta") or {}).get(name)
    if isinstance(item, dict):
        return item
    for part in message.get("parts", []):
        if part.get("type") == "raw" and part.get("format") == name:
            return part["value"]
    return None
