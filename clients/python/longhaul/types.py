"""Shapes of the API's JSON; /openapi.json describes every field."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Format = Literal["longhaul", "anthropic", "openai-chat", "openai-responses"]
AnyFormat = Literal["longhaul", "anthropic", "openai-chat", "openai-responses", "ai-sdk"]


class _MessageInputBase(TypedDict):
    role: Literal["system", "user", "assistant", "tool"]


class MessageInput(_MessageInputBase, total=False):
    """A message to append; `text` is short for one text part."""

    text: str
    parts: list[dict[str, Any]]
    model: str
    meta: dict[str, Any]


class _EntryBase(TypedDict):
    id: str
    session: str
    seq: int
    at: int
    kind: str


class Entry(_EntryBase, total=False):
    """One immutable record of a conversation's log; other fields depend on `kind`."""

    message: dict[str, Any]
    text: str
    usage: dict[str, Any]
    receipt: dict[str, Any]


class UsageTotals(TypedDict):
    requests: int
    inputTokens: float
    outputTokens: float
    cacheReadTokens: float
    cacheWriteTokens: float
    cacheWriteHourTokens: float
    reasoningTokens: float
    cost: float
    unpricedRequests: int


class _SessionBase(TypedDict):
    id: str
    kind: str
    createdAt: int
    entries: int
    isWriting: bool
    usage: UsageTotals


class Session(_SessionBase, total=False):
    """One conversation."""

    title: str
    agent: str
    project: str
    parent: str
    relation: Literal["child", "fork"]
    lastEntryAt: int
    model: str
    meta: dict[str, Any]


class Window(TypedDict, total=False):
    """The window of the next call."""

    session: str
    model: str | None
    policy: str
    tokens: float
    messages: int
    parts: dict[str, float]
    limits: dict[str, float]
    cache: str
    pins: list[dict[str, Any]]
    memories: list[dict[str, Any]]
    plan: dict[str, Any] | None
    slots: list[dict[str, Any]]


class FittedMessages(TypedDict, total=False):
    """Messages within a model's window."""

    session: str
    model: str
    format: str
    messages: list[Any]
    system: Any
    memories: str
    tokens: float
    limits: dict[str, float]
    maxOutputTokens: int
    plan: dict[str, Any] | None
    receipt: dict[str, Any]


class Hit(TypedDict, total=False):
    """A result of a recall. Its text is data, never an instruction."""

    kind: Literal["session", "file"]
    text: str
    at: int
    score: float
    session: str
    entry: str
    seq: int
    path: str
    details: dict[str, Any]


class Recall(TypedDict, total=False):
    question: str
    hits: list[Hit]
    certainty: float
    isSure: bool
    unindexed: int
    isEmpty: bool


class Memory(TypedDict, total=False):
    """A fact that an agent was told to remember."""

    id: str
    at: int
    text: str
    by: Literal["user", "agent", "quoted"]
    trust: Literal["user", "agent", "quoted", "rejected"]
    source: str
    isPinned: bool


class TaskWorker(TypedDict):
    """The process that runs a task, or ran it last."""

    host: str
    pid: int


class Task(TypedDict, total=False):
    id: str
    session: str
    agent: str
    title: str
    state: str
    mode: str
    queue: str
    person: str
    worker: TaskWorker
    isOwned: bool
    createdAt: int
    outcome: dict[str, Any]


class Usage(TypedDict, total=False):
    by: str
    rows: list[dict[str, Any]]
    total: UsageTotals
    cacheShare: float | None
    sessions: int
    savings: dict[str, Any] | None


ConnectionWay = Literal["gateway", "mcp"]
MemoryDecision = Literal["accepted", "rejected"]
SourceKind = Literal["session", "file"]
PressureLevel = Literal["normal", "warning", "critical"]


class _AgentLinkBase(TypedDict):
    state: Literal["connected", "other", "absent", "manual", "unsupported", "refused"]


class AgentLink(_AgentLinkBase, total=False):
    """One way of connecting an agent."""

    path: str
    note: str


class Agent(TypedDict):
    """An agent that longhaul can connect."""

    name: str
    title: str
    isFound: bool
    gateway: AgentLink
    mcp: AgentLink


class DiffLine(TypedDict):
    mark: Literal[" ", "+", "-", "@"]
    text: str


class ConfigFileChange(TypedDict):
    path: str
    isNew: bool
    isRemoved: bool
    diff: list[DiffLine]


class _AgentChangeBase(TypedDict):
    agent: str
    title: str
    way: ConnectionWay
    files: list[ConfigFileChange]
    notes: list[str]
    isApplied: bool
    confirm: str


class AgentChange(_AgentChangeBase, total=False):
    """A change of an agent's files; `obstacle` says why there is none."""

    obstacle: str


class MemoryAgent(TypedDict):
    agent: str
    unreviewed: int


class _JobBase(TypedDict):
    id: str
    type: Literal["replay", "import", "index"]
    state: Literal["running", "done", "stopped", "failed"]
    startedAt: int


# `import` is a keyword of Python.
_JobImport = TypedDict("_JobImport", {"import": dict[str, Any]}, total=False)


class Job(_JobBase, _JobImport, total=False):
    """Work that outlives its request; the field named like its type has its progress."""

    endedAt: int
    replay: dict[str, Any]
    index: dict[str, float]
    error: dict[str, str]


class Index(TypedDict):
    """The size of the index, and the work that it lacks."""

    sources: int
    chunks: int
    entries: int
    unindexed: int
    unembedded: int
    hasVectors: bool
    job: Job | None


class _IndexSourceBase(TypedDict):
    kind: SourceKind
    name: str
    cursor: int
    chunks: int
    number: int


class IndexSource(_IndexSourceBase, total=False):
    """A conversation or a file in the index."""

    root: str
    sizeBytes: float
    modifiedMs: float


class FreedCache(TypedDict):
    name: str
    freedBytes: float


class _ReliefBase(TypedDict):
    at: int
    cacheBytesBefore: float
    cacheBytesAfter: float
    caches: list[FreedCache]
    journalBytes: float
    heapBytesBefore: float
    heapBytesAfter: float
    cacheShare: float


class Relief(_ReliefBase, total=False):
    """Caches dropped, and the memory that this freed."""

    heapSnapshot: str


class _MonitorNoteBase(TypedDict):
    at: int
    type: Literal["warning", "critical", "normal", "growth", "relief"]
    text: str


class MonitorNote(_MonitorNoteBase, total=False):
    report: Relief


class MonitorPoint(TypedDict):
    """One sample of the monitor."""

    at: int
    level: PressureLevel
    usedBytes: float
    heapUsedBytes: float
    heapTotalBytes: float
    rssBytes: float
    externalBytes: float
    caches: dict[str, float]
    cacheBytes: float
    eventLoop: dict[str, float]
    disk: dict[str, float]
    files: int
    listeners: int
    childProcesses: int
    growthPerHour: float


class HealthHistory(TypedDict):
    """Memory, event loop and disk over time, oldest first."""

    intervalMs: float
    warningBytes: float
    criticalBytes: float
    heapLimitBytes: float
    points: list[MonitorPoint]
    notes: list[MonitorNote]


class _TaskMoveBase(TypedDict):
    at: int
    to: str


# `from` is a keyword of Python.
_TaskMoveOptional = TypedDict("_TaskMoveOptional", {"event": str, "from": str, "mode": str, "reason": str}, total=False)


class TaskMove(_TaskMoveBase, _TaskMoveOptional):
    """A change of a task's state; the first one is its creation."""


class Worktree(TypedDict):
    path: str
    branch: str
    repository: str


class _TaskNoticeBase(TypedDict):
    id: str
    task: str
    agent: str
    session: str
    state: Literal["completed", "failed", "killed"]
    settledAt: int


class TaskNotice(_TaskNoticeBase, total=False):
    """The message that is sent when a task has ended."""

    title: str
    reason: str
    error: str
    facts: dict[str, Any]


class TaskDetails(Task, total=False):
    """A task with its history and its place."""

    parent: str
    parentSession: str
    canResume: bool
    resumes: int
    settledAt: int
    deadlineAt: int
    input: Any
    isolation: str
    place: Any
    worktree: Worktree
    moves: list[TaskMove]
    spent: dict[str, float]
    notice: TaskNotice


class ErasedCounts(TypedDict):
    """Everything of a person that an erasure removes."""

    sessions: int
    entries: int
    memories: int
    tasks: int
    blobs: int
    tokens: int
    budgets: int


class ErasureCertificate(TypedDict):
    """A record of the erasure of a person, without the erased content; `longhaul forget --verify` checks it."""

    format: str
    version: int
    person: str
    by: str
    startedAt: int
    finishedAt: int
    removed: ErasedCounts
    sessions: list[dict[str, Any]]
    blobs: list[str]
    sharedBlobs: int
    scrubbed: bool
    digest: str


class Erasure(TypedDict):
    """A preview with its `confirm`, or an erasure with its certificate."""

    person: str
    isErased: bool
    counts: ErasedCounts
    confirm: str
    certificate: ErasureCertificate | None
    text: str | None
    fileName: str | None
