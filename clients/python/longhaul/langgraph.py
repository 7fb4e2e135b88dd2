"""A store of LangGraph whose items are kept, searched and recalled by longhaul.

Each namespace is a conversation. An item is an entry of it; a named fact says which entry is the item's current
version. Deleting an item erases all of its versions from disk.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Generator, Iterable, Mapping
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from .calls import Call, call, session_path
from .client import AsyncLonghaul, Longhaul
from .errors import LonghaulError
from .items import from_entry, text_parts, to_message

NAME = "langgraph"
PAGE = 200
#: Hits that are asked for per wanted item: some are older versions, or excluded by the filter.
HITS_PER_ITEM = 4
MAX_HITS = 100


class LonghaulStore(BaseStore):
    """Synchronous with a `Longhaul`, asynchronous with an `AsyncLonghaul`, or both."""

    supports_ttl = False

    def __init__(
        self,
        client: Longhaul | None = None,
        async_client: AsyncLonghaul | None = None,
        *,
        prefix: str = "langgraph",
    ) -> None:
        self._client = client
        self._async_client = async_client
        self._prefix = prefix

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        self._client = self._client or Longhaul()
        return [self._client.run(self._steps(op)) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        self._async_client = self._async_client or AsyncLonghaul()
        return [await self._async_client.run(self._steps(op)) for op in ops]

    def _steps(self, op: Op) -> Generator[Call, Any, Any]:
        if isinstance(op, PutOp):
            return self._put(op) if op.value is not None else self._delete(op)
        if isinstance(op, GetOp):
            return self._get(op.namespace, op.key)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        raise TypeError(f"{type(op).__name__} is no operation of a store")

    def _session(self, namespace: tuple[str, ...]) -> str:
        return "/".join([self._prefix, *(quote(part, safe="") for part in namespace)])

    def _namespace(self, session: str) -> tuple[str, ...]:
        # With a token, ids begin with the person.
        rest = session[session.index(f"{self._prefix}/") + len(self._prefix) + 1 :]
        return tuple(unquote(part) for part in rest.split("/"))

    def _fact(self, namespace: tuple[str, ...], key: str) -> Generator[Call, Any, dict[str, Any] | None]:
        try:
            reply = yield call("GET", session_path(self._session(namespace), "facts", key))
        except LonghaulError as error:
            if error.code != "SESSION_NOT_FOUND":
                raise
            return None
        return reply["value"]

    def _get(self, namespace: tuple[str, ...], key: str) -> Generator[Call, Any, Item | None]:
        fact = yield from self._fact(namespace, key)
        if fact is None:
            return None
        entry = yield call("GET", session_path(self._session(namespace), "entries", str(fact["seqs"][-1])))
        return _to_item(Item, namespace, entry, fact)

    def _put(self, op: PutOp) -> Generator[Call, Any, None]:
        session = self._session(op.namespace)
        known = yield from self._fact(op.namespace, op.key)
        stored = {"key": op.key, "value": op.value}
        texts = [] if op.index is False else _searchable(op.value, op.index)
        request = call("POST", session_path(session, "entries"), body={"messages": [to_message(NAME, "user", text_parts(texts), stored)]})
        try:
            reply = yield request
        except LonghaulError as error:
            if error.code != "SESSION_NOT_FOUND":
                raise
            try:
                yield call("POST", "/sessions", body={"id": session, "title": " / ".join(op.namespace), "meta": {"agent": NAME}})
            except LonghaulError as exists:
                if exists.code != "SESSION_EXISTS":
                    raise
            reply = yield request
        entry = reply["entries"][0]
        fact = {
            "seqs": [*(known["seqs"] if known else []), entry["seq"]],
            "created": known["created"] if known else entry["at"],
            "updated": entry["at"],
        }
        yield call("POST", session_path(session, "facts", op.key), body={"value": fact})

    def _delete(self, op: PutOp) -> Generator[Call, Any, None]:
        known = yield from self._fact(op.namespace, op.key)
        if known is None:
            return
        session = self._session(op.namespace)
        for start in range(0, len(known["seqs"]), 1_000):
            body = {"entries": known["seqs"][start : start + 1_000], "reason": "deleted"}
            path = session_path(session, "redact")
            preview = yield call("POST", path, body=body)
            yield call("POST", path, body={**body, "confirm": preview["confirm"]})
        # `None` would be left out of the body.
        yield Call("POST", session_path(session, "facts", op.key), {}, {"value": None})

    def _search(self, op: SearchOp) -> Generator[Call, Any, list[SearchItem]]:
        sessions = yield from self._sessions(op.namespace_prefix)
        if op.query:
            found = yield from self._recall(op, sessions)
        else:
            found = []
            for session in sessions:
                found.extend((yield from self._scan(session)))
        wanted = [item for item in found if _matches(item.value, op.filter)]
        return wanted[op.offset : op.offset + op.limit]

    def _recall(self, op: SearchOp, sessions: list[str]) -> Generator[Call, Any, list[SearchItem]]:
        if not sessions:
            return []
        k = min(MAX_HITS, HITS_PER_ITEM * (op.offset + op.limit))
        reply = yield call("POST", "/recall", body={"question": op.query, "sessions": sessions, "k": k, "details": False})
        found: list[SearchItem] = []
        seen: set[str] = set()
        for hit in reply["hits"]:
            if hit["entry"] in seen:
                continue
            seen.add(hit["entry"])
            entry = yield call("GET", session_path(hit["session"], "entries", str(hit["seq"])))
            item = from_entry(NAME, entry)
            if item is None:
                continue
            namespace = self._namespace(hit["session"])
            fact = yield from self._fact(namespace, item["key"])
            if fact is not None and fact["seqs"][-1] == hit["seq"]:
                found.append(_to_item(SearchItem, namespace, entry, fact, score=hit["score"]))
        return found

    def _scan(self, session: str) -> Generator[Call, Any, list[SearchItem]]:
        """The current items of a namespace, most recent first."""
        namespace = self._namespace(session)
        found: dict[str, SearchItem] = {}
        before: str | None = None
        while True:
            params = {"limit": PAGE, "kinds": "message", "before": before, "full": True}
            page = yield call("GET", session_path(session, "entries"), params=params)
            for entry in reversed(page["entries"]):
                item = from_entry(NAME, entry)
                if item is None or item["key"] in found:
                    continue
                fact = yield from self._fact(namespace, item["key"])
                if fact is not None and fact["seqs"][-1] == entry["seq"]:
                    found[item["key"]] = _to_item(SearchItem, namespace, entry, fact)
            before = page.get("before")
            if before is None:
                return list(found.values())

    def _sessions(self, prefix: tuple[str, ...]) -> Generator[Call, Any, list[str]]:
        """The ids of the namespaces below a prefix."""
        start = self._session(prefix) if prefix else f"{self._prefix}/"
        ids: list[str] = []
        before: str | None = None
        while True:
            page = yield call("GET", "/sessions", params={"prefix": start, "limit": PAGE, "before": before})
            for session in page["sessions"]:
                namespace = self._namespace(session["id"])
                if namespace[: len(prefix)] == prefix:
                    ids.append(session["id"])
            before = page.get("before")
            if before is None:
                return ids

    def _list_namespaces(self, op: ListNamespacesOp) -> Generator[Call, Any, list[tuple[str, ...]]]:
        sessions = yield from self._sessions(())
        namespaces: set[tuple[str, ...]] = set()
        for session in sessions:
            namespace = self._namespace(session)
            if not all(_fits(namespace, condition) for condition in op.match_conditions or ()):
                continue
            if (yield from self._scan(session)):
                namespaces.add(namespace[: op.max_depth] if op.max_depth else namespace)
        return sorted(namespaces)[op.offset : op.offset + op.limit]


def _to_item(kind: Any, namespace: tuple[str, ...], entry: Mapping[str, Any], fact: Mapping[str, Any], **more: Any) -> Any:
    item = from_entry(NAME, entry)
    if item is None:
        return None
    return kind(
        namespace=namespace,
        key=item["key"],
        value=item["value"],
        created_at=_time(fact["created"]),
        updated_at=_time(fact["updated"]),
        **more,
    )


def _time(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1_000, tz=timezone.utc)


def _searchable(value: Mapping[str, Any], index: Any) -> list[str]:
    """The texts of a value: of the named fields, or all of it."""
    if not index:
        return [json.dumps(value, ensure_ascii=False)]
    texts: list[str] = []
    for path in index:
        texts.extend(_at_path(value, path.split(".")))
    return texts


def _at_path(value: Any, path: list[str]) -> list[str]:
    if not path or path == ["$"]:
        return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]
    head, *rest = path
    name, _, inside = head.partition("[")
    inner = value.get(name) if isinstance(value, Mapping) and name else value
    if inner is None:
        return []
    if not inside:
        return _at_path(inner, rest)
    which = inside.rstrip("]")
    if not isinstance(inner, list):
        return []
    chosen = inner if which == "*" else inner[int(which) :][:1]
    return [text for one in chosen for text in _at_path(one, rest)]


_COMPARE = {
    "$eq": lambda one, other: one == other,
    "$ne": lambda one, other: one != other,
    "$gt": lambda one, other: float(one) > float(other),
    "$gte": lambda one, other: float(one) >= float(other),
    "$lt": lambda one, other: float(one) < float(other),
    "$lte": lambda one, other: float(one) <= float(other),
}


def _matches(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_compare(value.get(name), condition) for name, condition in (wanted or {}).items())


def _compare(own: Any, condition: Any) -> bool:
    if isinstance(condition, dict) and any(name.startswith("$") for name in condition):
        return all(_COMPARE[name](own, other) for name, other in condition.items())
    if isinstance(condition, dict):
        return isinstance(own, dict) and all(_compare(own.get(name), one) for name, one in condition.items())
    return bool(own == condition)


def _fits(namespace: tuple[str, ...], condition: Any) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", own) for own, wanted in zip(part, path))
