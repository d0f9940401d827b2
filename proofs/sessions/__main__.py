"""Nothing that was acknowledged of a session's trail is lost: eight writers of one session, while both replicas of the
cache service are killed in turn and all their connections are ended.

Each acknowledged event must be there once, with the number it was given; no number may be left out, and no event appear
behind one that was read. A repeated request must get the first answer. The control acknowledges before it commits.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from proofs.ground import Ground, Proof, run
from tests.support.cluster import Cluster
from tests.support.sessions.killing import began, disturbed
from tests.support.sessions.writing import WRITERS, Ledger, compared

SEED = 19
KILLS, SHORT_KILLS = 40, 2
CONTROL_KILLS = 2


# A busy machine may kill each time when the control has nothing at stake.
CONTROL_TIMES = 4


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    kills = SHORT_KILLS if short else KILLS
    hasty, unlike = await _control(ground, seed)
    ledger, wrong = await _written(ground, "proof", kills, seed)
    _show({"hasty": (hasty, unlike), "as it is": (ledger, wrong)})
    return Proof(
        n=len(ledger.acknowledged),
        faults=2 * kills,
        violations=sum(wrong.values()),
        control_violations=unlike["lost or moved"] + unlike["a number given twice"],
        more={
            "kills": kills,
            "writers": WRITERS,
            "requests": ledger.requests,
            "tries": ledger.tries,
            "wrong": dict(wrong),
            "control": dict(unlike),
        },
    )


async def _control(ground: Ground, seed: int) -> tuple[Ledger, Counter[str]]:
    """Until it has lost something."""
    for time in range(CONTROL_TIMES):
        name, module = f"control-{time}", "proofs.sessions.hasty"
        ledger, wrong = await _written(ground, name, CONTROL_KILLS, seed + time, module)
        if wrong["lost or moved"] + wrong["a number given twice"]:
            break
    return ledger, wrong


async def _written(
    ground: Ground, name: str, kills: int, seed: int, module: str | None = None
) -> tuple[Ledger, Counter[str]]:
    folder: Path = ground.folder / name
    folder.mkdir()
    cluster = Cluster(ground.database, ground.valkey.url, folder, replicas=2, settings=ground.vectors)
    for service in cluster.replicas["cache"]:
        service.module = module or service.module
    async with cluster, cluster.client() as client:
        session = await began(client, name)
        ledger = await disturbed(cluster, ground.database.admin, session, kills, seed)
        return ledger, await compared(client, session, ledger)


def _show(builds: dict[str, tuple[Ledger, Counter[str]]]) -> None:
    print(f"{'build':<12}{'acknowledged':>14}{'requests':>10}{'tries':>8}  wrong")
    for name, (ledger, wrong) in builds.items():
        counts = f"{len(ledger.acknowledged):>14}{ledger.requests:>10}{ledger.tries:>8}"
        print(f"{name:<12}{counts}  {dict(wrong) or 'nothing'}")


if __name__ == "__main__":
    run("sessions", SEED, prove)
