"""Runs over a folder that changes meanwhile, each killed somewhere between its first batch and its last."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import NamedTuple

from shared.database.postgres import Database
from tests.support.vault.indexing import Indexing
from tests.support.vault.notes import random_note, random_notes, write_notes
from tests.support.vault.state import end_lease, rows_of, texts_of

_LOOK_SECONDS = 0.005
_LAST_ID = "select coalesce(max(id), 0) from memory.files where tenant = $1"
_BEGUN = "select 1 from memory.vault_runs where tenant = $1"
# Of notes, so that a run takes several batches.
_FILLING = "The ledger says that every invoice of the region was paid. " * 100


class Killed(NamedTuple):
    kills: int
    incomplete: int
    """After how many of them the index was not yet that of the folder."""


async def kill_runs(
    pool: Database, indexing: Indexing, folder: Path, chance: random.Random, *, notes: int, kills: int
) -> Killed:
    """A run that ends before its kill does not count."""
    texts = {path: text + _FILLING for path, text in random_notes(chance, notes).items()}
    write_notes(folder, texts)
    done = incomplete = 0
    while done < kills:
        await end_lease(pool)
        before = (await rows_of(pool, _LAST_ID))[0][0]
        indexing.start()
        await _reach(pool, indexing, before + chance.randrange(len(texts)) // 2)
        if indexing.kill_alone():
            done += 1
            incomplete += await texts_of(pool) != texts
        _change(chance, folder, texts)
    return Killed(done, incomplete)


async def _reach(pool: Database, indexing: Indexing, last_id: int) -> None:
    """Waits until a run has begun and written some files, or ended."""
    while indexing.running and not await rows_of(pool, _BEGUN):
        await asyncio.sleep(_LOOK_SECONDS)
    while indexing.running and (await rows_of(pool, _LAST_ID))[0][0] < last_id:
        await asyncio.sleep(_LOOK_SECONDS)


def _change(chance: random.Random, folder: Path, texts: dict[str, str]) -> None:
    """Rewrites half of the notes, and moves some."""
    some = chance.sample(sorted(texts), len(texts) // 2)
    names = [path.removesuffix(".md") for path in texts]
    changed = {path: random_note(chance, names) + _FILLING for path in some}
    for path in some[:3]:
        (folder / path).unlink()
        del texts[path]
        changed[f"shared/moved/{path}"] = changed.pop(path)
    write_notes(folder, changed)
    texts.update(changed)
