"""Keeps the states of sessions where every replica finds them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from services.context.gateway.sessions import queries
from services.context.gateway.sessions.queries import Whose
from services.context.gateway.sessions.state import State, packed, unpacked
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import Unavailable

SWEEP_EVERY_SECONDS = 3_600.0
_KEEP_DAYS = 30
_SWEEP_SECONDS = 60.0
_TRIES = 5
# Of states that this process has seen last, packed.
_MOST_SEEN = 32 * 1_048_576


class Kept(NamedTuple):
    """`version` 0: there is none yet."""

    state: State
    version: int


_NEW = Kept(State(), 0)


class States:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen = _Seen()

    async def of(self, whose: Whose, deadline: Deadline) -> Kept:
        """Raises AppError."""
        named = [whose.caller, whose.session]
        rows = await self._database.look(whose.tenant, queries.READ, named, deadline)
        stored = rows[0]["state"] if rows else None
        self._seen.note(whose, stored)
        return _NEW if stored is None else Kept(unpacked(stored), rows[0]["version"])

    def last_seen(self, whose: Whose) -> State | None:
        """What this process saw last, for as long as the database is away."""
        stored = self._seen.get(whose)
        return None if stored is None else unpacked(stored)

    async def save(self, whose: Whose, version: int, state: State, deadline: Deadline) -> Kept | None:
        """None if another request was faster. Raises AppError."""
        stored = packed(state)
        saved = await self._database.run(
            whose.tenant, lambda c: queries.save(c, whose, version, stored), deadline
        )
        if saved is None:
            return None
        self._seen.note(whose, stored)
        return Kept(state, saved)

    async def change(self, whose: Whose, change: Callable[[State], State], deadline: Deadline) -> None:
        """Raises AppError."""
        for _ in range(_TRIES):
            kept = await self.of(whose, deadline)
            if await self.save(whose, kept.version, change(kept.state), deadline) is not None:
                return
        raise Unavailable("postgres", "too many requests change this session at once")

    async def sweep(self) -> None:
        """Forgets sessions that nothing changed for a month: they go on in full."""
        deadline = Deadline(_SWEEP_SECONDS)
        await self._database.run(EVERY_TENANT, lambda c: c.execute(queries.SWEEP, _KEEP_DAYS), deadline)


class _Seen:
    """The newest ones, up to a number of bytes."""

    def __init__(self) -> None:
        self._stored: OrderedDict[Whose, bytes] = OrderedDict()
        self._size = 0

    def get(self, whose: Whose) -> bytes | None:
        return self._stored.get(whose)

    def note(self, whose: Whose, stored: bytes | None) -> None:
        self._size -= len(self._stored.pop(whose, b""))
        if stored is None:
            return
        self._stored[whose] = stored
        self._size += len(stored)
        while self._size > _MOST_SEEN:
            self._size -= len(self._stored.popitem(last=False)[1])
