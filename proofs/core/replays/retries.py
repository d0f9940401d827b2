from __future__ import annotations

from collections.abc import Sequence

import msgspec

from proofs.core.replays.connections import Sql, UnlikeError, alike
from proofs.core.retries import BODIES, State
from shared.database.idempotency import Key, Records
from shared.errors import Unprocessable


class Plan(msgspec.Struct):
    plan: int


class Done(msgspec.Struct):
    done: int


class Replay:
    """Each step is a transaction of its own, as in the services."""

    connections = 1

    def __init__(self, sql: Sequence[Sql], tenant: str) -> None:
        (self._sql,) = sql
        self._tenant = tenant
        self._records = {name: Records(name) for name in ("context", "cache", "memory")}
        self._written: dict[str, list[int]] = {"cache": [], "memory": []}
        self._state = State()

    async def step(self, name: str, after: State) -> None:
        act, number = name.split()
        if act != "fail":
            async with self._sql.transaction():
                await getattr(self, f"_{act}")(int(number), after)
        for owner, written in zip(("cache", "memory"), after.owners, strict=True):
            alike(f"what {owner} wrote", list(written), self._written[owner])
        self._state = after

    async def stop(self) -> None:
        """Nothing is open."""

    async def _begin(self, client: int, after: State) -> None:
        now = after.requests[client]
        plan = Plan(client * 2 + self._state.requests[client].tries)
        try:
            found = await self._records["context"].begin(
                self._sql, self._tenant, "shared", self._key(client, "context"), Done, plan
            )
        except Unprocessable:
            alike("another body", now.answer, "refused")
            return
        if isinstance(found, Plan):
            alike("the plan", (now.step, now.plan), (1, found.plan))
        else:
            alike("the answer", now.answer, f"done {found.done}")

    async def _cache(self, client: int, _: State) -> None:
        await self._write("cache", client)

    async def _memory(self, client: int, _: State) -> None:
        await self._write("memory", client)

    async def _write(self, owner: str, client: int) -> None:
        plan = self._state.requests[client].plan

        async def write() -> Done:
            self._written[owner].append(plan)
            return Done(plan)

        answer = await self._records[owner].once(
            self._sql, self._tenant, "shared", self._key(client, owner), Done, write
        )
        if answer.done != self._written[owner][0]:
            raise UnlikeError(f"{owner} answered {answer.done}")

    async def _complete(self, client: int, _: State) -> None:
        answer = Done(self._state.requests[client].plan)
        key = self._key(client, "context")
        await self._records["context"].complete(self._sql, self._tenant, key, answer, 201)

    def _key(self, client: int, owner: str) -> Key:
        return Key("proof", f"key-{owner}", "/remember", BODIES[client].encode())
