"""Ends the facts that a file taught and no longer states."""

from __future__ import annotations

from services.agent_memory.consolidation import queries_changes, queries_files
from services.agent_memory.consolidation.changes import Change, touched
from services.agent_memory.consolidation.writing.place import Writing
from services.agent_memory.facts.writes.queries import lock_scopes
from services.agent_memory.facts.writes.recording import close_rows
from services.agent_memory.facts.writes.statements import writer_of
from shared.database.postgres import Connection

UNSAID = "the file no longer says it"


async def end_vanished(c: Connection, writing: Writing, path: str, run_id: int) -> list[Change]:
    """Call it in a transaction, once what the run teaches is written and noted."""
    tenant, place, principal = writing.tenant, writing.place, writing.principal
    now = await lock_scopes(c, tenant, [place.scope])
    rows = await queries_files.vanished(c, tenant, place.scope, place.user_id, path, run_id)
    if not rows:
        return []
    ids = [row["id"] for row in rows]
    before = await queries_changes.of_names(c, tenant, place.scope, [], ids)
    writer = writer_of(principal, place.scope, "derived")
    await close_rows(c, tenant, rows, now, now, writer, principal.key)
    after = await queries_changes.of_names(c, tenant, place.scope, [], ids)
    return [
        Change(kind="fact", action="closed", item_id=id_, trust="document", why=UNSAID, undoing=undoing)
        for id_, undoing in touched(before, after).items()
    ]
