"""What a search of a copy asks the database: what changed, and the rows of the chunks that it chose."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any, NamedTuple

import asyncpg
import msgspec
from pgvector import HalfVector

from shared.database.postgres import Connection
from shared.database.tenancy import alone
from shared.search.hot.copies import Snapshot
from shared.search.sql import Source, Statement, filled

_BATCH = 24
# A copy that lacks more chunks is read anew, beside the questions.
MOST_CHANGED = 1_000


class ScopeValues(msgspec.Struct, frozen=True, kw_only=True):
    """Scopes of a store. `scope` is what the store's predicates compare with, `names` how chunks name each scope."""

    tenant: str
    scope: str | list[str]
    names: list[str]
    model: str

    def part(self, name: str) -> ScopeValues:
        """One of the scopes."""
        scope = [name] if isinstance(self.scope, list) else self.scope
        return ScopeValues(tenant=self.tenant, scope=scope, names=[name], model=self.model)


class ChangesValues(ScopeValues, frozen=True, kw_only=True):
    configs: list[str]
    texts: list[str]
    terms: list[str]
    snapshots: list[Snapshot]
    """Of the copies, in the order of `names`."""
    pending: list[int]
    documents: int | None
    """Chunks in the scopes; None: the statement counts them."""
    items: list[int] = []
    """With `numbers` and `versions`, the chunks that the caller chose before it knew what changed, as it has them."""
    numbers: list[int] = []
    versions: list[str | None] = []
    only: list[int] | None = None
    until: int | None = None
    users: list[str] | None = None
    missions: list[str] | None = None
    reader: str | None = None
    most: int = MOST_CHANGED + 1


class NearestValues(msgspec.Struct, frozen=True, kw_only=True):
    tenant: str
    model: str
    vector: HalfVector | None
    items: list[int]
    numbers: list[int]


class ChosenValues(msgspec.Struct, frozen=True, kw_only=True):
    tenant: str
    scope: str | list[str]
    items: list[int]
    numbers: list[int]
    versions: list[str | None] = []
    """Those that the caller has of the chunks' rows; None, or too few: it has none."""
    only: list[int] | None = None
    until: int | None = None
    users: list[str] | None = None
    missions: list[str] | None = None
    reader: str | None = None


class HotForms(NamedTuple):
    """The statements of a store whose scopes may be copied.

    All but `copied`, which reads in batches, name their tenant themselves: a search needs no transaction around them.
    """

    changes: Statement
    copied: Statement
    remaining: Statement
    nearest: Statement
    chosen: Statement
    live: Collection[str]
    """Columns that `chosen` answers of each row, whether the caller has the row or not."""


def hot_forms(source: Source) -> HotForms:
    of_any_length = source._replace(
        **{
            name: getattr(source, name).replace("(:scope)", "((select :scope::text[])::text[])")
            for name in ("counted", "within")
        }
    )
    return HotForms(
        changes=_alone(filled("changes", of_any_length, ChangesValues)),
        copied=filled("copied", source, ScopeValues),
        remaining=_alone(filled("remaining", source, ScopeValues)),
        nearest=_alone(filled("nearest", source, NearestValues)),
        chosen=_alone(filled("chosen", source, ChosenValues)),
        live=[*source.live],
    )


def _alone(statement: Statement) -> Statement:
    assert statement.parameters[0] == "tenant", statement
    return statement._replace(sql=alone(statement.sql))


# Taken before a copy is read. What is committed in between is read again.
SNAPSHOT = "select pg_current_snapshot() as snapshot, pg_postmaster_start_time() as server"


async def snapshot(connection: Connection) -> asyncpg.Record:
    row = await connection.fetchrow(SNAPSHOT)
    assert row is not None
    return row


async def copied(
    connection: Connection, forms: HotForms, values: ScopeValues
) -> AsyncIterator[Sequence[asyncpg.Record]]:
    """The scopes' chunks, in batches that take few milliseconds each. The connection is in a transaction."""
    statement = forms.copied
    # Without a name: a name of its own would stay with a server that several connections share.
    unnamed = await connection.prepare(statement.sql, name="")
    cursor = await unnamed.cursor(*_arguments(statement, values))
    while rows := await cursor.fetch(_BATCH):
        yield rows


async def changes(connection: Connection, forms: HotForms, values: ChangesValues) -> list[asyncpg.Record]:
    statement = forms.changes
    rows: list[asyncpg.Record] = await connection.fetch(statement.sql, *_arguments(statement, values))
    return rows


async def remaining(connection: Connection, forms: HotForms, values: ScopeValues) -> list[int]:
    statement = forms.remaining
    keys: list[int] = await connection.fetchval(statement.sql, *_arguments(statement, values))
    return keys


async def nearest(connection: Connection, forms: HotForms, values: NearestValues) -> dict[int, float]:
    """Cosines by the chunks' keys. Of no chunks, nothing is asked."""
    if not values.items:
        return {}
    statement = forms.nearest
    rows = await connection.fetch(statement.sql, *_arguments(statement, values))
    return {row["key"]: row["cosine"] for row in rows}


async def chosen(connection: Connection, forms: HotForms, values: ChosenValues) -> Sequence[asyncpg.Record]:
    """The rows of the chunks. Of no chunks, nothing is asked: the only agent of a tenant has no peers."""
    if not values.items:
        return []
    statement = forms.chosen
    rows: list[asyncpg.Record] = await connection.fetch(statement.sql, *_arguments(statement, values))
    return rows


def _arguments(statement: Statement, values: msgspec.Struct) -> list[Any]:
    return [getattr(values, name) for name in statement.parameters]
