"""Lists: an answer's pages one after the other, and the items in them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Generic, TypeVar

from scrubjay._call import PagedCall
from scrubjay._sending import Awaits, Sends

A = TypeVar("A")
Item = TypeVar("Item")


class Pages(Generic[A, Item]):
    """Iterates over every item of a list. It asks for a page when the items before are used up."""

    def __init__(self, client: Sends, call: PagedCall[A, Item]) -> None:
        self._client = client
        self._call = call

    def page(self) -> A:
        """The first page alone."""
        return self._client.send(self._call)

    def pages(self) -> Iterator[A]:
        """The answers, page by page."""
        call: PagedCall[A, Item] | None = self._call
        while call is not None:
            answer: Any = self._client.send(call)
            yield answer
            call = None if answer.next is None else call.following(answer.next)

    def __iter__(self) -> Iterator[Item]:
        for answer in self.pages():
            yield from answer.data  # type: ignore[attr-defined]


class AsyncPages(Generic[A, Item]):
    """Iterates over every item of a list. It asks for a page when the items before are used up."""

    def __init__(self, client: Awaits, call: PagedCall[A, Item]) -> None:
        self._client = client
        self._call = call

    async def page(self) -> A:
        """The first page alone."""
        return await self._client.send(self._call)

    async def pages(self) -> AsyncIterator[A]:
        """The answers, page by page."""
        call: PagedCall[A, Item] | None = self._call
        while call is not None:
            answer: Any = await self._client.send(call)
            yield answer
            call = None if answer.next is None else call.following(answer.next)

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for answer in self.pages():
            for item in answer.data:  # type: ignore[attr-defined]
                yield item
