"""Sends what is in the outbox: the messages of one address in their order.

A channel that cannot tell whether a message was sent gets it in two steps. First it sends a placeholder and the
journal notes its id; then it changes the placeholder into the text, which may be repeated without harm. A restart
between sending the placeholder and noting its id leaves a placeholder behind, never a second answer. While Scrubjay is
away, only the note is repeated.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Protocol

import msgspec

from scrubjay_agent.journal.entries import Address, Out, Placed, Sent
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.refusals import persistently

_PAUSES = (0.2, 1.0, 5.0, 15.0)
_log = logging.getLogger(__name__)


class NotSentError(Exception):
    """The channel will not take it: the address is gone, or it has blocked the agent."""


class TryAgainError(Exception):
    """The channel cannot take it now."""


class Sender(Protocol):
    async def place(self, address: Address) -> str | None:
        """Sends a placeholder and returns its id. None: this channel needs none."""
        ...

    async def send(self, out: Out) -> None:
        """Sends the text, or changes the placeholder into it. Raises NotSentError or TryAgainError."""
        ...


class Outbox:
    def __init__(self, journal: Journal, senders: Mapping[str, Sender]) -> None:
        self._journal, self._senders = journal, senders
        self._tasks: dict[Address, asyncio.Task[None]] = {}
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake(self) -> None:
        """Sends whatever waits for a channel that runs here. What waits for others stays."""
        for out in self._journal.state.outbox.values():
            task = self._tasks.get(out.address)
            if out.address.channel in self._senders and (task is None or task.done()):
                self._tasks[out.address] = asyncio.create_task(self._all(out.address))

    @property
    def busy(self) -> bool:
        return any(not task.done() for task in self._tasks.values())

    async def failure(self) -> None:
        """Waits for an error that must end the agent, and raises it."""
        await self._failed

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _all(self, address: Address) -> None:
        failures = 0
        while waiting := [out for out in self._journal.state.outbox.values() if out.address == address]:
            try:
                await self._one(waiting[0])
                failures = 0
            except TryAgainError as error:
                _log.warning("cannot send to %s: %s", address.channel, error)
                await asyncio.sleep(_PAUSES[min(failures, len(_PAUSES) - 1)])
                failures += 1
            except Exception as error:
                if not self._failed.done():
                    self._failed.set_exception(error)
                return

    async def _one(self, out: Out) -> None:
        sender = self._senders[str(out.address.channel)]
        try:
            if out.reference is None and (reference := await sender.place(out.address)) is not None:
                await persistently(self._journal.append, Placed(out.key, reference))
                out = msgspec.structs.replace(out, reference=reference)
            await sender.send(out)
        except NotSentError as error:
            _log.warning("%s takes no message: %s", out.address.channel, error)
        await persistently(self._journal.append, Sent(out.key))
