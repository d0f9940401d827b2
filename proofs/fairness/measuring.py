"""The victim's times alone and beside each attack. A round has them all, so what disturbs it disturbs them alike."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import aiohttp
import asyncpg

from proofs.fairness.figures import Figures, figures
from proofs.fairness.victim import Seen, Victim
from tests.support.cluster import Cluster

_REST_AT_MOST = 40.0
_NONE_LEFT = "DELETE 0"
# The share of the processors' time that services without requests leave to the rest of the machine.
_IDLE = 0.15
# Beside another tenant, a text waits for the round in hand, some 3 s on a machine that is not busy.
_MOST_TO_VECTOR = 10.0
# A host takes so much of the processors' time now and then. Above it, the p99 is that of its other machines.
_MOST_STOLEN = 0.01
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


class Plan(NamedTuple):
    """How long the victim is measured, in seconds."""

    beside: float
    """Beside each attack, in each round."""
    alone: float
    each_time: bool = True
    """Alone before each attack, and not only once."""
    rounds: int = 1
    tries: int = 1
    """Of a measurement during which the host gave the processors to other machines."""
    onset: float = 2.0
    """Of each attack, before the victim is measured."""
    rest: float = 1.0
    """Without work in the background, before the victim is taken to be alone."""


class Ticks(NamedTuple):
    passed: int
    stolen: int
    worked: int


class Measuring:
    """Runs attacks on one cluster."""

    def __init__(self, cluster: Cluster, admin_dsn: str, plan: Plan) -> None:
        self._cluster, self._admin_dsn, self._plan = cluster, admin_dsn, plan
        self._keys: dict[str, dict[str, str]] = {}
        self.repeated, self.stolen = 0, 0.0

    async def outcomes(self, attacks: Sequence[str]) -> dict[str, Outcome]:
        self._keys = await make_keys(self._cluster)
        headers = {"authorization": f"Bearer {self._keys['victim']['admin']}"}
        rounds: list[tuple[Seen, dict[str, Seen]]] = []
        async with aiohttp.ClientSession(self._cluster.url(), headers=headers) as session:
            victim = Victim(session)
            await victim.begin_session()
            # The first requests open connections and load what is loaded once.
            await victim.run(self._plan.alone)
            rounds = [await self._round(victim, attacks) for _ in range(self._plan.rounds)]
        outcomes = {name: _outcome(name, rounds) for name in attacks}
        for name, outcome in outcomes.items():
            print(outcome.text(name), flush=True)
        return outcomes

    async def _round(self, victim: Victim, attacks: Sequence[str]) -> tuple[Seen, dict[str, Seen]]:
        """What the victim saw alone, and beside each attack."""
        alone, besides = Seen(), {}
        for name in attacks:
            await self._rest()
            if self._plan.each_time or not alone.seconds:
                alone += await self.undisturbed(victim, self._plan.alone)
            async with attack(name, self._cluster, self._keys["noisy"], self._plan.onset):
                beside = await self.undisturbed(victim, self._plan.beside)
                # Only now: alone, the victim has no such work beside its requests. One whose requests fail already need
                # not wait for vectors.
                unindexed = [] if beside.failures else await self._index(victim)
            besides[name] = beside + Seen(failures=unindexed)
        return alone, besides

    async def undisturbed(self, victim: Victim, seconds: float) -> Seen:
        """Measures again when the host gave the processors to other machines, whatever the times were.

        The times are of the try that lost least; the failures are of all.
        """
        tries: list[tuple[float, Seen]] = []
        while not tries or (tries[-1][0] > _MOST_STOLEN and len(tries) < self._plan.tries):
            before = ticks()
            seen = await victim.run(seconds)
            tries.append((stolen(before, ticks()), seen))
        self.repeated += len(tries) - 1
        share, best = min(tries, key=lambda one: one[0])
        self.stolen = max(self.stolen, share)
        return Seen(best.seconds, [failure for _, seen in tries for failure in seen.failures])

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
        """Ends what the last attack left in the index queue, so that the victim is alone.

        A commit of the attacker that was in progress reaches the queue later, and a text that is being embedded counts
        when it is done, so the processors have to be idle, too.
        """
        connection = await asyncpg.connect(self._admin_dsn)
        embedded, waited = -1.0, 0.0
        try:
            while waited < _REST_AT_MOST:
                left = await connection.execute("delete from memory.index_queue where tenant = 'noisy'")
                before, known = ticks(), embedded
                await asyncio.sleep(self._plan.rest)
                waited += self._plan.rest
                embedded = await self._embedded()
                if left == _NONE_LEFT and embedded == known and busy(before, ticks()) < _IDLE:
                    return
        finally:
            await connection.close()

    async def _embedded(self) -> float:
        """The texts that agent-memory has embedded so far."""
        async with self._cluster.client(None, "agent_memory") as client:
            answer = await client.get("/metrics")
        return sum(map(float, _TEXTS.findall(answer.body)))


def ticks(path: Path = Path("/proc/stat")) -> Ticks:
    """Those of all processors so far; none where the system does not tell."""
    with suppress(OSError):
        # See proc(5).
        counted = [int(one) for one in path.read_text().splitlines()[0].split()[1:9]]
        user, nice, system, _idle, _iowait, irq, softirq, steal = counted
        return Ticks(sum(counted), steal, user + nice + system + irq + softirq)
    return Ticks(0, 0, 0)


def stolen(before: Ticks, after: Ticks) -> float:
    """The share of the processors' time that the host gave to other machines."""
    passed = after.passed - before.passed
    return (after.stolen - before.stolen) / passed if passed else 0.0


def busy(before: Ticks, after: Ticks) -> float:
    """The share of the processors' time that anybody here used."""
    passed = after.passed - before.passed
    return (after.worked - before.worked) / passed if passed else 0.0


def _outcome(name: str, rounds: Sequence[tuple[Seen, dict[str, Seen]]]) -> Outcome:
    failures = [failure for _, besides in rounds for failure in besides[name].failures]
    return Outcome(failures, figures([(alone.seconds, besides[name].seconds) for alone, besides in rounds]))


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
async def attack(name: str, cluster: Cluster, keys: dict[str, str], onset: float) -> AsyncIterator[None]:
    environment = {
        **os.environ,
        "ATTACK_URL": cluster.url(),
        "ATTACK_WRITE": keys["admin"],
        "ATTACK_READ": keys["read"],
    }
    command = (sys.executable, "-m", "proofs.fairness.attackers", name)
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stderr=asyncio.subprocess.DEVNULL, start_new_session=True
    )
    try:
        await asyncio.sleep(onset)
        yield
        assert process.returncode is None, f"the attacker ended by itself: {name}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
