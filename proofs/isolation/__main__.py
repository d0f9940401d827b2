"""`make proof-isolation`, P22: no key sees or changes what its bounds do not reach.

Every operation, tool and resource, by every kind of key. An operation or a tool that no attack reaches counts as a
violation. The control is a key without bounds.
"""

from __future__ import annotations

import asyncio

from proofs.ground import Ground, Proof, run
from proofs.isolation.arena import VAULT, Arena, judged, open_cluster
from tests.support.attacks.attackers import ATTACKERS, CONTROL
from tests.support.attacks.victim import CANARIES

SEED = 20_261
ROUNDS, SHORT_ROUNDS = 2, 1
# In the short form, each kind of key makes one of so many attempts, and its neighbours make the others.
_SHORT_SHARE = 4


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    cluster = open_cluster(ground, ground.database, ground.folder)
    async with cluster:
        arena = Arena(cluster, ground.database.admin, ground.folder / VAULT)
        control = await arena.attack(CONTROL)
        attackers = [*ATTACKERS] * (SHORT_ROUNDS if short else ROUNDS)
        share = _SHORT_SHARE if short else 1
        ledgers = await asyncio.gather(
            *(arena.attack(one, slice(place % share, None, share)) for place, one in enumerate(attackers))
        )
    # It must see all there is, and change some of it.
    caught = len(control.effects) if len(control.leaks) >= len(CANARIES) else 0
    return judged(control, ledgers, caught)


if __name__ == "__main__":
    run("P22", SEED, prove)
