"""Undoes a run, row by row: it withdraws what the run opened, and reopens what it closed.

What was believed in the meantime stays readable by its time. What somebody changed after the run stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg
import msgspec

from services.agent_memory.consolidation import queries_changes
from services.agent_memory.consolidation.changes import Renamed, Touched
from services.agent_memory.consolidation.queries_changes import Opened, Reopening
from services.agent_memory.facts.names import entity_key
from services.agent_memory.facts.writes import queries_parting
from services.agent_memory.facts.writes.queries import lock_scopes
from shared.database.postgres import Connection


class Outcome(NamedTuple):
    withdrawn: int
    reopened: int
    kept: int


async def undo(c: Connection, tenant: str, scope: str, run_id: int, by: str) -> Outcome:
    """Call it in a transaction that holds the run."""
    now = await lock_scopes(c, tenant, [scope])
    rows = await queries_changes.to_undo(c, tenant, run_id)
    names = [row for row in rows if row["kind"] == "alias"]
    parted = [await _part(c, tenant, scope, msgspec.convert(row["undoing"], Renamed)) for row in names]
    facts = {row["item_id"] for row in rows if row["kind"] == "fact" and row["action"] == "opened"}
    withdrawn = await queries_changes.withdraw(c, tenant, sorted(facts), now, by)
    wanted = to_reopen([row for row in rows if row["kind"] == "fact"])
    reopened = await queries_changes.reopen(c, tenant, wanted, now)
    memories = [Opened(row["item_id"], row["changed_at"]) for row in rows if row["kind"] in _MEMORIES]
    gone = await queries_changes.forget(c, tenant, memories)
    undone = len(withdrawn) + sum(parted) + len(gone)
    of_run = len(facts) + len(names) + len(memories)
    return Outcome(undone, len(reopened), of_run - undone + len(wanted) - len(reopened))


_MEMORIES = ("episode", "commitment")


def to_reopen(rows: Sequence[asyncpg.Record]) -> list[Reopening]:
    """The run's last change of a row comes first. How the row was before the first one is how it should be."""
    opened = {row["item_id"] for row in rows if row["action"] == "opened"}
    found: dict[int, Reopening] = {}
    for row in rows:
        if row["item_id"] in opened:
            continue
        change = msgspec.convert(row["undoing"], Touched)
        last = found.get(row["item_id"])
        found[row["item_id"]] = (
            Reopening(row["item_id"], change.before, change.after, row["changed_at"])
            if last is None
            else msgspec.structs.replace(last, before=change.before)
        )
    return list(found.values())


async def _part(c: Connection, tenant: str, scope: str, renamed: Renamed) -> bool:
    """Gives what was stated under the alias, and under the names that led to it, back to it."""
    named = await queries_parting.find(c, tenant, scope, renamed.alias_key)
    if named is None:
        return False
    entity = named["entity_key"]
    keys = {renamed.alias_key, *renamed.redirected}
    written = await queries_parting.written(c, tenant, scope, entity)
    own = [name for name in written if entity_key(name) in keys]
    await queries_parting.part(c, tenant, scope, renamed.alias_key, entity, own)
    await queries_changes.redirect_back(
        c, tenant, scope, renamed.redirected, renamed.alias_key, renamed.alias
    )
    return True
