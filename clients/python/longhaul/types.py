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


class Memory(TypedDict, total=False):
    """A fact that an agent was told to remember."""

    id: str
    at: int
    text: str
    by: Literal["user", "agent", "quoted"]
    trust: Literal["user", "agent", "quoted", "rejected"]
    source: str
    isPinned: bool


class Task(TypedDict, total=False):
    id: str
    session: str
    agent: str
    title: str
    state: str
    mode: str
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
