"""The victim's times alone and beside each attack, in turns."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import aiohttp
import asyncpg

from proofs.fairness.figures import Figures, Round, figures
from proofs.fairness.victim import Victim
from tests.support.cluster import Cluster

_ONSET_SECONDS = 2.0
_REST_SECONDS = 2.0
_REST_AT_MOST = 40.0
# Beside another tenant, a text waits for the round in hand, some 3 s on a machine that is not busy.
_MOST_TO_VECTOR = 10.0
# Beside it, the victim stores code too. Its times beside the others stay what they were.
_OF_CODE = "hostile code"
_HAS_VECTOR = "select exists (select from memory.agent_memory_vec where tenant = 'victim' and item_id = $1)"
_TEXTS = re.compile(r"^scrubjay_embedding_texts_total\S* (\S+)", re.MULTILINE)


class Outcome(NamedTuple):
    failures: list[str]
    figures: Figures

    @property
    def failed(self) -> int:
        return len(self.failures)

    @property
    def over_alone(self) -> float:
        return self.figures.over_alone

    def text(self, name: str) -> str:
        first = f"  ({self.failures[0]})" if self.failures else ""
        return f"  {name:20} {self.figures.text()}, {self.failed} failed{first}"


class Measuring:
    """Runs attacks on one cluster."""

    def __init__(self, cluster: Cluster, admin_dsn: str, seconds: float, rounds: int) -> None:
        self._cluster, self._admin_dsn = cluster, admin_dsn
        self._seconds, self._rounds = seconds, rounds
        self._keys: dict[str, dict[str, str]] = {}

    async def outcomes(self, attacks: Sequence[str]) -> dict[str, Outcome]:
        self._keys = await make_keys(self._cluster)
        headers = {"authorization": f"Bearer {self._keys['victim']['admin']}"}
        outcomes = {}
        async with aiohttp.ClientSession(self._cluster.url(), headers=headers) as session:
            victim = Victim(session)
            await victim.begin_session()
            await victim.run(self._seconds)
            for name in attacks:
                outcomes[name] = await self._outcome(victim, name)
                print(outcomes[name].text(name), flush=True)
        return outcomes

    async def _outcome(self, victim: Victim, name: str) -> Outcome:
        rounds: list[Round] = []
        with_code = name == _OF_CODE
        failures: list[str] = []
        for _ in range(self._rounds):
            await self._rest()
            alone = await victim.run(self._seconds, with_code=with_code)
            async with attack(name, self._cluster, self._keys["noisy"]):
                beside, unindexed = await asyncio.gather(
                    victim.run(self._seconds, with_code=with_code), self._index(victim)
                )
            rounds.append((alone.seconds, beside.seconds))
            failures += [*beside.failures, *unindexed]
        return Outcome(failures, figures(rounds))

    async def _index(self, victim: Victim) -> list[str]:
        """What fails when the victim commits a text that gets its vectors in the background."""
        connection = await asyncpg.connect(self._admin_dsn)
        try:
            async with asyncio.timeout(_MOST_TO_VECTOR):
                memory_id = await victim.commit_long()
                while not await connection.fetchval(_HAS_VECTOR, memory_id):
                    await asyncio.sleep(0.1)
        except aiohttp.ClientResponseError as error:
            return [f"long commit: {error.status}"]
        except TimeoutError:
            return [f"no vector after {_MOST_TO_VECTOR:g} s"]
        finally:
            await connection.close()
        return []

    async def _rest(self) -> None:
        """Ends what the last attack left in the index queue, so that the victim is alone."""
        connection = await asyncpg.connect(self._admin_dsn)
        await connection.execute("delete from memory.index_queue where tenant = 'noisy'")
        await connection.close()
        embedded, waited = -1.0, 0.0
        while embedded != (now := await self._embedded()) and waited < _REST_AT_MOST:
            embedded, waited = now, waited + _REST_SECONDS
            await asyncio.sleep(_REST_SECONDS)

    async def _embedded(self) -> float:
        """The texts that agent-memory has embedded so far."""
        async with self._cluster.client(None, "agent_memory") as client:
            answer = await client.get("/metrics")
        return sum(map(float, _TEXTS.findall(answer.body)))


async def make_keys(cluster: Cluster) -> dict[str, dict[str, str]]:
    """Tokens by tenant and access."""
    made: dict[str, dict[str, str]] = {"victim": {}, "noisy": {}}
    async with cluster.client("admin") as client:
        for tenant, access in itertools.product(made, ("read", "admin")):
            body = {"name": access, "tenant": tenant, "access": access}
            answer = await client.post("/api/context/keys", body)
            assert answer.status == 201, answer
            made[tenant][access] = answer.body["token"]
    return made


@asynccontextmanager
async def attack(name: str, cluster: Cluster, keys: dict[str, str]) -> AsyncIterator[None]:
    environment = {
        **os.environ,
        "ATTACK_URL": cluster.url(),
        "ATTACK_WRITE": keys["admin"],
        "ATTACK_READ": keys["read"],
    }
    command = (sys.executable, "-m", "proofs.fairness.attackers", name)
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await asyncio.sleep(_ONSET_SECONDS)
        yield
        assert process.returncode is None, f"the attacker ended by itself: {name}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
