"""A run of consolidation that is killed at random points and gone on with gives what an undisturbed one gives, row by
row. Fifty rounds of assemble, answer and consolidate on one transcript learn no more than one round.

The controls: a service that commits how far it is before what it learned, and one that learns from what was recalled.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proofs.consolidation.kills import Disturbed, disturbed
from proofs.consolidation.loop import learned
from proofs.ground import Ground, Proof, run
from tests.support.cluster import Cluster

SEED = 20
KILLS, SHORT_KILLS = 20, 3
CONTROL_KILLS = 2
# A kill may come when a hasty service has nothing at stake.
CONTROL_TRIES = 4
EVENTS_A_KILL = 150
ROUNDS, SHORT_ROUNDS = 50, 8
SHOWN_ROUNDS = (1, 10, 25, 50)
MOST_GROWTH = 1.05
MULTIPLIED = 2.0
"""How many times as much the control learns at least, in however few rounds."""


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    kills, rounds = (SHORT_KILLS, SHORT_ROUNDS) if short else (KILLS, ROUNDS)
    rough, counts = await _both(ground, "proof", kills, rounds, seed)
    for turn in range(CONTROL_TRIES):
        name = f"control {turn}"
        hasty, unguarded = await _both(ground, name, CONTROL_KILLS, rounds, seed + turn, control=True)
        if hasty.differing:
            break
    growth, grown = (max(each) / max(1, counts[0]) for each in (counts, unguarded))
    return Proof(
        n=kills * EVENTS_A_KILL,
        faults=rough.kills,
        violations=rough.differing + (growth > MOST_GROWTH) + (not counts[0]),
        control_violations=min(hasty.differing, int(grown >= MULTIPLIED)),
        more={
            "rounds": rounds,
            "learned after rounds": _shown(counts),
            "control: rows that differ": hasty.differing,
            "control: learned after rounds": _shown(unguarded),
        },
    )


def _shown(counts: Sequence[int]) -> dict[int, int]:
    rounds = {*(number for number in SHOWN_ROUNDS if number <= len(counts)), len(counts)}
    return {number: counts[number - 1] for number in sorted(rounds)}


async def _both(
    ground: Ground, name: str, kills: int, rounds: int, seed: int, *, control: bool = False
) -> tuple[Disturbed, list[int]]:
    folder: Path = ground.folder / name
    folder.mkdir()
    cluster = Cluster(ground.database, ground.valkey.url, folder, settings=ground.vectors)
    if control:
        cluster.replicas["agent_memory"][0].module = "proofs.consolidation.hasty"
        cluster.replicas["context"][0].module = "proofs.consolidation.unguarded"
    async with cluster, cluster.client() as client:
        counts = await learned(client, ground.database.admin, f"looping {name}", rounds)
        events = kills * EVENTS_A_KILL
        rough = await disturbed(cluster, ground.database.admin, name, events=events, kills=kills, seed=seed)
        return rough, counts


if __name__ == "__main__":
    run("consolidation", SEED, prove)
