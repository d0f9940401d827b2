"""`make proof-freshness`, P23: what is answered from copies in memory is never stale.

Two replicas of each service, of which any may answer. In each of several missions, agents' memories and users'
memories, one client writes, edits, supersedes, hides, deletes, lets expire, evicts and purges at random, and others ask
at random. No answer may show what was erased, had expired, was private or superseded without a mark, and none may lack
what was committed before the question. The control answers what it has answered before.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from pathlib import Path

import aiohttp

from local.database import Database, create_database
from proofs.freshness.ledger import Ledger
from proofs.freshness.scopes import KINDS, Scope
from proofs.ground import Ground, Proof, run
from tests.support.calls import metric
from tests.support.cluster import Cluster

SEED = 23
QUESTIONS, SHORT_QUESTIONS, CONTROL_QUESTIONS = 12_000, 600, 300
_OF_EACH_KIND = 3
_ASKERS = 2
# Below, the database answered too much for the rest to prove anything.
_LEAST_HOT = 0.5
_OWNERS = ("cache", "agent_memory")
_HOT, _COLD = "scrubjay_hot_searches_total", "scrubjay_hot_misses_total"


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    other = await create_database(ground.postgres.dsn(), "unchecked", template=ground.database.name)
    control, _ = await _played(ground, other, CONTROL_QUESTIONS, seed, 1, checked=False)
    questions = SHORT_QUESTIONS if short else QUESTIONS
    ledger, hot = await _played(ground, ground.database, questions, seed, _OF_EACH_KIND)
    return Proof(
        n=ledger.asked,
        faults=ledger.changes.total(),
        violations=ledger.wrong.total() + (hot < _LEAST_HOT),
        control_violations=control.wrong.total(),
        more={
            "changes": dict(ledger.changes),
            "had_to_find": ledger.wanted,
            "lacked_a_source": ledger.incomplete,
            "from_copies": round(hot, 3),
            "wrong": dict(ledger.wrong),
            "control": dict(control.wrong),
        },
    )


async def _played(
    ground: Ground, database: Database, questions: int, seed: int, of_each_kind: int, *, checked: bool = True
) -> tuple[Ledger, float]:
    """The ledger, and the share of the owners' searches that copies answered."""
    folder: Path = ground.folder / database.name
    folder.mkdir()
    settings = {**ground.vectors, "SCRUBJAY_IN_FLIGHT": "256"}
    replicas = 2 if checked else 1
    cluster = Cluster(database, ground.valkey.url, folder, replicas=replicas, settings=settings)
    if not checked:
        for name in _OWNERS:
            for replica in cluster.replicas[name]:
                replica.variables |= {"BENCH_SERVICE": name}
                replica.module = "proofs.freshness.unchecked"
    ledger, words = Ledger(), itertools.count()
    async with cluster, cluster.client("admin") as client:
        scopes = [
            kind(client, ledger, f"{kind.__name__.lower()}-{number}", words, seed)
            for kind in KINDS
            for number in range(of_each_kind)
        ]
        await asyncio.gather(*(scope.prepare() for scope in scopes))
        await asyncio.gather(*(_live(scope, ledger, questions) for scope in scopes))
        return ledger, await _hot_share(cluster)


async def _live(scope: Scope, ledger: Ledger, questions: int) -> None:
    async def change() -> None:
        while ledger.asked < questions:
            await scope.change()

    async def ask() -> None:
        while ledger.asked < questions:
            await scope.ask()

    await asyncio.gather(change(), *(ask() for _ in range(_ASKERS)))


async def _hot_share(cluster: Cluster) -> float:
    hot = cold = 0.0
    async with aiohttp.ClientSession() as session:
        for name in _OWNERS:
            for replica in cluster.replicas[name]:
                async with session.get(f"{replica.url}/metrics") as response:
                    page = await response.text()
                hot, cold = hot + metric(page, _HOT), cold + metric(page, _COLD)
    return hot / (hot + cold) if hot + cold else 0.0


if __name__ == "__main__":
    # The proxies tell of each client that is gone.
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
    run("P23", SEED, prove)
