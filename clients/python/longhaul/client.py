"""The clients of the gateway's HTTP API."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any, AsyncIterator, Generator, Iterator, Mapping, Sequence, TypeVar, cast

import httpx

from . import calls
from .calls import Call, call, encode, session_path
from .errors import LonghaulError, parse_error
from .operations import AsyncOperations, Operations
from .types import AnyFormat, Entry, FittedMessages, Format, Memory, Recall, Session, Task, Usage, Window

DEFAULT_URL = "http://127.0.0.1:4747"
#: A tail that finds no gateway this often in a row gives up.
MAX_RECONNECTS = 6
Result = TypeVar("Result")
#: Work that asks the API several times: it yields calls and gets their replies.
Steps = Generator[Call, Any, Result]


def _settings(url: str | None, token: str | None, timeout: float) -> dict[str, Any]:
    base = (url or os.environ.get("LONGHAUL_URL") or DEFAULT_URL).rstrip("/")
    secret = token or os.environ.get("LONGHAUL_TOKEN")
    headers = {"x-longhaul-token": secret} if secret else {}
    return {"base_url": f"{base}/api/v1", "headers": headers, "timeout": timeout}


def _arguments(request: Call) -> dict[str, Any]:
    params = {name: _query(value) for name, value in request.params.items()}
    arguments: dict[str, Any] = {"method": request.method, "url": request.path, "params": params}
    if request.body is not None:
        arguments["json"] = request.body
    return arguments


def _query(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def _parse(response: httpx.Response) -> Any:
    try:
        body = response.json()
    except ValueError:
        body = None
    if response.status_code >= 400:
        raise parse_error(response.status_code, body)
    return body


def _read_event(lines: list[str]) -> Entry | None:
    data = [line[6:] for line in lines if line.startswith("data: ")]
    return cast(Entry, json.loads("\n".join(data))) if data else None


class Longhaul(Operations):
    """A client that waits for each reply. `url` and `token` come from LONGHAUL_URL and LONGHAUL_TOKEN by default."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(**_settings(url, token, timeout), transport=transport)

    def __enter__(self) -> Longhaul:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def request(self, request: Call) -> Any:
        """Sends any request of the API; the methods below are for those that programs need most."""
        return _parse(self._http.request(**_arguments(request)))

    def run(self, steps: Steps[Result]) -> Result:
        """Runs work that asks the API several times."""
        try:
            request = next(steps)
            while True:
                try:
                    reply = self.request(request)
                except LonghaulError as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(reply)
        except StopIteration as end:
            return cast(Result, end.value)

    def health(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self.request(call("GET", "/health")))

    def create_session(self, id: str | None = None, *, title: str | None = None, meta: Mapping[str, Any] | None = None) -> Session:
        return cast(Session, self.request(call("POST", "/sessions", body={"id": id, "title": title, "meta": meta})))

    def session(self, session: str) -> Session:
        return cast(Session, self.request(call("GET", session_path(session))))

    def sessions(self, **filters: Any) -> Iterator[Session]:
        """All sessions that match, newest first, page by page."""
        before: str | None = None
        while True:
            page = self.request(call("GET", "/sessions", params={**calls.camel(filters), "before": before}))
            yield from page["sessions"]
            before = page.get("before")
            if before is None:
                return

    def append(self, session: str, messages: Sequence[Mapping[str, Any]], *, format: Format = "longhaul", expected_head: int | None = None, key: str | None = None) -> list[Entry]:
        """Appends messages, all or none; with a `key`, a repeated call counts once."""
        reply = self.request(calls.append(session, messages, format, expected_head, key))
        return cast("list[Entry]", reply["entries"])

    def entries(self, session: str, *, newest_first: bool = False, kinds: Sequence[str] | None = None, page: int = 200) -> Iterator[Entry]:
        """The entries of the active line, page by page."""
        if newest_first:
            before: str | None = None
            while True:
                params = {"limit": page, "kinds": kinds, "before": before}
                reply = self.request(call("GET", session_path(session, "entries"), params=params))
                yield from reversed(reply["entries"])
                before = reply.get("before")
                if before is None:
                    return
        yield from reversed(list(self.entries(session, newest_first=True, kinds=kinds, page=page)))

    def messages(self, session: str, *, format: Format = "longhaul", limit: int = 1_000) -> list[Any]:
        """The newest messages in the format of a provider's API."""
        params = {"format": format, "limit": limit}
        return cast("list[Any]", self.request(call("GET", session_path(session, "messages"), params=params))["messages"])

    def tail(self, session: str, *, after: int | None = None) -> Iterator[Entry]:
        """Follows the log until the caller stops; reconnects with the last seq on its own."""
        last = after
        failures = 0
        while True:
            params = {} if last is None else {"after": str(last)}
            try:
                with self._http.stream("GET", session_path(session, "tail"), params=params, timeout=None) as response:
                    if response.status_code >= 400:
                        response.read()
                        _parse(response)
                    lines: list[str] = []
                    for line in response.iter_lines():
                        line = line.rstrip("\n")
                        if line:
                            lines.append(line)
                            continue
                        entry = _read_event(lines)
                        lines = []
                        if entry is not None:
                            last, failures = entry["seq"], 0
                            yield entry
            except httpx.TransportError:
                if last is None or failures >= MAX_RECONNECTS:
                    raise
            failures += 1
            time.sleep(min(5.0, 0.1 * 2**failures))

    def window(self, session: str, **options: Any) -> Window:
        return cast(Window, self.request(call("GET", session_path(session, "window"), params=calls.camel(options))))

    def fit(self, session: str, *, model: str | None = None, format: Format = "longhaul", **options: Any) -> FittedMessages:
        """The messages for the next call of a model, within its window."""
        return cast(FittedMessages, self.request(calls.fit_session(session, {"model": model, "format": format, **options})))

    def fit_messages(self, messages: Sequence[Mapping[str, Any]], *, model: str, format: AnyFormat | None = None, **options: Any) -> FittedMessages:
        """Fits messages without storing anything."""
        return cast(FittedMessages, self.request(calls.fit_messages(messages, model, format, options)))

    def report_usage(self, session: str, usage: Mapping[str, Any], *, model: str, request: str | None = None) -> Entry:
        body = {"usage": dict(usage), "model": model, "request": request}
        return cast(Entry, self.request(call("POST", session_path(session, "usage"), body=body)))

    def compact(self, session: str, *, dry_run: bool = True, **options: Any) -> dict[str, Any]:
        """Replaces older messages by a summary; a dry run by default."""
        body = {"dryRun": dry_run, **calls.camel(options)}
        return cast("dict[str, Any]", self.request(call("POST", session_path(session, "compact"), body=body)))

    def revert(self, session: str, overlay: int | None = None) -> dict[str, Any]:
        return cast("dict[str, Any]", self.request(call("POST", session_path(session, "revert"), body={"overlay": overlay})))

    def forget_session(self, session: str, *, recursive: bool = False) -> dict[str, Any]:
        """Erases a conversation from disk; there is no undo."""
        path = session_path(session, "forget")
        preview = self.request(call("POST", path, body={"recursive": recursive}))
        body = {"recursive": recursive, "confirm": preview["confirm"]}
        return cast("dict[str, Any]", self.request(call("POST", path, body=body)))

    def recall(self, question: str, **options: Any) -> Recall:
        """Searches everything that was ever said."""
        return cast(Recall, self.request(calls.recall(question, options)))

    def expand(self, entry: str, *, around: int = 2) -> list[Entry]:
        reply = self.request(call("GET", "/expand", params={"entry": entry, "around": around}))
        return cast("list[Entry]", reply["entries"])

    def memories(self, **filters: Any) -> list[Memory]:
        return cast("list[Memory]", self.request(call("GET", "/memories", params=calls.camel(filters)))["memories"])

    def remember(self, text: str, **options: Any) -> Memory:
        return cast(Memory, self.request(call("POST", "/memories", body={"text": text, **calls.camel(options)})))

    def forget_memory(self, memory: str) -> dict[str, Any]:
        path = f"/memories/{encode(memory)}/forget"
        confirm = self.request(call("POST", path, body={}))["confirm"]
        return cast("dict[str, Any]", self.request(call("POST", path, body={"confirm": confirm})))

    def tasks(self, **filters: Any) -> list[Task]:
        return cast("list[Task]", self.request(call("GET", "/tasks", params=calls.camel(filters)))["tasks"])

    def usage(self, **options: Any) -> Usage:
        return cast(Usage, self.request(call("GET", "/usage", params=calls.camel(options))))


class AsyncLonghaul(AsyncOperations):
    """The same client for asyncio."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(**_settings(url, token, timeout), transport=transport)

    async def __aenter__(self) -> AsyncLonghaul:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def request(self, request: Call) -> Any:
        """Sends any request of the API."""
        return _parse(await self._http.request(**_arguments(request)))

    async def run(self, steps: Steps[Result]) -> Result:
        """Runs work that asks the API several times."""
        try:
            request = next(steps)
            while True:
                try:
                    reply = await self.request(request)
                except LonghaulError as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(reply)
        except StopIteration as end:
            return cast(Result, end.value)

    async def health(self) -> dict[str, Any]:
        return cast("dict[str, Any]", await self.request(call("GET", "/health")))

    async def create_session(self, id: str | None = None, *, title: str | None = None, meta: Mapping[str, Any] | None = None) -> Session:
        body = {"id": id, "title": title, "meta": meta}
        return cast(Session, await self.request(call("POST", "/sessions", body=body)))

    async def session(self, session: str) -> Session:
        return cast(Session, await self.request(call("GET", session_path(session))))

    async def sessions(self, **filters: Any) -> AsyncIterator[Session]:
        before: str | None = None
        while True:
            page = await self.request(call("GET", "/sessions", params={**calls.camel(filters), "before": before}))
            for one in page["sessions"]:
                yield one
            before = page.get("before")
            if before is None:
                return

    async def append(self, session: str, messages: Sequence[Mapping[str, Any]], *, format: Format = "longhaul", expected_head: int | None = None, key: str | None = None) -> list[Entry]:
        reply = await self.request(calls.append(session, messages, format, expected_head, key))
        return cast("list[Entry]", reply["entries"])

    async def entries(self, session: str, *, newest_first: bool = False, kinds: Sequence[str] | None = None, page: int = 200) -> AsyncIterator[Entry]:
        if newest_first:
            before: str | None = None
            while True:
                params = {"limit": page, "kinds": kinds, "before": before}
                reply = await self.request(call("GET", session_path(session, "entries"), params=params))
                for entry in reversed(reply["entries"]):
                    yield entry
                before = reply.get("before")
                if before is None:
                    return
        newest = [entry async for entry in self.entries(session, newest_first=True, kinds=kinds, page=page)]
        for entry in reversed(newest):
            yield entry

    async def messages(self, session: str, *, format: Format = "longhaul", limit: int = 1_000) -> list[Any]:
        params = {"format": format, "limit": limit}
        reply = await self.request(call("GET", session_path(session, "messages"), params=params))
        return cast("list[Any]", reply["messages"])

    async def tail(self, session: str, *, after: int | None = None) -> AsyncIterator[Entry]:
        last = after
        failures = 0
        while True:
            params = {} if last is None else {"after": str(last)}
            try:
                async with self._http.stream("GET", session_path(session, "tail"), params=params, timeout=None) as response:
                    if response.status_code >= 400:
                        await response.aread()
                        _parse(response)
                    lines: list[str] = []
                    async for line in response.aiter_lines():
                        line = line.rstrip("\n")
                        if line:
                            lines.append(line)
                            continue
                        entry = _read_event(lines)
                        lines = []
                        if entry is not None:
                            last, failures = entry["seq"], 0
                            yield entry
            except httpx.TransportError:
                if last is None or failures >= MAX_RECONNECTS:
                    raise
            failures += 1
            await asyncio.sleep(min(5.0, 0.1 * 2**failures))

    async def window(self, session: str, **options: Any) -> Window:
        return cast(Window, await self.request(call("GET", session_path(session, "window"), params=calls.camel(options))))

    async def fit(self, session: str, *, model: str | None = None, format: Format = "longhaul", **options: Any) -> FittedMessages:
        return cast(FittedMessages, await self.request(calls.fit_session(session, {"model": model, "format": format, **options})))

    async def fit_messages(self, messages: Sequence[Mapping[str, Any]], *, model: str, format: AnyFormat | None = None, **options: Any) -> FittedMessages:
        return cast(FittedMessages, await self.request(calls.fit_messages(messages, model, format, options)))

    async def report_usage(self, session: str, usage: Mapping[str, Any], *, model: str, request: str | None = None) -> Entry:
        body = {"usage": dict(usage), "model": model, "request": request}
        return cast(Entry, await self.request(call("POST", session_path(session, "usage"), body=body)))

    async def compact(self, session: str, *, dry_run: bool = True, **options: Any) -> dict[str, Any]:
        body = {"dryRun": dry_run, **calls.camel(options)}
        return cast("dict[str, Any]", await self.request(call("POST", session_path(session, "compact"), body=body)))

    async def revert(self, session: str, overlay: int | None = None) -> dict[str, Any]:
        body = {"overlay": overlay}
        return cast("dict[str, Any]", await self.request(call("POST", session_path(session, "revert"), body=body)))

    async def forget_session(self, session: str, *, recursive: bool = False) -> dict[str, Any]:
        path = session_path(session, "forget")
        preview = await self.request(call("POST", path, body={"recursive": recursive}))
        body = {"recursive": recursive, "confirm": preview["confirm"]}
        return cast("dict[str, Any]", await self.request(call("POST", path, body=body)))

    async def recall(self, question: str, **options: Any) -> Recall:
        return cast(Recall, await self.request(calls.recall(question, options)))

    async def expand(self, entry: str, *, around: int = 2) -> list[Entry]:
        reply = await self.request(call("GET", "/expand", params={"entry": entry, "around": around}))
        return cast("list[Entry]", reply["entries"])

    async def memories(self, **filters: Any) -> list[Memory]:
        return cast("list[Memory]", (await self.request(call("GET", "/memories", params=calls.camel(filters))))["memories"])

    async def remember(self, text: str, **options: Any) -> Memory:
        return cast(Memory, await self.request(call("POST", "/memories", body={"text": text, **calls.camel(options)})))

    async def forget_memory(self, memory: str) -> dict[str, Any]:
        path = f"/memories/{encode(memory)}/forget"
        confirm = (await self.request(call("POST", path, body={})))["confirm"]
        return cast("dict[str, Any]", await self.request(call("POST", path, body={"confirm": confirm})))

    async def tasks(self, **filters: Any) -> list[Task]:
        return cast("list[Task]", (await self.request(call("GET", "/tasks", params=calls.camel(filters))))["tasks"])

    async def usage(self, **options: Any) -> Usage:
        return cast(Usage, await self.request(call("GET", "/usage", params=calls.camel(options))))
