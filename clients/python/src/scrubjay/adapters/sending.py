"""One client behind two ways of calling: frameworks wait or await, and a client does one of both."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

from scrubjay._call import Call, PagedCall
from scrubjay.client import Agent, AsyncAgent, AsyncClient, Client
from scrubjay.errors import ApiError

T = TypeVar("T")
AnyClient: TypeAlias = Client | Agent | AsyncClient | AsyncAgent
Steps: TypeAlias = Generator[Sequence[Call[Any]] | float, list[Any], T]
"""Yields calls that may go at once, takes their answers in order, and returns a result: the same for both ways.

None stands for what is not there. A number is a pause in seconds.
"""

_AT_ONCE = 8
_NOT_FOUND = 404


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

    def run(self, steps: Steps[T]) -> T:
        """Raises TypeError as `send` does."""
        answers: list[Any] | None = None
        while True:
            try:
                asked = next(steps) if answers is None else steps.send(answers)
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(asked, float):
                time.sleep(asked)
                answers = []
            elif len(asked) < 2:
                answers = [self._found(call) for call in asked]
            else:
                with ThreadPoolExecutor(min(_AT_ONCE, len(asked))) as threads:
                    answers = list(threads.map(self._found, asked))

    async def arun(self, steps: Steps[T]) -> T:
        room = asyncio.Semaphore(_AT_ONCE)
        answers: list[Any] | None = None
        while True:
            try:
                asked = next(steps) if answers is None else steps.send(answers)
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(asked, float):
                await asyncio.sleep(asked)
                answers = []
            else:
                answers = list(await asyncio.gather(*(self._afound(call, room) for call in asked)))

    def _found(self, call: Call[Any]) -> Any:
        try:
            return self.send(call)
        except ApiError as error:
            return _absent(error)

    async def _afound(self, call: Call[Any], room: asyncio.Semaphore) -> Any:
        try:
            async with room:
                return await self.asend(call)
        except ApiError as error:
            return _absent(error)


def _absent(error: ApiError) -> Any:
    """None for what is not there. Raises the error else."""
    if error.problem.status == _NOT_FOUND:
        return None
    raise error
