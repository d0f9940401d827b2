"""What each package of a service erases in a purge, and how the service runs all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from shared.database.postgres import Connection

EraseUser: TypeAlias = Callable[[Connection, str, str], Awaitable[dict[str, int]]]
"""Takes a tenant and a user; answers the rows erased by table."""


@dataclass(frozen=True)
class Erasure:
    """`scope` maps a table to the statement that erases a scope ($2) of a tenant ($1) and counts the rows."""

    scope: Mapping[str, str] = field(default_factory=dict)
    user: EraseUser | None = None


async def erase_scope(c: Connection, rooms: Sequence[Erasure], tenant: str, scope: str) -> Counter[str]:
    """Rows by table. Call it in a transaction."""
    erased: Counter[str] = Counter()
    for room in rooms:
        for table, statement in room.scope.items():
            erased[table] += await c.fetchval(statement, tenant, scope)
    return erased


async def erase_user(c: Connection, rooms: Sequence[Erasure], tenant: str, user_id: str) -> Counter[str]:
    """Rows by table. Call it in a transaction."""
    erased: Counter[str] = Counter()
    for room in rooms:
        if room.user is not None:
            erased.update(await room.user(c, tenant, user_id))
    return erased
