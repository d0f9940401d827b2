"""`make proof-blocks`, P17: stored text cannot forge the structure of a block.

Blocks of hostile texts, and of every known way to stand before a forged header, must parse back to exactly the stored
list: for the service, for the client, and for a reader who overlooks much. Some of them go through the API. The control
is a block whose texts are not escaped.
"""

from __future__ import annotations

from proofs.ground import Ground, Proof, run
from tests.support.attacks.blocks import assembled, forged, forged_in, unescaped
from tests.support.attacks.hostile import hostile, variants
from tests.support.cluster import Cluster

SEED = 17
TEXTS, SHORT_TEXTS = 10_000, 2_000
# A mission holds 200 entries, of which three are.
THROUGH_THE_API, SHORT_THROUGH_THE_API = 480, 120
_SEEN_SHARE = 0.9


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    block, nonce, stored = unescaped()
    control = [*forged_in(block, nonce, stored)]
    texts = [*variants(), *hostile(SHORT_TEXTS if short else TEXTS, seed)]
    wrong = [*forged(texts)]
    count = SHORT_THROUGH_THE_API if short else THROUGH_THE_API
    async with (
        Cluster(ground.database, ground.valkey.url, ground.folder, settings=ground.vectors) as cluster,
        cluster.client() as client,
    ):
        through = await assembled(client, count, count // 2)
    wrong += through.wrong
    if through.seen < _SEEN_SHARE * through.stored:
        wrong.append("too few were seen")
    return Proof(
        n=len(texts) + through.stored,
        faults=0,
        violations=len(wrong),
        control_violations=len(control),
        more={
            "through the API": through.stored,
            "seen": through.seen,
            "wrong": wrong[:5],
            "control": control,
        },
    )


if __name__ == "__main__":
    run("P17", SEED, prove)
