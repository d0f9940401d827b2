"""No input causes a 5xx, or an answer that the API's document does not know (P6).

Cases come from schemathesis, and from the document's examples with hostile values in them. The control is the context
service without types of bodies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from local.database import create_database
from proofs.fuzz import hostile, schema_cases
from proofs.fuzz.judging import Judge
from proofs.ground import Ground, Proof, run
from tests.support.calls import note
from tests.support.cluster import Cluster
from tools.openapi.recorded import recorded

SEED = 20_261
CASES, SHORT_CASES = 10_500, 400
HOSTILE, SHORT_HOSTILE = 51_000, 3_000
_CONTROL_CASES = 200


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    settings = {**ground.vectors, "SCRUBJAY_IN_FLIGHT": "256"}
    control = await _control(ground, settings, seed)
    async with Cluster(ground.database, ground.valkey.url, ground.folder, settings=settings) as cluster:
        url, token = cluster.url(), cluster.tokens.admin
        await _fill(cluster)
        made = await hostile.play(url, token, SHORT_HOSTILE if short else HOSTILE, seed)
        cases = SHORT_CASES if short else CASES
        drawn = await asyncio.to_thread(schema_cases.play, url, token, cases, seed, both=not short)
    control.show("control", most=3)
    made.show("hostile")
    drawn.show("schemathesis")
    failures = len(made.failures) + len(drawn.failures)
    undocumented = len(made.undocumented) + len(drawn.undocumented)
    return Proof(
        n=made.cases + drawn.cases,
        faults=0,
        violations=failures + undocumented,
        control_violations=len(control.failures),
        more={
            "hostile": made.cases,
            "schemathesis": drawn.cases,
            "late": made.late.total() + drawn.late.total(),
            "5xx": failures,
            "undocumented": undocumented,
        },
    )


async def _fill(cluster: Cluster) -> None:
    """The webhook that the examples name, with deliveries that wait for a receiver that nobody knows."""
    async with cluster.client("admin") as admin:
        made = await admin.post("/api/webhooks", {"url": "https://hooks.invalid/", "after": 0})
        assert (made.status, made.body["webhook"]["id"]) == (201, recorded()["kept"]["webhook"]), made
        for number in range(3):
            written = await admin.post("/api/psychic-cache/write", note("fuzz", f"it rained {number} times"))
            assert written.status == 201, written


async def _control(ground: Ground, settings: Mapping[str, str], seed: int) -> Judge:
    # What it lets through must not stand where the services read it afterwards.
    database = await create_database(ground.postgres.dsn(), "control", template=ground.database.name)
    cluster = Cluster(database, ground.valkey.url, ground.folder, settings=settings)
    for replica in cluster.replicas["context"]:
        replica.module = "proofs.fuzz.untyped"
    async with cluster:
        return await hostile.play(cluster.url(), cluster.tokens.admin, _CONTROL_CASES, seed)


def main() -> None:
    run("P6", SEED, prove)


if __name__ == "__main__":
    main()
