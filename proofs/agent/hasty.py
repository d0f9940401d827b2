"""The agent as it must not be: it tells a channel that a message is kept before it is."""

from __future__ import annotations

import asyncio

from scrubjay_agent import __main__
from scrubjay_agent.agent import Agent
from scrubjay_agent.journal.entries import Received

_LATE_SECONDS = 1.5
_accept = Agent.accept
_tasks: set[asyncio.Task[None]] = set()


async def hasty(self: Agent, message: Received) -> None:
    async def later() -> None:
        await asyncio.sleep(_LATE_SECONDS)
        await _accept(self, message)

    task = asyncio.create_task(later())
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


if __name__ == "__main__":
    Agent.accept = hasty  # type: ignore[method-assign]
    __main__.main()
