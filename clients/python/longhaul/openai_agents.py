"""A session of the OpenAI Agents SDK that is stored by longhaul."""

from __future__ import annotations

import json
from typing import Any, Generator, Mapping

from agents.memory import SessionABC

from .calls import Call, call, session_path
from .client import AsyncLonghaul
from .errors import LonghaulError
from .items import from_entry, text_parts, to_message

NAME = "openai-agents"
PAGE = 200


class LonghaulSession(SessionABC):
    """Keeps the items of one conversation. Items that are popped or cleared leave the line but stay in the log."""

    def __init__(self, session_id: str, client: AsyncLonghaul | None = None) -> None:
        self.session_id = session_id
        self._client = client or AsyncLonghaul()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        items = [item for _, item in await self._client.run(self._read(limit))]
        return items[::-1]

    async def add_items(self, items: list[Any]) -> None:
        if items:
            await self._client.run(self._append([dict(item) for item in items]))

    async def pop_item(self) -> Any | None:
        found = await self._client.run(self._read(1))
        if not found:
            return None
        await self._client.run(self._remove([found[0][0]]))
        return found[0][1]

    async def clear_session(self) -> None:
        seqs = [seq for seq, _ in await self._client.run(self._read(None))]
        for start in range(0, len(seqs), 1_000):
            await self._client.run(self._remove(seqs[start : start + 1_000]))

    def _read(self, limit: int | None) -> Generator[Call, Any, list[tuple[str, Any]]]:
        """The ids and items of the newest entries, newest first."""
        found: list[tuple[str, Any]] = []
        before: str | None = None
        while limit is None or len(found) < limit:
            params = {"limit": PAGE, "kinds": "message", "before": before, "full": True}
            try:
                page = yield call("GET", session_path(self.session_id, "entries"), params=params)
            except LonghaulError as error:
                if error.code != "SESSION_NOT_FOUND":
                    raise
                return found
            for entry in reversed(page["entries"]):
                item = from_entry(NAME, entry)
                if item is not None:
                    found.append((entry["id"], item))
            before = page.get("before")
            if before is None:
                break
        return found if limit is None else found[:limit]

    def _append(self, items: list[Mapping[str, Any]]) -> Generator[Call, Any, None]:
        messages = [to_message(NAME, _role(item), _parts(item), item) for item in items]
        request = call("POST", session_path(self.session_id, "entries"), body={"messages": messages})
        try:
            yield request
        except LonghaulError as error:
            if error.code != "SESSION_NOT_FOUND":
                raise
            try:
                yield call("POST", "/sessions", body={"id": self.session_id, "meta": {"agent": NAME}})
            except LonghaulError as exists:
                # Another process has just created it.
                if exists.code != "SESSION_EXISTS":
                    raise
            yield request

    def _remove(self, entries: list[str]) -> Generator[Call, Any, None]:
        yield call("POST", session_path(self.session_id, "remove"), body={"entries": entries, "reason": "removed by the SDK"})


def _role(item: Mapping[str, Any]) -> str:
    role = item.get("role")
    if isinstance(role, str):
        return "system" if role == "developer" else role
    kind = str(item.get("type", ""))
    return "tool" if kind.endswith("_output") else "assistant"


def _parts(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The readable parts of an item, for people, recall and windows."""
    kind = item.get("type")
    if kind == "function_call":
        part = {"type": "tool-call", "callId": str(item.get("call_id")), "name": str(item.get("name"))}
        return [{**part, "input": _json(item.get("arguments"))}]
    if kind == "function_call_output":
        output = "\n".join(_texts(item.get("output")))
        return [{"type": "tool-result", "callId": str(item.get("call_id")), "output": output}]
    if kind == "reasoning":
        return [{"type": "reasoning", "text": text} for text in _texts(item.get("summary")) if text]
    return text_parts(_texts(item.get("content")))


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return str(text)


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
