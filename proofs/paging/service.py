"""Random sessions through the service: what is admitted comes back byte for byte, whatever was moved."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import asyncpg

from tests.support.cluster import Client

BUDGET = 2_000
_SESSIONS = "/api/sessions"
_AT_ONCE = 4
# Letters that no fence of a block holds.
_LETTERS = "ghijklmnopqrstuvwxyz"
# Transitions that do not begin where the one before ended, and objects that are not where their last one ended.
_BROKEN = """
with chained as (
    select t.object_id, t.from_fidelity, t.to_fidelity,
           lag(t.to_fidelity, 1, 0::smallint) over of_object as before,
           lead(t.number) over of_object is null as is_last
    from sessions.fidelity_transitions t window of_object as (partition by t.object_id order by t.number)
)
select count(*) filter (where c.before <> c.from_fidelity or (c.is_last and c.to_fidelity <> o.current_fidelity))
from chained c join sessions.semantic_objects o on o.id = c.object_id
"""
_MOVED_UNSEEN = """
select count(*) from sessions.semantic_objects o where o.current_fidelity > 0
  and not exists (select from sessions.fidelity_transitions t where t.tenant = o.tenant and t.object_id = o.id)
"""


class Walk:
    def __init__(self, client: Client, seed: int) -> None:
        self._client = client
        self._chance = random.Random(seed)
        self._path = ""
        self._texts: dict[str, str] = {}
        self._block = ""
        self.violations: list[str] = []
        self.faults = 0
        self.batches = 0

    async def run(self, turns: int) -> None:
        made = await self._told(
            "POST", _SESSIONS, {"agent_name": "prover", "config": {"token_budget": BUDGET}}
        )
        self._path = f"{_SESSIONS}/{made['data']['id']}"
        for number in range(turns):
            for _ in range(self._chance.randint(1, 3)):
                await self._act(number)
                await self._look(appends=True)
            ended = await self._told("POST", f"{self._path}/turns", {})
            self.batches += ended["batch"]
            await self._look(appends=not ended["batch"])
        for object_id in self._texts:
            await self._fault(object_id)

    async def _act(self, turn: int) -> None:
        known = [*self._texts]
        act = self._chance.choice(["admit", "admit", "fault", "pin", "release"]) if known else "admit"
        if act == "admit":
            await self._admit(turn)
            return
        object_id = self._chance.choice(known)
        if act == "fault":
            await self._fault(object_id)
            return
        body = {"turns": 3} if act == "pin" else {}
        await self._told("POST", f"{self._path}/objects/{object_id}/{act}", body)

    async def _admit(self, turn: int) -> None:
        source = f"source {turn} {self._chance.random()}"
        text = "\n".join(self._lines(self._chance.choice([3, 20, 60, 120])))
        kind = self._chance.choice(["file_context", "tool_result"])
        body = {"content": text, "object_type": kind, "source_key": source}
        answer = await self._told("POST", f"{self._path}/objects", body)
        contents = []
        for each in answer["objects"]:
            found = await self._told("GET", f"{self._path}/objects/{each['id']}")
            contents.append(found["data"]["content"])
            self._texts[each["id"]] = found["data"]["content"]
        if "".join(contents) != text:
            self.violations.append("the parts of a text are not the text")

    async def _fault(self, object_id: str) -> None:
        answer = await self._told("POST", f"{self._path}/objects/{object_id}/fault", {})
        self.faults += answer["restored"]
        if answer["data"]["content"] != self._texts[object_id]:
            self.violations.append("a fault brought back another text")

    async def _look(self, *, appends: bool) -> None:
        block = (await self._told("GET", f"{self._path}/context"))["context_block"]
        if appends and not block.startswith(self._block):
            self.violations.append("what was sent changed between batches")
        self._block = block
        found = await self._told("GET", f"{self._path}/pressure")
        names = ("at_l0", "at_l1", "at_l2", "at_l3", "evicted")
        if sum(found[f"objects_{name}"] for name in names) != len(self._texts):
            self.violations.append("the levels do not add up")

    def _lines(self, count: int) -> Iterator[str]:
        for _ in range(count):
            yield " ".join("".join(self._chance.choices(_LETTERS, k=6)) for _ in range(6))

    async def _told(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self._client.call(method, path, body)
        assert answer.status < 300, answer
        return answer.body


async def walk(client: Client, seed: int, sessions: int, turns: int) -> list[Walk]:
    walks = [Walk(client, seed + number) for number in range(sessions)]
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(each: Walk) -> None:
        async with room:
            await each.run(turns)

    await asyncio.gather(*map(one, walks))
    return walks


async def broken(dsn: str) -> int:
    """Changes of fidelity that are not recorded, or wrongly."""
    sql = await asyncpg.connect(dsn)
    try:
        return int(await sql.fetchval(_BROKEN)) + int(await sql.fetchval(_MOVED_UNSEEN))
    finally:
        await sql.close()
