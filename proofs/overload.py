"""Overload is shed, not suffered (P18): five times the capacity, slow clients, bodies beyond the limit.

A client's own figures, as ratios of rounds that take turns. The control is the same build without limits.
"""

from __future__ import annotations

import statistics

from proofs.ground import Ground, Proof, run
from tests.support.cluster import Cluster
from tests.support.overloading import SLOW_CLIENTS, TIMES, Seen, beside_slow_clients, fill, overload

SEED = 18
MOST_SLOWER = 2.0
MOST_MEMORY = 1.2


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    seconds, rounds = (3.0, 3) if short else (8.0, 9)
    control = Cluster(ground.database, ground.valkey.url, ground.folder)
    for service in control.all:
        name = service.module.removeprefix("services.")
        service.variables |= {"BENCH_SERVICE": name, "WITHOUT": "flood"}
        service.module = "proofs.without_limits"
    async with control:
        await fill(control, seed)
        suffered = await overload(control, seconds, 1, seed)
    async with Cluster(ground.database, ground.valkey.url, ground.folder) as cluster:
        seen = await overload(cluster, seconds, rounds, seed)
        await beside_slow_clients(cluster, seconds, rounds, seed, seen)
    for name, one in (("without limits", suffered), ("with limits", seen)):
        print(f"\n{name}, {TIMES} x {one.capacity:.0f} requests/s")
        print(_table(one))
    print()
    violations = seen.violations(MOST_SLOWER, MOST_MEMORY)
    return Proof(
        n=seen.n,
        faults=seen.refused + rounds * SLOW_CLIENTS,
        violations=len(violations),
        control_violations=len(suffered.violations(MOST_SLOWER, MOST_MEMORY)),
        more={
            "p99_over_unloaded": round(statistics.median_low(seen.slower), 2),
            "p99_beside_slow_clients": round(statistics.median_low(seen.beside_slow), 2),
            "memory": round(max(seen.memory.values()), 2),
            "served_of_capacity": round(statistics.median_low(seen.served), 2),
            "control_p99_over_unloaded": round(statistics.median_low(suffered.slower), 2),
            "violated": violations,
        },
    )


def _table(seen: Seen) -> str:
    rows = {
        "p99 over unloaded": _ratios(seen.slower),
        "p99 beside slow clients": _ratios(seen.beside_slow),
        "served of the capacity": _ratios(seen.served),
        "memory over before": ", ".join(f"{name} {ratio:.2f}" for name, ratio in seen.memory.items()),
        "answers": f"{dict(sorted(seen.statuses.items()))}, {seen.broken} without one",
        "violations": ", ".join([*seen.violations(MOST_SLOWER, MOST_MEMORY), *seen.not_413]) or "none",
    }
    return "\n".join(f"  {name:26} {value}" for name, value in rows.items())


def _ratios(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values) or "-"


def main() -> None:
    run("P18", SEED, prove)


if __name__ == "__main__":
    main()
