"""The SQL of search over memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from services.agent_memory.chunk_words import TEXT_COLUMNS
from shared.database.postgres import Connection
from shared.search.counts import MAX_WORDS, SAMPLED, Common, common_from
from shared.search.hot.statements import hot_forms
from shared.search.sql import ITEM_COLUMNS, ONLY, UNTIL, Source, search_forms
from shared.search.store import Scope

_COLUMNS = (
    f"{ITEM_COLUMNS}, {TEXT_COLUMNS}, i.memory_type as kind, i.agent_name, i.updated_at, i.outcome,"
    " i.confirmed_count, i.confirmed_at, i.task_description, i.skills_used, i.mission_namespace, i.private,"
    " i.written_by, i.language, i.dispatch_id, i.recalled_from"
)
_LIVE = {
    "access_count": "greatest(i.access_count, (select a.access_count from memory.accesses a"
    " where a.tenant = :tenant and a.memory_id = k.item_id))"
}
_MEMORIES = Source(
    items="memory.agent_memory",
    chunks="memory.searchable_chunks",
    by_words="memory.searchable_words",
    vectors="memory.agent_memory_vec",
    compared="memory.searchable_vectors",
    columns=_COLUMNS,
    live=_LIVE,
    within=f"scope = :scope and not private and {ONLY} and {UNTIL}",
    counted="tenant = :tenant and scope = :scope",
    hidden="c.private",
    visible=(
        "(:users::text[] is null or u.user_id is null or u.user_id = any(:users))"
        " and (:missions::text[] is null or u.mission_namespace = any(:missions)"
        " or (u.mission_namespace is null and (not u.private or u.agent_name = :reader)))"
    ),
)
_MOST_ACCESSED = (
    "greatest((select max(m.access_count) from memory.agent_memory m"
    " where m.tenant = :tenant and m.agent_name = substr(:scope, 7) and m.access_count > 0),"
    " (select max(a.access_count) from memory.accesses a"
    " where a.tenant = :tenant and a.agent_name = substr(:scope, 7)))"
)
_OWN = _MEMORIES._replace(
    within=f"scope = :scope and {ONLY} and {UNTIL}",
    hidden="false",
    live={**_LIVE, "most_accessed": _MOST_ACCESSED},
)
# What an agent was given of its own memory and of its peers'. Whose a row is, the caller looks.
STATED = _MEMORIES._replace(within="true")
SEARCH_OWN = search_forms(_OWN)
HOT_OWN = hot_forms(_OWN)
# As SEARCH_OWN, without the peer's private memories.
SEARCH_PEER = search_forms(_MEMORIES)
HOT_PEER = hot_forms(_MEMORIES)
# Everything that all other agents share.
_PEERS = _MEMORIES._replace(
    within=f"scope <> :scope and not private and {UNTIL}",
    counted="tenant = :tenant",
    copied="c.tenant = :tenant",
    indexed="large",
)
SEARCH_PEERS = search_forms(_PEERS)
HOT_PEERS = hot_forms(_PEERS)
# The words of memories that peers may see are indexed under this too, beside their agent's scope.
EVERY_AGENT = "*"


def own_scope(tenant: str, agent: str) -> Scope:
    return Scope(tenant, f"agent:{agent}", indexed_as=[f"agent:{agent}"])


def peers_scope(tenant: str, agent: str) -> Scope:
    """The memories of every agent except `agent`."""
    return Scope(tenant, f"agent:{agent}", indexed_as=[EVERY_AGENT])


class MemoryFilter(NamedTuple):
    """Which memories of an agent a query may find; None narrows nothing."""

    memory_type: str | None
    since: datetime | None
    until: datetime | None

    @property
    def empty(self) -> bool:
        return not any(value is not None for value in self)


IDS_WITH = """
select id from memory.agent_memory
where tenant = $1 and agent_name = $2 and ($3::text is null or memory_type = $3)
  and ($4::timestamptz is null or created_at >= $4) and ($5::timestamptz is null or created_at < $5)
"""


async def ids_with(connection: Connection, tenant: str, agent_name: str, wanted: MemoryFilter) -> list[int]:
    return [row["id"] for row in await connection.fetch(IDS_WITH, tenant, agent_name, *wanted)]


# With a function of a column in the join, the policy of the table would keep it from its index; `offset 0` keeps the
# planner from putting it there.
COUNT_OF_AGENTS = """
select a.scope, count(m.id) as items
from (select scope, substr(scope, 7) as name from unnest($2::text[]) u(scope) offset 0) a
left join memory.agent_memory m on m.tenant = $1 and m.agent_name = a.name and not m.private
group by a.scope
"""


async def count_of_agents(connection: Connection, tenant: str, scopes: Sequence[str]) -> dict[str, int]:
    """How many memories each agent shares. Scopes are agents', each as agent:name."""
    rows = await connection.fetch(COUNT_OF_AGENTS, tenant, list(scopes))
    return {row["scope"]: row["items"] for row in rows}


COUNT_PEERS = "select count(*) from memory.agent_memory_chunks where tenant = $1"


async def count_peers(connection: Connection, scope: Scope) -> int:
    return int(await connection.fetchval(COUNT_PEERS, scope.tenant))


# $2 is the distance between the chunks of the sample, in the order of their ids. The first part reads an index alone.
COMMON_AMONG_PEERS = """
with place as (
    select item_id, chunk, row_number() over (order by item_id, chunk) as number
    from memory.agent_memory_chunks where tenant = $1
), sampled as materialized (
    select c.tsv
    from (select item_id, chunk from place where number % $2::bigint = 0) p
    cross join lateral (
        select tsv, private from memory.agent_memory_chunks k
        where k.tenant = $1 and k.item_id = p.item_id and k.chunk = p.chunk offset 0
    ) c
    where not c.private
)
select word, count(*) * $2::bigint as df
from sampled s cross join lateral unnest(tsvector_to_array(s.tsv)) word
group by word having count(*) * $2::bigint > $3
order by 2 desc, 1 limit $4
"""


async def common_among_peers(connection: Connection, scope: Scope, documents: int) -> Common:
    """The words that many of the tenant's chunks hold, as estimated from some of them. They stand for all agents."""
    distance = max(1, documents // SAMPLED)
    rows = await connection.fetch(
        COMMON_AMONG_PEERS, scope.tenant, distance, common_from(documents), MAX_WORDS
    )
    return Common([row["word"] for row in rows], [row["df"] for row in rows])
