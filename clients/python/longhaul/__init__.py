"""Client of the longhaul gateway."""

from .client import AsyncLonghaul, Longhaul
from .errors import LonghaulError
from .headers import session_headers
from .types import Entry, FittedMessages, Hit, Memory, MessageInput, Recall, Session, Task, Usage, Window

__all__ = [
    "AsyncLonghaul",
    "Entry",
    "FittedMessages",
    "Hit",
    "Longhaul",
    "LonghaulError",
    "Memory",
    "MessageInput",
    "Recall",
    "Session",
    "Task",
    "Usage",
    "Window",
    "session_headers",
]
