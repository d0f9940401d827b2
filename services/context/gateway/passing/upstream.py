"""One request of the several that an answer may take, and what the provider bills for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

from services.context.forwarding.wire import Answer, Wire
from services.context.forwarding.wire import Fields as Sent
from services.context.gateway.passing.usage import Reader

_OK = 300


class Upstream:
    """`close` may be called twice."""

    def __init__(self, answer: Answer, stack: AsyncExitStack, noted: Callable[[Reader], None]) -> None:
        self.status, self.headers = answer.status, answer.headers
        self._answer, self._stack, self._noted = answer, stack, noted

    @classmethod
    async def sent(
        cls, wire: Wire, target: str, fields: Sent, body: bytes, noted: Callable[[Reader], None]
    ) -> Upstream:
        """`noted` gets what was read of a whole answer. Raises CutOff, and ValueError as `Wire.request`."""
        stack = AsyncExitStack()
        answer = await stack.enter_async_context(wire.request("POST", target, fields, body))
        return cls(answer, stack, noted)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Raises CutOff."""
        reader = Reader(self.headers)
        while piece := await self._answer.piece():
            reader.feed(piece)
            yield piece
        if self.status < _OK:
            self._noted(reader)

    async def close(self) -> None:
        await self._stack.aclose()
