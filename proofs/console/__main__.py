"""The console in a real browser, on a cluster of its own.

Each screen at two sizes and in two schemes, with axe; hostile texts on each screen that shows content; keys that may
little; each screen's main task by mouse and by keyboard; long lists; a busy timeline; what a first look transfers.
A page that takes text for markup is the control. Pictures are kept in `.console`.
"""

from __future__ import annotations

import shutil
from typing import Any

from local.database import ROOT
from proofs.console.browser import CHROMIUM, chromium
from proofs.console.controls import careless
from proofs.console.filling import fill
from proofs.console.keys import little
from proofs.console.looks import look, look_at_hostile
from proofs.console.speed import busy, grown, transferred
from proofs.console.tasks import do_all
from proofs.ground import Ground, Proof, run
from tests.support.cluster import Cluster

_SHOTS = ROOT / ".console"
# Each of four looks finds the careless page at fault.
_CONTROLS = 4


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    assert shutil.which(CHROMIUM), f"{CHROMIUM} is needed: install the package chromium"
    shutil.rmtree(_SHOTS, ignore_errors=True)
    _SHOTS.mkdir()
    wrong: list[str] = []
    more: dict[str, Any] = {}
    async with Cluster(ground.database, ground.valkey.url, ground.folder) as cluster, chromium() as browser:
        filled = await fill(cluster, ground)
        url, admin = cluster.url(), cluster.tokens.admin
        control = await careless(browser, url)
        more["pages"], found = await look(browser, url, admin, filled, _SHOTS)
        wrong += found
        more["hostile_shown"], found = await look_at_hostile(browser, url, admin, filled, _SHOTS)
        wrong += found
        more["refused_controls"], found = await little(browser, cluster, filled)
        wrong += found
        more["tasks"], found = await do_all(browser, cluster, filled, _SHOTS)
        wrong += found
        more["kilobytes"], found = await transferred(browser, url, admin)
        wrong += found
        more["lists"], found = await grown(browser, cluster, ground, short=short)
        wrong += found
        more["heap"], found = await busy(browser, cluster, seconds=20 if short else 600)
        wrong += found
    print("\n".join(wrong))
    assert len(control) == _CONTROLS, f"the careless page was found out by {control} only"
    return Proof(more["pages"], 0, len(wrong), len(control), more)


if __name__ == "__main__":
    run("console", 1, prove)
