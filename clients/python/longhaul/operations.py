"""Methods of the clients for the gateway itself: its agents, memories, index, jobs, health and tasks."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncIterator, Iterator, cast

from .calls import Call, call, encode
from .types import (
    Agent,
    AgentChange,
    ConnectionWay,
    Erasure,
    HealthHistory,
    Index,
    IndexSource,
    Job,
    Memory,
    MemoryAgent,
    MemoryDecision,
    Relief,
    SourceKind,
    TaskDetails,
    TaskNotice,
)

#: Seconds between two looks at a job.
JOB_INTERVAL = 0.5


def _change(agent: str, change: str, way: ConnectionWay, confirm: str | None) -> Call:
    return call("POST", f"/agents/{encode(agent)}/{change}", body={"way": way, "confirm": confirm})


def _memory(memory: str, action: str, body: dict[str, Any]) -> Call:
    return call("POST", f"/memories/{encode(memory)}/{action}", body=body)


def _erase(person: str, confirm: str | None) -> Call:
    return call("POST", f"/people/{encode(person)}/erase", body={"confirm": confirm})


class Operations:
    """The methods of the client that waits for each reply."""

    def request(self, request: Call) -> Any:
        raise NotImplementedError

    def agents(self) -> list[Agent]:
        """The agents of the gateway's computer, with the state of both ways to connect them."""
        return cast("list[Agent]", self.request(call("GET", "/agents"))["agents"])

    def connect_agent(self, agent: str, *, way: ConnectionWay = "gateway", confirm: str | None = None) -> AgentChange:
        """Shows the change of an agent's files; with the `confirm` of that preview, writes it."""
        return cast(AgentChange, self.request(_change(agent, "connect", way, confirm)))

    def disconnect_agent(self, agent: str, *, way: ConnectionWay = "gateway", confirm: str | None = None) -> AgentChange:
        """Shows how an agent's files become as they were; with the `confirm` of that preview, writes them."""
        return cast(AgentChange, self.request(_change(agent, "disconnect", way, confirm)))

    def memory_agents(self) -> list[MemoryAgent]:
        """The agents that have memories."""
        return cast("list[MemoryAgent]", self.request(call("GET", "/memories/agents"))["agents"])

    def move_memory(self, memory: str, *, above: str | None = None, below: str | None = None) -> Memory:
        """Moves a memory directly above or below another one, or to the top."""
        return cast(Memory, self.request(_memory(memory, "move", {"above": above, "below": below})))

    def review_memory(self, memory: str, decision: MemoryDecision) -> Memory:
        """Accepts or rejects the note of an agent."""
        return cast(Memory, self.request(_memory(memory, "review", {"decision": decision})))

    def index(self) -> Index:
        """The size of the index, and the work that it lacks."""
        return cast(Index, self.request(call("GET", "/index")))

    def index_sources(self, *, kind: SourceKind | None = None, page: int = 100) -> Iterator[IndexSource]:
        """The conversations and files in the index, page by page."""
        after: int | None = None
        while True:
            reply = self.request(call("GET", "/index/sources", params={"kind": kind, "limit": page, "after": after}))
            yield from reply["sources"]
            after = reply["after"]
            if after is None:
                return

    def start_indexing(self) -> Job:
        """Brings the index up to the end of all conversations; returns the run in progress if there is one."""
        return cast(Job, self.request(call("POST", "/index", body={})))

    def jobs(self) -> list[Job]:
        return cast("list[Job]", self.request(call("GET", "/jobs"))["jobs"])

    def job(self, job: str) -> Job:
        return cast(Job, self.request(call("GET", f"/jobs/{encode(job)}")))

    def stop_job(self, job: str) -> Job:
        return cast(Job, self.request(call("DELETE", f"/jobs/{encode(job)}")))

    def wait_for_job(self, job: str, *, timeout: float | None = None) -> Job:
        """Returns a job after its end, however it ended; raises TimeoutError after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self.job(job)
            if found["state"] != "running":
                return found
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"The job {job} is still running.")
            time.sleep(JOB_INTERVAL)

    def erase_person(self, person: str, *, confirm: str | None = None) -> Erasure:
        """Counts everything that is stored of a person; with the `confirm` of that preview, erases it. There is no undo."""
        return cast(Erasure, self.request(_erase(person, confirm)))

    def health_history(self, *, since: int | None = None) -> HealthHistory:
        """Memory, caches, event loop and disk over time, with warnings and reliefs."""
        return cast(HealthHistory, self.request(call("GET", "/health/history", params={"since": since})))

    def relieve(self) -> Relief:
        """Drops all caches of the gateway and empties its write-ahead log."""
        return cast(Relief, self.request(call("POST", "/health/relieve", body={})))

    def task(self, task: str) -> TaskDetails:
        """A task with its state history, its worktree, its usage and its notice."""
        return cast(TaskDetails, self.request(call("GET", f"/tasks/{encode(task)}")))

    def notices(self, *, page: int = 50) -> Iterator[TaskNotice]:
        """The notices of ended tasks, those of the newest tasks first, page by page."""
        before: str | None = None
        while True:
            reply = self.request(call("GET", "/notices", params={"limit": page, "before": before}))
            yield from reply["notices"]
            before = reply.get("before")
            if before is None:
                return


class AsyncOperations:
    """The same methods for asyncio."""

    async def request(self, request: Call) -> Any:
        raise NotImplementedError

    async def agents(self) -> list[Agent]:
        return cast("list[Agent]", (await self.request(call("GET", "/agents")))["agents"])

    async def connect_agent(self, agent: str, *, way: ConnectionWay = "gateway", confirm: str | None = None) -> AgentChange:
        return cast(AgentChange, await self.request(_change(agent, "connect", way, confirm)))

    async def disconnect_agent(self, agent: str, *, way: ConnectionWay = "gateway", confirm: str | None = None) -> AgentChange:
        return cast(AgentChange, await self.request(_change(agent, "disconnect", way, confirm)))

    async def memory_agents(self) -> list[MemoryAgent]:
        return cast("list[MemoryAgent]", (await self.request(call("GET", "/memories/agents")))["agents"])

    async def move_memory(self, memory: str, *, above: str | None = None, below: str | None = None) -> Memory:
        return cast(Memory, await self.request(_memory(memory, "move", {"above": above, "below": below})))

    async def review_memory(self, memory: str, decision: MemoryDecision) -> Memory:
        return cast(Memory, await self.request(_memory(memory, "review", {"decision": decision})))

    async def index(self) -> Index:
        return cast(Index, await self.request(call("GET", "/index")))

    async def index_sources(self, *, kind: SourceKind | None = None, page: int = 100) -> AsyncIterator[IndexSource]:
        after: int | None = None
        while True:
            params = {"kind": kind, "limit": page, "after": after}
            reply = await self.request(call("GET", "/index/sources", params=params))
            for one in reply["sources"]:
                yield one
            after = reply["after"]
            if after is None:
                return

    async def start_indexing(self) -> Job:
        return cast(Job, await self.request(call("POST", "/index", body={})))

    async def jobs(self) -> list[Job]:
        return cast("list[Job]", (await self.request(call("GET", "/jobs")))["jobs"])

    async def job(self, job: str) -> Job:
        return cast(Job, await self.request(call("GET", f"/jobs/{encode(job)}")))

    async def stop_job(self, job: str) -> Job:
        return cast(Job, await self.request(call("DELETE", f"/jobs/{encode(job)}")))

    async def wait_for_job(self, job: str, *, timeout: float | None = None) -> Job:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            found = await self.job(job)
            if found["state"] != "running":
                return found
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"The job {job} is still running.")
            await asyncio.sleep(JOB_INTERVAL)

    async def erase_person(self, person: str, *, confirm: str | None = None) -> Erasure:
        return cast(Erasure, await self.request(_erase(person, confirm)))

    async def health_history(self, *, since: int | None = None) -> HealthHistory:
        return cast(HealthHistory, await self.request(call("GET", "/health/history", params={"since": since})))

    async def relieve(self) -> Relief:
        return cast(Relief, await self.request(call("POST", "/health/relieve", body={})))

    async def task(self, task: str) -> TaskDetails:
        return cast(TaskDetails, await self.request(call("GET", f"/tasks/{encode(task)}")))

    async def notices(self, *, page: int = 50) -> AsyncIterator[TaskNotice]:
        before: str | None = None
        while True:
            reply = await self.request(call("GET", "/notices", params={"limit": page, "before": before}))
            for one in reply["notices"]:
                yield one
            before = reply.get("before")
            if before is None:
                return
