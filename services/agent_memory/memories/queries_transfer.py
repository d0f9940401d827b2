"""The SQL of export and import."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import msgspec

from services.agent_memory.memories.queries import COUNTED, VISIBLE, bounds
from services.agent_memory.memories.schemas import Confirmation, TaskContext
from services.agent_memory.memories.schemas_transfer import ExportedMemory
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import utc

# The most content in a page, so that its lines still fit into one import.
_PAGE_BYTES = 700_000
# A count that somebody claims must not drown the counts of this installation.
MOST_COUNTED = 10_000
_NESTED = ("confirmations", "task_context")
_OF_LINE = [field for field in ExportedMemory.__struct_fields__ if field not in _NESTED]
# A line tells the original source of what was imported.
_SOURCE = "case source_kind when 'imported' then coalesce(source_claim, source_kind) else source_kind end"
_SELECTED = {"access_count": COUNTED.format(row="page"), "source_kind": f"{_SOURCE} as source_kind"}
_FIELDS = ", ".join(_SELECTED.get(field, field) for field in [*_OF_LINE, *TaskContext.__struct_fields__])
_MEASURED = (
    "*, sum(octet_length(content)) over (order by id) as bytes, row_number() over (order by id) as place"
)
_FITTING = f"where place = 1 or bytes <= {_PAGE_BYTES} order by id"
PAGE_OF_AGENT = f"""
select {_FIELDS} from (
    select {_MEASURED} from (
        select * from memory.agent_memory
        where tenant = $1 and agent_name = $2 and id > $3
          and {VISIBLE.format(users="$5", missions="$6", agent="$7")}
        order by id limit $4
    ) page
) page {_FITTING}
"""
PAGE_OF_TENANT = f"""
select {_FIELDS} from (
    select {_MEASURED} from (
        select * from memory.agent_memory
        where tenant = $1 and $2::text is null and id > $3
          and {VISIBLE.format(users="$5", missions="$6", agent="$7")}
        order by id limit $4
    ) page
) page {_FITTING}
"""


async def page(
    c: Connection, principal: Principal, agent_name: str | None, after: int, limit: int
) -> list[asyncpg.Record]:
    statement = PAGE_OF_TENANT if agent_name is None else PAGE_OF_AGENT
    rows: list[asyncpg.Record] = await c.fetch(
        statement, principal.tenant, agent_name, after, limit, *bounds(principal)
    )
    return rows


# Confirmations of other missions than $3 stay hidden.
CONFIRMATIONS = """
select memory_id, written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id, count,
       first_at, last_at
from memory.confirmations
where tenant = $1 and memory_id = any($2)
  and ($3::text[] is null or mission_namespace is null or mission_namespace = any($3))
order by memory_id, first_at, written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id
"""


async def confirmations(
    c: Connection, principal: Principal, ids: Sequence[int]
) -> dict[int, list[Confirmation]]:
    """Confirmations by memory, oldest first."""
    by_memory: dict[int, list[Confirmation]] = {}
    for row in await c.fetch(CONFIRMATIONS, principal.tenant, list(ids), principal.seen_missions()):
        columns = dict(row)
        by_memory.setdefault(columns.pop("memory_id"), []).append(Confirmation(**columns))
    return by_memory


IDS_OF_FACTS = """
select m.agent_name, m.content_hash, m.id from memory.agent_memory m
join unnest($2::text[], $3::bytea[]) l(agent_name, content_hash)
    on m.agent_name = l.agent_name and m.content_hash = l.content_hash
where m.tenant = $1
"""


async def ids_of_facts(
    c: Connection, tenant: str, agents: Sequence[str], hashes: Sequence[bytes]
) -> dict[tuple[str, bytes], int]:
    rows = await c.fetch(IDS_OF_FACTS, tenant, list(agents), list(hashes))
    return {(row["agent_name"], row["content_hash"]): row["id"] for row in rows}


TAKEN_IDS = "select id from memory.agent_memory where tenant = $1 and id = any($2)"


async def taken_ids(c: Connection, tenant: str, ids: Sequence[int]) -> set[int]:
    return {row["id"] for row in await c.fetch(TAKEN_IDS, tenant, list(ids))}


# All tenants draw from one sequence, so an import never moves it: an id beyond this would be drawn again.
HIGHEST_DRAWN = "select case when is_called then last_value else 0 end from memory.agent_memory_id_seq"


async def highest_drawn(c: Connection) -> int:
    return int(await c.fetchval(HIGHEST_DRAWN))


DRAW = "select nextval('memory.agent_memory_id_seq') as id from generate_series(1, $1)"


async def draw(c: Connection, count: int) -> list[int]:
    return [row["id"] for row in await c.fetch(DRAW, count)]


# $3 holds Confirmations.
CONFIRM_AGAIN = """
insert into memory.confirmations (tenant, memory_id, written_by, source_kind, mission_namespace, dispatch_id,
    recalled_from, absorbed_id, count, first_at, last_at)
select $1, $2, written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id, count,
       first_at, last_at
from jsonb_populate_recordset(null::memory.confirmations, $3)
on conflict on constraint confirmations_origin do nothing
"""


async def confirm_again(
    c: Connection, tenant: str, memory_id: int, confirmations: Sequence[Confirmation]
) -> None:
    dated = [
        msgspec.structs.replace(
            confirmation,
            count=max(0, min(confirmation.count, MOST_COUNTED)),
            first_at=utc(confirmation.first_at, "first_at"),
            last_at=utc(confirmation.last_at, "last_at"),
        )
        for confirmation in confirmations
    ]
    await c.execute(CONFIRM_AGAIN, tenant, memory_id, dated)
