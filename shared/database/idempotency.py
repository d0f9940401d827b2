"""A write with an Idempotency-Key happens once: its answer is stored with it, and a retry gets the same answer.

The record holds ids, counts and the status, never content.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import asyncpg
import msgspec

from shared.database.postgres import Connection
from shared.errors import Unprocessable

T = TypeVar("T", bound=msgspec.Struct)
P = TypeVar("P", bound=msgspec.Struct)

# The status of a write that is not complete.
_BEGUN = 0


class Key(msgspec.Struct, frozen=True):
    """An Idempotency-Key belongs to the principal that sends it: two principals may use the same value."""

    principal: str
    value: str
    route: str
    body_hash: bytes
    subjects: tuple[str, ...] = ()
    """The scopes of whom the write is about: a purge of one erases the record."""

    def about(
        self,
        agents: Iterable[str | None],
        users: Iterable[str | None] = (),
        missions: Iterable[str | None] = (),
    ) -> Key:
        named = {"agent": agents, "user": users, "mission": missions}
        scopes = {f"{kind}:{name}" for kind, names in named.items() for name in names if name is not None}
        return msgspec.structs.replace(self, subjects=tuple(sorted(scopes)))

    @property
    def stored(self) -> str:
        """The record's key. A value of a header holds no space."""
        return f"{self.principal} {self.value}"


class Records:
    """One owner's table of keyed writes."""

    def __init__(self, schema: str) -> None:
        table = f"{schema}.idempotency"
        # A second request with the same key waits here until the first commits or rolls back. The release before
        # stored values without their principal ($6): such a record answers a repeat of the same request.
        self.claim_sql = f"""
            insert into {table} (tenant, key, route, scope, body_hash, subjects, status, answer)
            select $1, $2, $3, $4, $5, $7, 0, 'null'
            where not exists (
                select from {table}
                where tenant = $1 and key = $6 and route = $3 and body_hash = $5 and status <> 0)
            on conflict (tenant, key) do nothing returning 1"""
        self.find_sql = f"""
            select route, body_hash, status, answer from {table}
            where tenant = $1 and key in ($2, $3) order by key = $2 desc limit 1"""
        self.keep_sql = f"update {table} set status = $3, answer = $4 where tenant = $1 and key = $2"
        self.sweep_sql = f"""
            delete from {table} where (tenant, key) in (
                select tenant, key from {table} where created_at < statement_timestamp() - $1::interval
                order by created_at limit $2)"""

    async def once(
        self,
        connection: Connection,
        tenant: str,
        scope: str,
        key: Key,
        kind: type[T],
        write: Callable[[], Awaitable[T]],
        status: int = 201,
    ) -> T:
        """Runs `write` unless the key was used before. Call it inside the transaction of the write.

        Raises Unprocessable when the key came with another body or on another route.
        """
        if await self._claim(connection, tenant, scope, key):
            answer = await write()
            await self.complete(connection, tenant, key, answer, status)
            return answer
        return msgspec.convert((await self._kept(connection, tenant, key))["answer"], kind, str_keys=True)

    async def begin(
        self, connection: Connection, tenant: str, scope: str, key: Key, kind: type[T], plan: P
    ) -> T | P:
        """The stored answer of a write to several owners, which no single transaction covers; if it is incomplete, the
        plan of the request that began it.

        The caller then writes by that plan and sends each owner a key derived from this one. Raises Unprocessable as
        `once` does.
        """
        if await self._claim(connection, tenant, scope, key):
            await self.complete(connection, tenant, key, plan, _BEGUN)
            return plan
        kept = await self._kept(connection, tenant, key)
        if kept["status"] != _BEGUN:
            return msgspec.convert(kept["answer"], kind, str_keys=True)
        return plan if kept["answer"] is None else msgspec.convert(kept["answer"], type(plan))

    async def renew(self, connection: Connection, tenant: str, scope: str, key: Key) -> None:
        """For a write within `once` that may erase the record itself, as a purge of whom the record names."""
        await self._claim(connection, tenant, scope, key)

    async def complete(
        self, connection: Connection, tenant: str, key: Key, answer: msgspec.Struct, status: int
    ) -> None:
        await connection.execute(self.keep_sql, tenant, key.stored, status, msgspec.to_builtins(answer))

    async def _claim(self, connection: Connection, tenant: str, scope: str, key: Key) -> bool:
        """False when the key was used before."""
        return bool(
            await connection.fetchval(
                self.claim_sql,
                tenant,
                key.stored,
                key.route,
                scope,
                key.body_hash,
                key.value,
                key.subjects,
            )
        )

    async def _kept(self, connection: Connection, tenant: str, key: Key) -> asyncpg.Record:
        kept = await connection.fetchrow(self.find_sql, tenant, key.stored, key.value)
        if kept is None or kept["body_hash"] != key.body_hash or kept["route"] != key.route:
            raise Unprocessable("this Idempotency-Key was used with another request")
        return kept
