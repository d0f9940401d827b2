"""Paging never corrupts (P15): random sessions over the policy, and some of them through the service.

Every step of a session over the policy keeps its invariants. Through the service, every fault brings back the bytes
that were admitted, the context only grows between batches, and every change of fidelity is recorded. The controls are
policies that each break one rule.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from proofs.ground import Ground, Proof, run
from proofs.paging.model import Decide, Session
from proofs.paging.service import broken, walk
from services.cache.sessions.paging.batches import Batch, Policy, Shown, batch
from services.cache.sessions.paging.fidelity import PagedObject
from tests.support.cluster import Cluster

SEED = 15
_TURNS = 16
_CONTROLS = 50


def eager(
    objects: Sequence[PagedObject], shown: Sequence[Shown], budget: int, turn: int, policy: Policy
) -> Batch | None:
    """Does not wait for the high watermark."""
    return batch(objects, shown, budget, turn, policy._replace(high=policy.low))


def heedless(
    objects: Sequence[PagedObject], shown: Sequence[Shown], budget: int, turn: int, policy: Policy
) -> Batch | None:
    """Moves what is pinned, too."""
    return batch([each._replace(pinned=False) for each in objects], shown, budget, turn, policy)


def silent(
    objects: Sequence[PagedObject], shown: Sequence[Shown], budget: int, turn: int, policy: Policy
) -> Batch | None:
    """Shows an object smaller without saying so."""
    made = batch(objects, shown, budget, turn, policy)
    return made and made._replace(moves=made.moves[1:])


def lazy(
    objects: Sequence[PagedObject], shown: Sequence[Shown], budget: int, turn: int, policy: Policy
) -> Batch | None:
    """Stops before the low watermark."""
    return batch(objects, shown, budget, turn, policy._replace(low=policy.high))


MUTANTS: Sequence[Decide] = (eager, heedless, silent, lazy)


def violations(seed: int, sessions: int, decide: Decide = batch) -> tuple[Counter[str], int]:
    """What random sessions violate, and how many batches they had."""
    chance = random.Random(seed)
    found: Counter[str] = Counter()
    batches = 0
    for _ in range(sessions):
        session = Session(chance.randrange(2**32), decide)
        found.update(session.play(_TURNS))
        batches += session.batches
    return found, batches


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    pure, served, turns = (1_000, 20, 6) if short else (10_000, 200, 12)
    caught = {mutant.__name__: violations(seed, _CONTROLS, mutant)[0].total() for mutant in MUTANTS}
    found, batches = violations(seed, pure)
    async with (
        Cluster(ground.database, ground.valkey.url, ground.folder, settings=ground.vectors) as cluster,
        cluster.client() as client,
    ):
        walks = await walk(client, seed, served, turns)
    for each in walks:
        found.update(each.violations)
    found["a change of fidelity that is not recorded"] += await broken(ground.database.admin)
    print(f"controls: {caught}\nviolations: {dict(+found) or 'none'}\n")
    return Proof(
        n=pure + served,
        faults=sum(each.faults for each in walks),
        violations=found.total(),
        control_violations=min(caught.values()),
        more={
            "batches": batches,
            "sessions_served": served,
            "batches_served": sum(each.batches for each in walks),
        },
    )


if __name__ == "__main__":
    run("P15", SEED, prove)
