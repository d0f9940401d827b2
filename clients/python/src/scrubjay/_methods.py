"""Calls as methods: one description of a call serves the client that waits and the one that awaits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, TypeVar

from scrubjay._call import Call, PagedCall
from scrubjay._pages import AsyncPages, Pages
from scrubjay._sending import Awaits, Sends

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
Item = TypeVar("Item")


class Group:
    """Calls of one area."""

    def __init__(self, client: Sends) -> None:
        self._client = client

    def send(self, call: Call[T]) -> T:
        return self._client.send(call)


class AsyncGroup:
    """Calls of one area."""

    def __init__(self, client: Awaits) -> None:
        self._client = client

    async def send(self, call: Call[T]) -> T:
        return await self._client.send(call)


class Method(Generic[P, T]):
    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __get__(self, client: Sends, _: type) -> Callable[P, T]:
        @functools.wraps(self._make)
        def method(*args: P.args, **kwargs: P.kwargs) -> T:
            return client.send(self._make(*args, **kwargs))

        return method


class AsyncMethod(Generic[P, T]):
    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __get__(self, client: Awaits, _: type) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(self._make)
        async def method(*args: P.args, **kwargs: P.kwargs) -> T:
            return await client.send(self._make(*args, **kwargs))

        return method


class Listing(Generic[P, A, Item]):
    def __init__(self, make: Callable[P, PagedCall[A, Item]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __get__(self, client: Sends, _: type) -> Callable[P, Pages[A, Item]]:
        @functools.wraps(self._make)
        def method(*args: P.args, **kwargs: P.kwargs) -> Pages[A, Item]:
            return Pages(client, self._make(*args, **kwargs))

        return method


class AsyncListing(Generic[P, A, Item]):
    def __init__(self, make: Callable[P, PagedCall[A, Item]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __get__(self, client: Awaits, _: type) -> Callable[P, AsyncPages[A, Item]]:
        @functools.wraps(self._make)
        def method(*args: P.args, **kwargs: P.kwargs) -> AsyncPages[A, Item]:
            return AsyncPages(client, self._make(*args, **kwargs))

        return method
