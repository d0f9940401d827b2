"""`make proof-isolation`, P22: no key sees or changes what its bounds do not reach.

Every operation, tool and resource, by every kind of key. An operation or a tool that no attack reaches counts as a
violation. The control is a key without bounds.
"""

from __future__ import annotations

import asyncio
import itertools

from proofs.ground import Ground, Proof, run
from proofs.isolation.arena import VAULT, Arena, judged, open_cluster
from tests.support.attacks.attackers import ATTACKERS, CONTROL
from tests.support.attacks.victim import CANARIES

SEED = 20_261
# Forwards and backwards, reads first: what one attempt closes, a later one cannot try.
_WHOLE = (slice(None), slice(None, None, -1))
# In the short form, each kind of key makes one of so many attempts, and its neighbours make the others.
_SHORT_SHARE = 5
_SHARES = [slice(place, None, _SHORT_SHARE) for place in range(_SHORT_SHARE)]


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    cluster = open_cluster(ground, ground.database, ground.folder)
    async with cluster:
        arena = Arena(cluster, ground.database.admin, ground.folder / VAULT)
        control = await arena.attack(CONTROL, _SHARES[0] if short else slice(None))
        shares = zip(ATTACKERS, itertools.cycle(_SHARES), strict=False)
        tried = shares if short else itertools.product(ATTACKERS, _WHOLE)
        ledgers = await asyncio.gather(*itertools.starmap(arena.attack, tried))
    # It must see all there is, and change some of it.
    caught = len(control.effects) if len(control.leaks) >= len(CANARIES) else 0
    return judged(control, ledgers, caught)


if __name__ == "__main__":
    run("P22", SEED, prove)
