"""Gives entities other names that were learned. What a trusted source stated under one is left as it is."""

from __future__ import annotations

from services.agent_memory.consolidation import queries_changes
from services.agent_memory.consolidation.changes import MERGED, Change, Renamed, touched
from services.agent_memory.consolidation.learned import LearnedAlias
from services.agent_memory.consolidation.writing.place import Writing, change
from services.agent_memory.facts.names import entity_key
from services.agent_memory.facts.schemas_reading import AliasInput
from services.agent_memory.facts.writes.merging import merge
from shared.database.postgres import Connection
from shared.errors import Conflict, Forbidden

_MOST_NAME = 300
UNFIT = "a name is empty, too long, or the entity's own"
OF_MANY = "the names of this scope are about any user, and the key is bound to some"


async def name(c: Connection, writing: Writing, alias: LearnedAlias) -> list[Change]:
    """Call it in a transaction."""
    if (why := _refusal(writing, alias)) is not None:
        return [change("alias", "skipped", alias, why=why)]
    tenant, scope = writing.tenant, writing.place.scope
    names = [entity_key(alias.alias), entity_key(alias.entity)]
    before = await queries_changes.of_names(c, tenant, scope, names)
    redirected = await queries_changes.led_to(c, tenant, scope, names[0])
    request = AliasInput(
        alias=alias.alias,
        entity=alias.entity,
        scope=scope,
        agent_name=writing.source.agent_name,
        source_kind="derived",
    )
    try:
        done = await merge(c, writing.principal, scope, request)
    except (Conflict, Forbidden) as refused:
        return [change("alias", "skipped", alias, why=refused.detail)]
    if done.status == "known":
        return [change("alias", "confirmed", alias)]
    after = await queries_changes.of_names(c, tenant, scope, names, [row.id for row in before])
    renamed = Renamed(alias_key=names[0], alias=alias.alias, redirected=redirected)
    opened = change("alias", "opened", alias, undoing=renamed)
    folded = touched(before, after)
    return [
        opened,
        *(
            change("fact", "replaced", alias, row_id, why=MERGED, undoing=undoing)
            for row_id, undoing in folded.items()
        ),
    ]


def _refusal(writing: Writing, alias: LearnedAlias) -> str | None:
    keys = entity_key(alias.alias), entity_key(alias.entity)
    if not all(keys) or keys[0] == keys[1] or max(len(alias.alias), len(alias.entity)) > _MOST_NAME:
        return UNFIT
    if not writing.place.scope.startswith("user:") and writing.principal.users is not None:
        return OF_MANY
    return None
