"""Client of the longhaul gateway."""

from .client import AsyncLonghaul, Longhaul
from .errors import LonghaulError
from .headers import session_headers
from .types import (
    Agent,
    AgentChange,
    Entry,
    FittedMessages,
    HealthHistory,
    Hit,
    Index,
    IndexSource,
    Job,
    Memory,
    MemoryAgent,
    MessageInput,
    Recall,
    Relief,
    Session,
    Task,
    TaskDetails,
    TaskNotice,
    Usage,
    Window,
)

__all__ = [
    "Agent",
    "AgentChange",
    "AsyncLonghaul",
    "Entry",
    "FittedMessages",
    "HealthHistory",
    "Hit",
    "Index",
    "IndexSource",
    "Job",
    "Longhaul",
    "LonghaulError",
    "Memory",
    "MemoryAgent",
    "MessageInput",
    "Recall",
    "Relief",
    "Session",
    "Task",
    "TaskDetails",
    "TaskNotice",
    "Usage",
    "Window",
    "session_headers",
]
