"""A request of a tenant that wants too much rests between its steps, beside others. The door says for how long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Request(Protocol):
    async def make_way(self) -> None:
        """Rests for what it has worked since it last did."""

    def steps_back(self) -> bool:
        """Whether it is one of those that rest."""

    def skip(self) -> None:
        """What it took since it last rested was not its work."""


REQUEST: ContextVar[Request | None] = ContextVar("request", default=None)
"""What this task works for. None for what no request waits for."""

_HOLDER: ContextVar[Request | None] = ContextVar("holder", default=None)
"""What this task works for while it holds what requests of others may wait for."""


async def make_way() -> None:
    """To be called before a step that takes a processor's time, here or in another process."""
    if (request := REQUEST.get()) is not None:
        await request.make_way()


async def make_way_holding() -> None:
    """As `make_way`, between long steps of one transaction, which keeps its connection and its locks meanwhile."""
    if (request := _HOLDER.get()) is not None:
        await request.make_way()


def steps_back() -> bool:
    """Whether others should have the processors first."""
    request = REQUEST.get()
    return request is not None and request.steps_back()


@contextmanager
def for_all() -> Iterator[None]:
    """While a task does what requests of other tenants wait for, too, it does not rest."""
    before = REQUEST.set(None)
    try:
        yield
    finally:
        REQUEST.reset(before)


@contextmanager
def holding() -> Iterator[None]:
    """While a task holds what others may wait for, it rests only where it calls `make_way_holding`."""
    held = _HOLDER.set(REQUEST.get())
    try:
        with for_all():
            yield
    finally:
        _HOLDER.reset(held)


def worked_elsewhere() -> None:
    """To be called when another service has answered, which lets its requests rest itself."""
    if (request := REQUEST.get()) is not None:
        request.skip()
