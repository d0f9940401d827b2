"""Connections whose transactions a replay begins and ends itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeAlias

import asyncpg

from shared.database import postgres

Sql: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
PATIENCE = 30.0


class UnlikeError(Exception):
    """Postgres did otherwise than the model."""


def alike(what: str, model: object, found: object) -> None:
    if model != found:
        raise UnlikeError(f"{what}: {model!r} in the model, {found!r} in Postgres")


@asynccontextmanager
async def connections(dsn: str, count: int) -> AsyncIterator[list[Sql]]:
    async with AsyncExitStack() as stack:
        opened: list[Sql] = []
        for _ in range(count):
            opened.append(await asyncpg.connect(dsn))
            stack.push_async_callback(opened[-1].close)
            await postgres._prepare(opened[-1])
        yield opened


async def wait_until_blocked(observer: Sql, other: Sql) -> None:
    pid, end = other.get_server_pid(), time.monotonic() + PATIENCE
    while not await observer.fetchval("select cardinality(pg_blocking_pids($1)) > 0", pid):
        if time.monotonic() > end:
            raise UnlikeError("a statement waits in the model, and not in Postgres")
        await asyncio.sleep(0.005)
