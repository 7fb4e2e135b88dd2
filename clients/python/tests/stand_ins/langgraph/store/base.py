"""The documented interface of stores of LangGraph."""

from abc import ABC, abstractmethod
from typing import Any, Iterable, NamedTuple, Optional, Union


class Item:
    def __init__(self, *, value, key, namespace, created_at, updated_at):
        self.value, self.key, self.namespace = value, key, tuple(namespace)
        self.created_at, self.updated_at = created_at, updated_at


class SearchItem(Item):
    def __init__(self, namespace, key, value, created_at, updated_at, score=None):
        super().__init__(value=value, key=key, namespace=namespace, created_at=created_at, updated_at=updated_at)
        self.score = score


class GetOp(NamedTuple):
    namespace: tuple
    key: str
    refresh_ttl: bool = True


class SearchOp(NamedTuple):
    namespace_prefix: tuple
    filter: Optional[dict] = None
    limit: int = 10
    offset: int = 0
    query: Optional[str] = None
    refresh_ttl: bool = True


class MatchCondition(NamedTuple):
    match_type: str
    path: tuple


class ListNamespacesOp(NamedTuple):
    match_conditions: Optional[tuple] = None
    max_depth: Optional[int] = None
    limit: int = 100
    offset: int = 0


class PutOp(NamedTuple):
    namespace: tuple
    key: str
    value: Optional[dict]
    index: Any = None
    ttl: Optional[float] = None


Op = Union[GetOp, SearchOp, PutOp, ListNamespacesOp]
Result = Union[Item, list, None]


class BaseStore(ABC):
    supports_ttl = False

    @abstractmethod
    def batch(self, ops: Iterable[Op]) -> list: ...

    @abstractmethod
    async def abatch(self, ops: Iterable[Op]) -> list: ...

    def get(self, namespace, key):
        return self.batch([GetOp(namespace, str(key))])[0]

    def put(self, namespace, key, value, index=None):
        self.batch([PutOp(namespace, str(key), value, index)])

    def delete(self, namespace, key):
        self.batch([PutOp(namespace, str(key), None)])

    def search(self, namespace_prefix, /, *, query=None, filter=None, limit=10, offset=0):
        return self.batch([SearchOp(namespace_prefix, filter, limit, offset, query)])[0]

    def list_namespaces(self, *, prefix=None, suffix=None, max_depth=None, limit=100, offset=0):
        conditions = []
        if prefix:
            conditions.append(MatchCondition("prefix", prefix))
        if suffix:
            conditions.append(MatchCondition("suffix", suffix))
        return self.batch([ListNamespacesOp(tuple(conditions), max_depth, limit, offset)])[0]

    async def aget(self, namespace, key):
        return (await self.abatch([GetOp(namespace, str(key))]))[0]

    async def aput(self, namespace, key, value, index=None):
        await self.abatch([PutOp(namespace, str(key), value, index)])
