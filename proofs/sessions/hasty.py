"""A cache service that answers before it commits: the control. Run as `python -m proofs.sessions.hasty`."""

from __future__ import annotations

import asyncio
from typing import Any

from services.cache.app import create
from services.cache.settings import Settings
from shared.database.postgres import Connection, Database
from shared.web.serving.start import start

_LATE_SECONDS = 0.1
_committing: set[asyncio.Task[Any]] = set()
_whole = Database.transaction


async def transaction(self: Database, tenant: Any, work: Any, deadline: Any, **options: Any) -> Any:
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def late(connection: Connection) -> Any:
        result = await work(connection)
        done.set_result(result)
        await asyncio.sleep(_LATE_SECONDS)
        return result

    task = asyncio.create_task(_whole(self, tenant, late, deadline, **options))
    _committing.add(task)
    task.add_done_callback(_ended)
    await asyncio.wait({task, done}, return_when=asyncio.FIRST_COMPLETED)
    return done.result() if done.done() else task.result()


def _ended(task: asyncio.Task[Any]) -> None:
    _committing.discard(task)
    if not task.cancelled():
        task.exception()


if __name__ == "__main__":
    Database.transaction = transaction  # type: ignore[method-assign]
    start("cache", Settings.from_env, create)
