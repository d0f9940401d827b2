"""One client behind two ways of calling: frameworks wait or await, and a client does one of both."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias, TypeVar

from scrubjay._call import Call, PagedCall
from scrubjay.client import Agent, AsyncAgent, AsyncClient, Client

T = TypeVar("T")
AnyClient: TypeAlias = Client | Agent | AsyncClient | AsyncAgent


class Sender:
    def __init__(self, client: AnyClient) -> None:
        self._client = client

    def send(self, call: Call[T]) -> T:
        """Raises TypeError for a client that only awaits."""
        if isinstance(self._client, AsyncClient | AsyncAgent):
            raise TypeError("this client only awaits: give the adapter a Client, or await its methods")
        return self._client.send(call)

    async def asend(self, call: Call[T]) -> T:
        """A client that waits does so in a thread."""
        if isinstance(self._client, AsyncClient | AsyncAgent):
            return await self._client.send(call)
        return await asyncio.to_thread(self._client.send, call)

    def next_page(self, call: PagedCall[Any, Any], page: Any) -> PagedCall[Any, Any] | None:
        return None if page.next is None else call.following(page.next)
