"""`make proof-core`: the state machines on which everything rests, in every interleaving of their few actors.

Writes that evict and are combined, retries over two owners, numbering and reading the timeline, leases of the index
queue, and batches of paging. Each control is a mutant of a model, in which the same search must find a fault. So that
the models say something of the services, random ways through them are walked again on Postgres, step by step, with the
services' own SQL; paging's model runs the policy itself.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from proofs.core import entries, leases, numbering, paging, retries
from proofs.core.checker import Explored, explore, walk
from proofs.core.replays import entries as entries_replay
from proofs.core.replays import leases as leases_replay
from proofs.core.replays import numbering as numbering_replay
from proofs.core.replays import retries as retries_replay
from proofs.core.replays.connections import UnlikeError, connections
from proofs.ground import Ground, Proof, run

SEED = 24
# A mutant need not differ on the first of its ways.
_CONTROL_WALKS = 40
WALKS, SHORT_WALKS = 500, 40
MODELS: Sequence[Any] = (entries, retries, numbering, leases, paging)
# Each with a mutant, whose ways Postgres must not follow.
REPLAYS: dict[Any, Any] = {
    entries: (entries_replay.Replay, entries.Backwards),
    retries: (retries_replay.Replay, retries.Forgetful),
    numbering: (numbering_replay.Replay, numbering.Together),
    leases: (leases_replay.Replay, leases.Heedless),
}


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    caught = {
        f"{each.MODEL.__name__}, {mutant.__name__}": _shown(explore(mutant(), first=True))
        for each in MODELS
        for mutant in each.MUTANTS
    }
    for replay, mutant in REPLAYS.values():
        caught[f"{mutant.__name__} on Postgres"] = await _unlike(
            ground.database.admin, mutant(), replay, seed
        )
    found = {each.MODEL.__name__: explore(each.MODEL()) for each in MODELS}
    replayed: Counter[str] = Counter()
    unlike: list[str] = []
    for each, (replay, _) in REPLAYS.items():
        for number in range(SHORT_WALKS if short else WALKS):
            steps, wrong = await replay_walk(ground.database.admin, each.MODEL(), replay, seed + number)
            replayed[each.MODEL.__name__] += steps
            unlike += wrong
    unseen = sum(not faults for faults in caught.values())
    return Proof(
        n=sum(each.states for each in found.values()),
        faults=sum(each.steps for each in found.values()),
        violations=sum(len(each.faults) for each in found.values()) + len(unlike) + unseen,
        control_violations=min(len(faults) for faults in caught.values()),
        more={
            "states": {name: each.states for name, each in found.items()},
            "wrong": {name: each.faults for name, each in found.items() if each.faults},
            "steps replayed": dict(replayed),
            "unlike Postgres": unlike[:5],
            "mutants": caught,
        },
    )


def _shown(found: Explored[Any]) -> dict[str, str]:
    return {fault: ", ".join(way) for fault, way in found.faults.items()}


async def _unlike(dsn: str, mutant: Any, replay: Any, seed: int) -> dict[str, str]:
    for number in range(_CONTROL_WALKS):
        if (await replay_walk(dsn, mutant, replay, seed + number))[1]:
            return {"it does otherwise": f"after {number + 1} ways"}
    return {}


async def replay_walk(dsn: str, model: Any, replay: Any, seed: int) -> tuple[int, list[str]]:
    """How many steps Postgres did as the model, and where it did not."""
    name = f"{type(model).__name__}-{seed}"
    way = walk(model, random.Random(seed))
    async with connections(dsn, replay.connections) as sql:
        walked = replay(sql, name)
        try:
            for number, (step, after) in enumerate(way):
                try:
                    await walked.step(step, after)
                except UnlikeError as error:
                    taken = ", ".join(each for each, _ in way[: number + 1])
                    return number, [f"{name} ({taken}): {error}"]
        finally:
            await walked.stop()
    return len(way), []


if __name__ == "__main__":
    run("core", SEED, prove)
