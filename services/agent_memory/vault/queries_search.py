"""The SQL of search over the vault's files."""

from __future__ import annotations

from collections.abc import Sequence

from services.agent_memory.vault.content import EVERY_FOLDER
from shared.database.postgres import Connection
from shared.search.hot.statements import hot_forms
from shared.search.sql import ANYBODYS, ONLY, UNTIL, Source, search_forms
from shared.search.store import Scope

_COLUMNS = (
    "i.scope, i.created_at, i.occurred_at, null::text as session_id, null::bigint as seq, null::text as speaker,"
    " i.user_id, i.source_kind, null::text as source_claim, null::bigint as superseded_by, array[i.path] as paths,"
    " '{}'::text[] as symbols, 'file' as kind, i.agent_name, i.path, i.title, c.body, c.first_line, c.last_line"
)
# More than this many are not counted.
_MOST_COUNTED = 10_000
_SIZES = f"""(
    select array_agg((select count(*) from (
        select from memory.files f where f.tenant = :tenant and f.scope = s.scope limit {_MOST_COUNTED}) few)
        order by s.place)
    from unnest(:scope::text[]) with ordinality s(scope, place)
)"""
_FILES = Source(
    items="memory.files",
    chunks="memory.searchable_file_chunks",
    by_words="memory.searchable_file_words",
    vectors="memory.file_vec",
    compared="memory.searchable_file_vectors",
    columns=_COLUMNS,
    within=f"scope = any(:scope) and {ONLY} and {UNTIL}",
    counted="tenant = :tenant and scope = any(:scope)",
    sizes=_SIZES,
)
# A part that changes is another row, so that none of several chunks is known by its whole text.
STATED = _FILES._replace(text="null::text", within="true", visible=ANYBODYS)
SEARCH = search_forms(_FILES)
HOT = hot_forms(_FILES)
# All folders but those that are named, which are none.
SEARCH_ALL = search_forms(
    _FILES._replace(
        within=f"scope <> all(:scope) and {ONLY} and {UNTIL}",
        counted="tenant = :tenant and scope <> all(:scope)",
        sizes="null::bigint[]",
    )
)


def folders_scope(tenant: str, scopes: list[str]) -> Scope:
    return Scope(tenant, scopes, indexed_as=scopes)


def every_folder(tenant: str) -> Scope:
    return Scope(tenant, [], indexed_as=[EVERY_FOLDER])


IDS_BELOW = """
select id from memory.files
where tenant = $1 and starts_with(path, $2) and ($3::text[] is null or scope = any($3))
"""


async def ids_below(
    connection: Connection, tenant: str, prefix: str, scopes: Sequence[str] | None
) -> list[int]:
    """The parts of the files whose path begins so."""
    rows = await connection.fetch(IDS_BELOW, tenant, prefix, scopes)
    return [row["id"] for row in rows]
