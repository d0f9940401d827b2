"""What methods need of a client: one that waits, or one that awaits."""

from __future__ import annotations

from typing import Protocol, TypeVar

from scrubjay._call import Call

T = TypeVar("T")


class Sends(Protocol):
    def send(self, call: Call[T]) -> T: ...


class Awaits(Protocol):
    async def send(self, call: Call[T]) -> T: ...
