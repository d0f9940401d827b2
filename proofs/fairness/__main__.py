"""One tenant cannot stop the others: eight attacks, each beside a victim with ten requests a second.

Each attack has a control: the same build without the one limit that stops this attack, in which it must do harm.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from typing import Any

from local.database import Database, create_database
from proofs.fairness.attackers import ATTACKS
from proofs.fairness.figures import Interval
from proofs.fairness.measuring import Measuring, Outcome, Plan
from proofs.ground import Ground, ground
from tests.support.cluster import Cluster

MOST_OVER_ALONE = 1.5
# An attack does harm when requests fail, or when they take far more than noise explains.
HARM_OVER_ALONE = 3.0
_CONTROL = Plan(beside=3.0, alone=2.0, onset=1.0, rest=0.3)
# In short, only what fails is judged.
_SHORT = Plan(beside=2.0, alone=2.5, each_time=False, onset=0.7, rest=0.3)
# Alone, 560 requests in all; beside each attack 340. More would take longer than ten minutes.
_FULL = Plan(beside=17.0, alone=3.5, rounds=2, tries=3)
# A fast machine withstands some attacks for a while, and noise may hide the harm.
_CONTROL_TIMES = 4
_SHORT_CONTROLS = ("slow patterns",)


async def prove(ground: Ground, short: bool) -> dict[str, Any]:
    template = ground.database.name
    databases = {
        name: await create_database(ground.postgres.dsn(), f"control_{number}", template=template)
        for number, name in enumerate(_SHORT_CONTROLS if short else ATTACKS)
    }
    print("\nwith the limits")
    async with Cluster(ground.database, ground.valkey.url, ground.folder) as cluster:
        measuring = Measuring(cluster, ground.database.admin, _SHORT if short else _FULL)
        outcomes = await measuring.outcomes(tuple(ATTACKS))
    print("\nwithout the limit that stops the attack")
    control = {name: await _control(ground, database, name) for name, database in databases.items()}
    return {
        **_figures(outcomes, control, judged=not short),
        "measured_again": measuring.repeated,
        "most_stolen": round(measuring.stolen, 3),
    }


async def _control(ground: Ground, database: Database, attack: str) -> Outcome:
    control = Cluster(database, ground.valkey.url, ground.folder)
    for service in control.all:
        service.variables["BENCH_SERVICE"] = service.module.removeprefix("services.")
        service.variables["WITHOUT"] = attack
        service.module = "proofs.without_limits"
    async with control:
        measuring = Measuring(control, database.admin, _CONTROL)
        for _ in range(_CONTROL_TIMES):
            outcome = (await measuring.outcomes([attack]))[attack]
            if _does_harm(outcome):
                break
        for service in control.all:
            # It may be busy for minutes.
            service.kill()
    return outcome


def _does_harm(outcome: Outcome) -> bool:
    return bool(outcome.failed) or outcome.over_alone > HARM_OVER_ALONE


def _figures(outcomes: dict[str, Outcome], control: dict[str, Outcome], *, judged: bool) -> dict[str, Any]:
    """In its short form, a run has too few requests to judge a p99."""
    most = MOST_OVER_ALONE if judged else float("inf")
    violated = [name for name, one in outcomes.items() if one.failed or one.over_alone > most]
    without_harm = [name for name, one in control.items() if not _does_harm(one)]
    return {
        "n": sum(outcome.figures.n for outcome in outcomes.values()),
        "faults": len(outcomes),
        "violations": len(violated),
        # Each control must do harm.
        "control_violations": 0 if without_harm else len(control),
        "failed": sum(outcome.failed for outcome in outcomes.values()),
        "p99_over_alone": {name: round(outcome.over_alone, 2) for name, outcome in outcomes.items()},
        "p99_interval": {name: _rounded(outcome.figures.interval) for name, outcome in outcomes.items()},
        "requests": {name: outcome.figures.n for name, outcome in outcomes.items()},
        "violated": violated,
        "control_failed": {name: outcome.failed for name, outcome in control.items()},
        "control_p99_over_alone": {name: round(outcome.over_alone, 2) for name, outcome in control.items()},
        "control_without_harm": without_harm,
    }


def _rounded(interval: Interval) -> list[float]:
    return [round(bound, 2) for bound in interval]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the form for every change")
    given = parser.parse_args()
    started = time.monotonic()
    with ground() as stands_on:
        figures = asyncio.run(prove(stands_on, given.short))
    figures["seconds"] = round(time.monotonic() - started, 1)
    print()
    print(json.dumps({"fairness": figures}))
    sys.exit(bool(figures["violated"] or figures["control_without_harm"]))


if __name__ == "__main__":
    main()
