"""The index of a folder stands kills and hostile files.

Runs over a changing folder are killed somewhere between their first batch and their last. The run that follows ends in
the state of an index that nobody disturbed. The control is the index as each kill leaves it. A run over 40 hostile
files and a text of 2 MB names each file that it refuses, stores nothing from outside of the folder, and never
holds 300 MB with its children.
"""

from __future__ import annotations

import random
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from proofs.ground import Ground, Proof, run
from services.agent_memory.vault.folder_index.progress import RefusedFile
from shared.database.postgres import Database
from tests.support.vault.hostile import CONVERTED, HOSTILE, OUTSIDE, make_hostile, misnamed
from tests.support.vault.indexing import Indexing
from tests.support.vault.killing import kill_runs
from tests.support.vault.state import TENANT, end_lease, rows_of, snapshot, texts_of

SEED = 18
KILLS, NOTES = 20, 600
SHORT_KILLS, SHORT_NOTES = 3, 150
_UNDISTURBED = "undisturbed"
_HOSTILE = "hostile"
_MOST_MEMORY = 300_000_000
_GROWING = "growing.md"
_LARGE = "large text.md"
_LARGE_BYTES = 2_000_000


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    chance = random.Random(seed)
    url = ground.database.services["agent_memory"]
    pool = Database(url, connections=2)
    await pool.open()
    try:
        kills, notes = (SHORT_KILLS, SHORT_NOTES) if short else (KILLS, NOTES)
        root = ground.folder / "vault"
        indexing = Indexing(url, root, ground.folder / "index.log")
        killed = await _kills(pool, indexing, root, chance, kills=kills, notes=notes)
        hostile = await _hostile(pool, indexing, root, chance)
    finally:
        await pool.close()
    violations = killed["differing"] + sum(hostile["wrong"].values())
    return Proof(
        kills + hostile["files"], kills, violations, killed["control"], {"killed": killed, **hostile}
    )


async def _kills(
    pool: Database, indexing: Indexing, root: Path, chance: random.Random, *, kills: int, notes: int
) -> dict[str, int]:
    folder = root / TENANT
    killed = await kill_runs(pool, indexing, folder, chance, notes=notes, kills=kills)
    await end_lease(pool)
    shutil.copytree(folder, root / _UNDISTURBED)
    for tenant in (TENANT, _UNDISTURBED):
        indexing.start(tenant)
        await indexing.end()
    ours, others = await snapshot(pool), await snapshot(pool, _UNDISTURBED)
    differing = sum(_differing(ours[table], others[table]) for table in others)
    return {"kills": killed.kills, "files": len(others["files"]), "facts": len(others["facts"])} | {
        "differing": differing if others["files"] else 1,
        "control": killed.incomplete,
    }


def _differing(ours: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> int:
    left, right = Counter(map(repr, ours)), Counter(map(repr, others))
    return (left - right).total() + (right - left).total()


async def _hostile(pool: Database, indexing: Indexing, root: Path, chance: random.Random) -> dict[str, Any]:
    folder = root / _HOSTILE
    folder.mkdir()
    (root.parent / "outside.md").write_text(OUTSIDE)
    cases = {**HOSTILE, **CONVERTED}
    make_hostile(folder, cases)
    words = (f"{chance.getrandbits(40):x}" for _ in range(_LARGE_BYTES // 11))
    (folder / _LARGE).write_text(" ".join(words))
    with _growing(folder / _GROWING):
        indexing.start(_HOSTILE)
        memory = await indexing.end()
    texts = await texts_of(pool, _HOSTILE)
    ((refused,),) = await rows_of(pool, "select refused from memory.vault_runs where tenant = $1", _HOSTILE)
    named = {each.path: each.reason for each in msgspec.convert(refused, list[RefusedFile])}
    written = (folder / _GROWING).read_text()
    wrong = {
        "unnamed": len(misnamed(named, cases)),
        "from outside": sum(OUTSIDE in text for text in texts.values()),
        "stored": len(texts.keys() - {_LARGE, _GROWING}),
        "not stored": int(_LARGE not in texts),
        # Of a file that grows, a beginning is stored, or it is named.
        "torn": int(_GROWING not in named and not written.startswith(texts.get(_GROWING, "\0"))),
        "too much memory": int(memory >= _MOST_MEMORY),
    }
    return {"files": len(cases) + 1, "megabytes": memory // 1_000_000, "wrong": wrong}


@contextmanager
def _growing(path: Path) -> Iterator[None]:
    """A file to which somebody adds lines all the time."""
    ended = threading.Event()

    def write() -> None:
        with path.open("a", buffering=1) as file:
            while not ended.wait(0.0005):
                file.write("Another line was added.\n")

    path.write_text("It grows.\n")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


if __name__ == "__main__":
    run("vault", SEED, prove)
