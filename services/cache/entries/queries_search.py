"""The SQL of search over missions' entries."""

from __future__ import annotations

from collections.abc import Sequence

from services.cache.entries.queries import MATCHES, EntryFilter
from shared.database.postgres import Connection
from shared.database.tenancy import look
from shared.search.hot.statements import hot_forms
from shared.search.sql import ANYBODYS, ITEM_COLUMNS, ONLY, UNTIL, Source, search_forms
from shared.search.store import Scope

# The missions' own counters: what expired since the last write or sweep still counts. With a function of a column in
# the join, the policy of the table would keep it from its index; `offset 0` keeps the planner from putting it there.
_SIZES = """(
    select array_agg(coalesce(m.entries, 0)::bigint order by s.place)
    from (
        select substr(scope, 9) as mission_id, place
        from unnest(:scope::text[]) with ordinality u(scope, place) offset 0
    ) s
    left join cache.missions m on m.tenant = :tenant and m.mission_id = s.mission_id
)"""
_ENTRIES = Source(
    items="cache.psychic_cache",
    chunks="cache.searchable_chunks",
    by_words="cache.searchable_words",
    vectors="cache.psychic_vec",
    compared="cache.searchable_vectors",
    columns=f"{ITEM_COLUMNS}, i.context_type as kind, i.agent_name, i.content, i.metadata, i.tags, i.token_count,"
    " i.expires_at, i.mission_id, i.source_turn, i.dispatch_id, i.recalled_from",
    within=f"scope = any(:scope) and expires_at > now() and {ONLY} and {UNTIL}",
    counted="tenant = :tenant and scope = any(:scope)",
    sizes=_SIZES,
)
STATED = _ENTRIES._replace(within="c.expires_at > now()", visible=ANYBODYS)
SEARCH = search_forms(_ENTRIES)
HOT = hot_forms(_ENTRIES)


def missions_scope(tenant: str, scopes: list[str]) -> Scope:
    """`scopes` are missions, each as mission:name."""
    return Scope(tenant, scopes, indexed_as=scopes)


# By the missions' names: no index has the scope of every entry.
IDS_WITH = f"""
select id from cache.psychic_cache
where tenant = $1 and mission_id = any($2) and expires_at > now()
  and ($3::text[] is null or user_id is null or user_id = any($3)) and {MATCHES}
"""


async def ids_with(
    connection: Connection,
    tenant: str,
    missions: Sequence[str],
    wanted: EntryFilter,
    users: Sequence[str] | None,
) -> list[int]:
    rows = await connection.fetch(IDS_WITH, tenant, list(missions), users, *wanted)
    return [row["id"] for row in rows]


MISSION_IDS = """
select mission_id from cache.missions
where tenant = $1 and entries > 0 and ($2::text[] is null or mission_id = any($2))
order by last_write_at desc limit 200
"""


async def mission_ids(connection: Connection, tenant: str, granted: Sequence[str] | None) -> list[str]:
    return [row["mission_id"] for row in await connection.fetch(MISSION_IDS, tenant, granted)]


# The counters still have what expired since the last write or sweep.
SIZE = """
select coalesce(sum(m.entries), 0) - (
    select count(*) from cache.psychic_cache e
    where e.tenant = $1 and e.mission_id = any($2) and e.expires_at <= now())
from cache.missions m where m.tenant = $1 and m.mission_id = any($2)
"""
LIVE = look(SIZE)
