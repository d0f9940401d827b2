"""Gives an entity another name, and takes it away again.

Facts under both names become those of one entity. Each keeps the name under which it was stated, so that what was
stated under a name can leave with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from services.agent_memory.facts import queries_aliases
from services.agent_memory.facts.names import entity_key
from services.agent_memory.facts.schemas import Scoped
from services.agent_memory.facts.schemas_reading import (
    AliasInput,
    RemoveAliasInput,
    RemovedAlias,
    WrittenAlias,
)
from services.agent_memory.facts.writes import queries, queries_merging, queries_parting
from services.agent_memory.facts.writes.queries_merging import NewAlias
from services.agent_memory.facts.writes.recording import Beliefs, span_of
from services.agent_memory.facts.writes.spans import Span
from services.agent_memory.facts.writes.statements import scope_of
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Conflict, Forbidden, NotFound
from shared.provenance import TRUSTED, Origin
from shared.review.reviews import About, require_unreviewed
from shared.telemetry import tracing

_TAKEN = "this name belongs to another entity of the scope"
_FIRM = "a source that is not trusted merges and parts nothing that a trusted one stated"
_OTHERS = "this key merges and parts only what its agent stated"
_OF_OTHER_KEYS = "outside of its missions and users, this key merges and parts only what it stated"


class AliasWriter:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    @tracing.memory("update_memory", "agent_memory")
    async def add(
        self, principal: Principal, request: AliasInput, key: Key | None, deadline: Deadline
    ) -> WrittenAlias:
        scope = _scope_of_names(principal, request)

        async def work(c: Connection) -> WrittenAlias:
            await require_unreviewed(c, principal, About(scope, agent_name=request.agent_name))
            answer = await merge(c, principal, scope, request)
            payload = {"status": answer.status, "merged": answer.merged}
            await queries.add_event(
                c, principal.tenant, scope, "kg_alias", payload, agent_name=request.agent_name
            )
            return answer

        about = None if key is None else key.about([request.agent_name])
        return await self._transactions.once(principal, scope, WrittenAlias, work, about, deadline)

    @tracing.memory("update_memory", "agent_memory")
    async def remove(
        self, principal: Principal, request: RemoveAliasInput, key: Key | None, deadline: Deadline
    ) -> RemovedAlias:
        """Raises NotFound for what is no other name in the scope."""
        scope = _scope_of_names(principal, request)

        async def work(c: Connection) -> RemovedAlias:
            moved = await _part(c, principal, scope, request)
            await queries.add_event(
                c,
                principal.tenant,
                scope,
                "kg_remove_alias",
                {"moved": moved},
                agent_name=request.agent_name,
            )
            return RemovedAlias(moved)

        about = None if key is None else key.about([request.agent_name])
        return await self._transactions.once(
            principal, scope, RemovedAlias, work, about, deadline, status=200
        )


def _scope_of_names(principal: Principal, request: Scoped) -> str:
    """Raises Forbidden for names that the key may not change."""
    scope = scope_of(principal, request)
    if not scope.startswith("user:"):
        # The facts of a name are about any user.
        principal.require_every_user()
    return scope


async def _part(c: Connection, principal: Principal, scope: str, request: RemoveAliasInput) -> int:
    """Gives what was stated under the name back to it. Returns how many current facts moved.

    What a merge or a later statement has closed stays closed, and a fact that was stated under both names stays with
    the entity.
    """
    tenant, alias = principal.tenant, entity_key(request.alias)
    await queries.lock_scopes(c, tenant, [scope])
    named = await queries_parting.find(c, tenant, scope, alias)
    if named is None:
        raise NotFound(f"no other name {request.alias!r} in {scope}")
    entity = named["entity_key"]
    written = await queries_parting.written(c, tenant, scope, entity)
    own = [name for name in written if entity_key(name) == alias]
    stated = await queries_parting.stated(c, tenant, scope, entity, own)
    trusted = Origin.of(principal, request.source_kind).kind in TRUSTED
    _require(principal, scope, trusted, [named, *stated])
    return await queries_parting.part(c, tenant, scope, alias, entity, own)


async def merge(c: Connection, principal: Principal, scope: str, request: AliasInput) -> WrittenAlias:
    """Raises Conflict, Forbidden before anything is written."""
    tenant = principal.tenant
    now = await queries.lock_scopes(c, tenant, [scope])
    alias, entity = entity_key(request.alias), entity_key(request.entity)
    known = await queries_aliases.entities(c, tenant, [(scope, alias), (scope, entity)])
    entity = known.get((scope, entity), entity)
    if known.get((scope, alias), alias) == entity:
        return WrittenAlias("known", 0)
    if (scope, alias) in known:
        raise Conflict(_TAKEN)
    origin = Origin.of(principal, request.source_kind)
    _require(principal, scope, origin.kind in TRUSTED, await queries_merging.named(c, tenant, scope, alias))
    # The merge may close what the entity's facts say, and what is stated under the alias from now on changes them.
    _require_own(principal, scope, await queries_merging.named(c, tenant, scope, entity))
    both = await queries_merging.current(c, tenant, scope, [alias, entity])
    await _fold(c, principal, both, now, Renaming(alias, entity))
    new = NewAlias(
        scope=scope,
        alias=request.alias,
        alias_key=alias,
        entity=request.entity,
        entity_key=entity,
        agent_name=request.agent_name,
        written_by=principal.key,
        source_kind=origin.kind,
        source_claim=origin.claim,
    )
    return WrittenAlias("created", await queries_merging.rename(c, tenant, new))


def _require(principal: Principal, scope: str, trusted: bool, rows: Sequence[asyncpg.Record]) -> None:
    """Raises Conflict or Forbidden for a writer that may not move these facts."""
    if not trusted and any(row["source_kind"] in TRUSTED for row in rows):
        raise Conflict(_FIRM)
    _require_own(principal, scope, rows)


def _require_own(principal: Principal, scope: str, rows: Sequence[asyncpg.Record]) -> None:
    """Raises Forbidden for a key that may not close these facts, because others stated them."""
    if principal.agent is not None and any(row["agent_name"] != principal.agent for row in rows):
        raise Forbidden(_OTHERS)
    if principal.changes_only_its_own(scope) and any(row["written_by"] != principal.key for row in rows):
        raise Forbidden(_OF_OTHER_KEYS)


async def _fold(
    c: Connection, principal: Principal, rows: Sequence[asyncpg.Record], now: datetime, renamed: Renaming
) -> None:
    """Where two facts become one, the more trusted and older one keeps its time, and the other what is left of its."""
    beliefs = Beliefs(rows, now)
    firm: defaultdict[Hashable, list[Span]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["source_kind"] not in TRUSTED, row["id"])):
        spans = firm[renamed.fact_of(row)]
        for span in spans:
            beliefs.clear(row, span)
        spans.append(span_of(row))
    await beliefs.record(c, principal.tenant, principal.key)


class Renaming(NamedTuple):
    """The key of an alias, and that of the entity which takes its place."""

    alias: str
    entity: str

    def fact_of(self, row: asyncpg.Record) -> Hashable:
        """What is the same for rows that state the same fact afterwards."""
        subject, value = (
            self.entity if row[name] == self.alias else row[name] for name in ("subject_key", "object_key")
        )
        return row["scope"], row["user_id"], row["source"], subject, row["predicate_key"], value
