"""Requests of the API, built without sending them, so that both clients share them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence
from urllib.parse import quote

from .types import AnyFormat, Format


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


def encode(segment: str) -> str:
    """An id as one segment of a path."""
    return quote(segment, safe="")


def call(method: str, path: str, *, params: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None) -> Call:
    """A request without its absent arguments."""
    return Call(method, path, _present(params or {}), None if body is None else _present(body))


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in fields.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value


def session_path(session: str, *rest: str) -> str:
    return "/".join(["/sessions", encode(session), *map(encode, rest)])


def append(session: str, messages: Sequence[Mapping[str, Any]], format: Format, expected_head: int | None, key: str | None) -> Call:
    body = {"messages": list(messages), "format": format, "expectedHead": expected_head, "key": key}
    return call("POST", session_path(session, "entries"), body=body)


def fit_session(session: str, options: Mapping[str, Any]) -> Call:
    return call("POST", session_path(session, "fit"), body=camel(options))


def fit_messages(messages: Sequence[Mapping[str, Any]], model: str, format: AnyFormat | None, options: Mapping[str, Any]) -> Call:
    body = {"messages": list(messages), "model": model, "format": format, **camel(options)}
    return call("POST", "/fit", body=body)


def recall(question: str, options: Mapping[str, Any]) -> Call:
    return call("POST", "/recall", body={"question": question, **camel(options)})


def camel(options: Mapping[str, Any]) -> dict[str, Any]:
    """Names of arguments as the API writes them: max_output_tokens becomes maxOutputTokens."""
    result = {}
    for name, value in options.items():
        head, *tail = name.split("_")
        result[head + "".join(word.capitalize() for word in tail)] = value
    return result
