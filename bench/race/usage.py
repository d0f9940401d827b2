"""What each system takes: processor time, memory, disk; and whether its background work is done."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import asyncpg

from local.process import descendants

_TICK = os.sysconf("SC_CLK_TCK")
_QUEUES = "select exists (select from cache.index_queue) or exists (select from memory.index_queue)"


def processor_seconds(processes: Iterable[int]) -> float:
    """User and system time of the processes and their descendants so far."""
    return sum(_seconds(pid) for process in processes for pid in {process, *descendants(process)})


def _seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICK


def own_megabytes(processes: Iterable[int]) -> float:
    """Memory that is shared counts for each process by its part (PSS)."""
    kilobytes = 0
    for process in processes:
        for pid in {process, *descendants(process)}:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            kilobytes += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return round(kilobytes / 1024, 1)


def ask(dsn: str, statement: str) -> Any:
    async def fetch() -> Any:
        connection = await asyncpg.connect(dsn)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    return asyncio.run(fetch())


def database_bytes(dsn: str) -> int:
    ask(dsn, "vacuum analyze")
    ask(dsn, "checkpoint")
    return int(ask(dsn, "select pg_database_size(current_database())"))


def await_indexed(dsn: str, seconds: float = 600) -> None:
    """Until Scrubjay has stored every vector."""

    async def wait() -> None:
        connection = await asyncpg.connect(dsn)
        async with asyncio.timeout(seconds):
            while await connection.fetchval(_QUEUES):
                await asyncio.sleep(0.02)
        await connection.close()

    asyncio.run(wait())
