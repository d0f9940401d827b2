"""An agent-memory service that commits how far a run is before what it learned: the control of kills."""

from __future__ import annotations

import asyncio
from typing import Any

from services.agent_memory.app import create
from services.agent_memory.consolidation.runs import Lasting, Runs
from services.agent_memory.settings import Settings
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.web.serving.start import start

_LATE_SECONDS = 1.5
_write, _step = Lasting.write, Runs.step


async def write(self: Lasting, c: Connection, model: str) -> list[Any]:
    """Nothing yet."""
    return []


async def step(self: Runs, principal: Any, request: Any, deadline: Deadline) -> Any:
    lasting = await self.learned(principal, request, deadline)
    done = await _step(self, principal, request, deadline)
    await asyncio.sleep(_LATE_SECONDS)
    await self._transactions.run(principal.tenant, lambda c: _write(lasting, c, self._model), Deadline(30))
    return done


if __name__ == "__main__":
    Lasting.write = write  # type: ignore[method-assign]
    Runs.step = step  # type: ignore[method-assign]
    start("agent_memory", Settings.from_env, create)
