from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from local.database import Database as Server
from services.agent_memory.vault.folder_index.progress import Progress
from services.agent_memory.vault.folder_index.service import FolderIndex
from shared.database.postgres import Database
from tests.support.vault.hostile import OUTSIDE
from tests.support.vault.state import TENANT


@pytest.fixture
async def pool(fresh_database: Server) -> AsyncIterator[Database]:
    database = Database(fresh_database.services["agent_memory"], connections=4)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tenant's, with a file outside of it."""
    (tmp_path / "outside.md").write_text(OUTSIDE)
    folder = tmp_path / "vault" / TENANT
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def index(pool: Database, folder: Path) -> FolderIndex:
    return FolderIndex(pool, folder.parent, "none", lambda _: None)


async def run(index: FolderIndex) -> Progress:
    progress = await index.run(TENANT)
    assert progress is not None
    return progress


def counts(progress: Progress) -> tuple[int, int, int]:
    return progress.changed, progress.unchanged, progress.removed
