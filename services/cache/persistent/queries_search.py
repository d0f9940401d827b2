"""The SQL of search over persistent objects."""

from __future__ import annotations

from shared.database.tenancy import look
from shared.search.sql import ANYBODYS, ONLY, UNTIL, Source, search_forms

_COLUMNS = """i.scope, i.user_id, i.object_type, i.agent_name, i.source_kind, i.created_at, i.confidence,
           i.last_reinforced, substr(i.content, c.start + 1, c.stop - c.start) as passage"""
_KEPT = Source(
    items="sessions.persistent_objects",
    key="number",
    chunks="sessions.searchable_persistent",
    by_words="sessions.searchable_persistent",
    vectors="sessions.persistent_vec",
    compared="sessions.searchable_persistent_vectors",
    columns=_COLUMNS,
    within=f"scope = any(:scope) and {ONLY} and {UNTIL}",
    counted="tenant = :tenant and scope = any(:scope)",
)
SEARCH = search_forms(_KEPT)
STATED = _KEPT._replace(within="true", visible=ANYBODYS)

# More than this many are not counted.
_MOST_COUNTED = 10_000
# $2 scopes, each user:name. Not by the column `scope`: an index has users.
HELD = f"""
select s.scope, (select count(*) from (
    select from sessions.persistent_objects p
    where p.tenant = $1 and p.user_id = substr(s.scope, 6) limit {_MOST_COUNTED}) few) as items
from unnest($2::text[]) s(scope)
"""
HOLDINGS = look(HELD)
