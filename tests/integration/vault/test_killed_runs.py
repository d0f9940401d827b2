"""A run that is killed leaves an index that the next run completes."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from local.database import Database as Server
from services.agent_memory.vault.folder_index.service import FolderIndex
from shared.database.postgres import Database
from tests.integration.vault.conftest import run
from tests.support.vault.indexing import Indexing
from tests.support.vault.killing import kill_runs
from tests.support.vault.state import end_lease, snapshot

KILLS, NOTES = 3, 150


async def test_runs_that_are_killed_end_in_the_state_of_one_that_is_not(
    index: FolderIndex, pool: Database, folder: Path, fresh_database: Server
) -> None:
    log = folder.parents[1] / "index.log"
    indexing = Indexing(fresh_database.services["agent_memory"], folder.parent, log)
    killed = await kill_runs(pool, indexing, folder, random.Random(18), notes=NOTES, kills=KILLS)
    assert killed.kills == KILLS, log.read_text()
    await end_lease(pool)
    await run(index)
    shutil.copytree(folder, folder.parent / "undisturbed")
    assert await index.run("undisturbed") is not None
    assert await snapshot(pool) == await snapshot(pool, "undisturbed")
