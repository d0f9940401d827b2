"""The SQL of facts that are from files. Callers hold the locks of the scopes."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import msgspec

from services.agent_memory.facts.writes.queries import CURRENT_OF_FACT
from services.agent_memory.facts.writes.statements import Place
from shared.database.postgres import Connection

OPEN_FACTS = f"""
select {CURRENT_OF_FACT}, f.line, f.piece
from jsonb_to_recordset($2) as s(scope text, source text)
join memory.facts f on f.scope = s.scope and f.source = s.source
where f.tenant = $1 and f.superseded_at is null and f.valid_to is null
order by f.id
"""


async def open_facts(connection: Connection, tenant: str, places: Sequence[Place]) -> list[asyncpg.Record]:
    rows = [{"scope": place.scope, "source": place.source} for place in places]
    found: list[asyncpg.Record] = await connection.fetch(OPEN_FACTS, tenant, rows)
    return found


class Move(msgspec.Struct, frozen=True):
    """Where a file states a fact now."""

    id: int
    line: int | None
    piece: int | None


MOVE = """
update memory.facts f set line = m.line, piece = m.piece
from jsonb_to_recordset($2) as m(id bigint, line integer, piece smallint)
where f.tenant = $1 and f.id = m.id
"""


async def move(connection: Connection, tenant: str, moves: Sequence[Move]) -> None:
    await connection.execute(MOVE, tenant, moves)
