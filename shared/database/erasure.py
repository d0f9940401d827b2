"""What each package of a service erases in a purge, how the service runs all of it, and what comes too late."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from shared.database.postgres import Connection

ERASED = "(erased)"
"""Stands where a purge took a name out. No tenant may have it."""
ROWS_AT_ONCE = 2_000
"""Of each table, in one transaction of a tenant's purge."""
SLACK_SECONDS = 0.1
"""How long a statement may be on its way to the database. A purge takes at least as long."""


def seconds_since(began: float) -> float:
    """For `timeline.was_erased`: the age of what began at this time of the performance counter, or a little more."""
    return time.perf_counter() - began + SLACK_SECONDS


EraseNamed: TypeAlias = Callable[[Connection, str, str], Awaitable[dict[str, int]]]
"""Takes a tenant, and a user or an agent; answers the rows erased by table."""


@dataclass(frozen=True)
class Erasure:
    """`scope` maps a table to the statement that erases a scope ($2) of a tenant ($1) and counts the rows.

    The statements of `names` take the name of the scope out of rows that stay. `user` erases what is about a user, and
    `agent` what an agent wrote, in every scope.
    """

    scope: Mapping[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()
    user: EraseNamed | None = None
    agent: EraseNamed | None = None


async def erase_scope(c: Connection, rooms: Sequence[Erasure], tenant: str, scope: str) -> Counter[str]:
    """Rows by table. Call it in a transaction."""
    erased: Counter[str] = Counter()
    for room in rooms:
        for table, statement in room.scope.items():
            erased[table] += await c.fetchval(statement, tenant, scope)
        for statement in room.names:
            await c.execute(statement, tenant, scope)
    return erased


async def erase_user(c: Connection, rooms: Sequence[Erasure], tenant: str, user_id: str) -> Counter[str]:
    """Rows by table. Call it in a transaction."""
    erased: Counter[str] = Counter()
    for room in rooms:
        if room.user is not None:
            erased.update(await room.user(c, tenant, user_id))
    return erased


async def erase_agent(c: Connection, rooms: Sequence[Erasure], tenant: str, agent_name: str) -> Counter[str]:
    """Rows by table. Call it in a transaction."""
    erased: Counter[str] = Counter()
    for room in rooms:
        if room.agent is not None:
            erased.update(await room.agent(c, tenant, agent_name))
    return erased
