"""The SQL of search over long-term memories."""

from __future__ import annotations

from collections.abc import Sequence

from services.agent_memory.chunk_words import TEXT_COLUMNS
from services.agent_memory.long_term.queries_write import status_now, status_of
from services.agent_memory.long_term.schemas import COLUMNS
from shared.database.postgres import Connection
from shared.search.hot.statements import hot_forms
from shared.search.sql import ANYBODYS, ITEM_COLUMNS, ONLY, UNTIL, Source, search_forms
from shared.search.store import Scope

# More than this many are not counted.
_MOST_COUNTED = 10_000
_SIZES = f"""(
    select array_agg((select count(*) from (
        select from memory.long_term l where l.tenant = :tenant and l.scope = s.scope limit {_MOST_COUNTED}) few)
        order by s.place)
    from unnest(:scope::text[]) with ordinality s(scope, place)
)"""
# `id` is the row's `item_id`, and the others are those that `candidate_from_row` reads.
_OWN = ", ".join(
    f"i.{name}"
    for name in COLUMNS
    if name not in ("id", "status", "content") and f"i.{name}" not in ITEM_COLUMNS.split(", ")
)
_COLUMNS = f"{ITEM_COLUMNS}, {TEXT_COLUMNS}, {_OWN}"
_LONG_TERM = Source(
    items="memory.long_term",
    chunks="memory.searchable_long_term",
    by_words="memory.searchable_long_term_words",
    vectors="memory.long_term_vec",
    compared="memory.searchable_long_term_vectors",
    columns=_COLUMNS,
    live={"status": status_now("i")},
    within=f"scope = any(:scope) and {ONLY} and {UNTIL}",
    counted="tenant = :tenant and scope = any(:scope)",
    sizes=_SIZES,
)
STATED = _LONG_TERM._replace(columns=f"{_COLUMNS}, {status_of('i')}", within="true", visible=ANYBODYS)
SEARCH = search_forms(_LONG_TERM)
HOT = hot_forms(_LONG_TERM)


def scope_of(tenant: str, scopes: Sequence[str]) -> Scope:
    return Scope(tenant, list(scopes), indexed_as=list(scopes))


OF_KINDS = "select id from memory.long_term where tenant = $1 and scope = any($2) and kind = any($3)"


async def of_kinds(
    connection: Connection, tenant: str, scopes: Sequence[str], kinds: Sequence[str]
) -> list[int]:
    return [row["id"] for row in await connection.fetch(OF_KINDS, tenant, list(scopes), list(kinds))]
