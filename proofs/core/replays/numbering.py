from __future__ import annotations

from collections.abc import Sequence

from asyncpg.exceptions import LockNotAvailableError

from proofs.core.numbering import REPLICAS, WRITERS, State
from proofs.core.replays.connections import Sql, UnlikeError, alike
from services.context.timeline import queries
from services.context.timeline.schemas import Filter
from shared.auth import Principal

_INSERT = """
insert into timeline.events (tenant, scope, kind, payload)
values ($1, 'shared', 'proof', jsonb_build_object('id', $2::int))
"""
_AT_ONCE = 1_000


class Replay:
    """Connections of the writers, of the replicas, and of the reader."""

    connections = WRITERS + REPLICAS + 1

    def __init__(self, sql: Sequence[Sql], tenant: str) -> None:
        self._writers, self._replicas = sql[:WRITERS], sql[WRITERS : WRITERS + REPLICAS]
        self._reader = sql[-1]
        self._tenant = tenant
        self._principal = Principal(tenant=tenant, key="proof", access=frozenset({"read", "admin"}))
        self._cursor = 0
        self._seen: list[int] = []
        self._state = State()

    async def step(self, name: str, after: State) -> None:
        act, _, number = name.partition(" ")
        await getattr(self, f"_{act}")(int(number or 0), after)
        self._state = after

    async def stop(self) -> None:
        for sql in (*self._writers, *self._replicas):
            if sql.is_in_transaction():
                await sql.execute("rollback")

    async def _insert(self, writer: int, after: State) -> None:
        await self._writers[writer].execute("begin")
        await self._writers[writer].execute(_INSERT, self._tenant, after.ids)

    async def _commit(self, writer: int, _: State) -> None:
        await self._writers[writer].execute("commit")

    async def _roll(self, writer: int, _: State) -> None:
        await self._writers[writer].execute("rollback")

    async def _number(self, replica: int, after: State) -> None:
        given = after.given[replica]
        assert given is not None
        await self._replicas[replica].execute("begin")
        try:
            turn = await queries.number_events(self._replicas[replica], self._tenant, _AT_ONCE)
        except LockNotAvailableError as error:
            raise UnlikeError("a replica waits for another") from error
        alike("how many get a number", len(given), turn.numbered)
        try:
            other = await queries.number_events(self._replicas[1 - replica], self._tenant, _AT_ONCE)
            alike("what another replica numbers meanwhile", queries.Turn(0, None), other)
        except LockNotAvailableError:
            pass  # the tenant's first: the other waits for the counter's row, and not for long

    async def _end(self, replica: int, _: State) -> None:
        await self._replicas[replica].execute("commit")

    async def _read(self, _: int, after: State) -> None:
        found = await queries.read_events(self._reader, self._principal, Filter(), self._cursor, _AT_ONCE)
        self._seen += [event.payload["id"] for event in found]
        self._cursor = found[-1].seq if found else self._cursor
        alike("what the reader saw", list(after.seen), self._seen)
