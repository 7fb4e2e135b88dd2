"""The documented interface of sessions of the OpenAI Agents SDK."""

from abc import ABC, abstractmethod


class SessionABC(ABC):
    session_id: str

    @abstractmethod
    async def get_items(self, limit=None): ...

    @abstractmethod
    async def add_items(self, items): ...

    @abstractmethod
    async def pop_item(self): ...

    @abstractmethod
    async def clear_session(self): ...
