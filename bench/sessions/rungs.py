"""What each hop adds to a read of a session: its statement alone, the service that owns it, and the way through the
door.

The statement runs under the policies of the tables, on a connection of its own that has named the tenant. The three are
asked in turn, each about another session, so that none warms rows up for the next.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

import asyncpg
import msgspec

from bench.cluster import Address, Cache
from bench.wire import Wire
from services.cache.sessions.objects import queries

_READS, _WARM = 300, 20
_STATEMENTS = {"context": queries.BLOCK, "pressure": queries.PRESSURE_NOW}
SQL, OWNER, DOOR = "sql", "owner", "door"

Read: TypeAlias = Callable[[UUID], Awaitable[Any]]


async def measure(address: Address, cache: Cache, tenant: str, ids: Sequence[UUID]) -> dict[str, float]:
    """The medians in milliseconds, and how many times the statement's each is."""
    c = await asyncpg.connect(cache.dsn, server_settings={"scrubjay.tenant": tenant})
    try:
        async with (
            Wire.to(cache.url, cache.identity) as owner,
            Wire.to(address.url, {"authorization": f"Bearer {address.token}"}) as door,
        ):
            figures: dict[str, float] = {}
            for name, query in _STATEMENTS.items():
                reads = {
                    SQL: _statement(c, query.within, tenant),
                    OWNER: _get(owner, name),
                    DOOR: _get(door, name),
                }
                figures |= _report(name, await _medians(reads, ids))
            return figures
    finally:
        await c.close()


def _statement(c: asyncpg.Connection[Any], sql: str, tenant: str) -> Read:
    return lambda id_: c.fetch(sql, tenant, None, None, None, id_, str(id_))


def _get(wire: Wire, name: str) -> Read:
    async def read(id_: UUID) -> Any:
        status, body = await wire.get(f"/api/sessions/{id_}/{name}")
        if status != 200:
            raise RuntimeError(f"{name} answered {status}: {body!r}")
        return msgspec.json.decode(body)

    return read


async def _medians(reads: Mapping[str, Read], ids: Sequence[UUID]) -> dict[str, float]:
    chance = random.Random(7)
    times: dict[str, list[float]] = {name: [] for name in reads}
    for _ in range(_WARM + _READS):
        for name, read in reads.items():
            id_ = chance.choice(ids)
            began = time.perf_counter()
            await read(id_)
            times[name].append(1000 * (time.perf_counter() - began))
    return {name: statistics.median(seconds[_WARM:]) for name, seconds in times.items()}


def _report(name: str, medians: Mapping[str, float]) -> dict[str, float]:
    return {f"{name}_{rung}_ms": round(ms, 2) for rung, ms in medians.items()} | {
        f"{name}_{rung}_over_sql": round(medians[rung] / medians[SQL], 2) for rung in (OWNER, DOOR)
    }
