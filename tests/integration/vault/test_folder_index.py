"""The index of a tenant's folder: what is new, changed or gone, and nothing from outside."""

from __future__ import annotations

import asyncio
import os
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from services.agent_memory.vault.conversion.texts import text_of
from services.agent_memory.vault.folder_index import run as folder_run
from services.agent_memory.vault.folder_index.progress import Progress
from services.agent_memory.vault.folder_index.run import Run
from services.agent_memory.vault.folder_index.service import FolderIndex
from shared.concurrency.tasks import background
from shared.database.postgres import Database
from tests.integration.vault.conftest import counts, run
from tests.support.calls import until
from tests.support.vault.hostile import HOSTILE, make_hostile, misnamed
from tests.support.vault.state import TENANT, end_lease, texts_of, versions

MODEL = "none"
TABLES = ("files", "file_chunks", "index_queue")


def write(folder: Path, count: int) -> dict[str, str]:
    texts = {
        f"shared/{number}.md": f"# Note {number}\n\nIt links to [[{number + 1}]].\n"
        for number in range(count)
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    return texts


async def test_only_what_differs_is_written(index: FolderIndex, pool: Database, folder: Path) -> None:
    texts = write(folder, 40)
    assert counts(await run(index)) == (40, 0, 0)
    assert await texts_of(pool) == texts
    before = await versions(pool, *TABLES)
    assert counts(await run(index)) == (0, 40, 0)
    assert await versions(pool, *TABLES) == before
    for number in (3, 7, 30):
        texts[f"shared/{number}.md"] = f"# Note {number}\n\nIt was rewritten.\n"
        (folder / f"shared/{number}.md").write_text(texts[f"shared/{number}.md"])
    assert counts(await run(index)) == (3, 37, 0)
    assert await texts_of(pool) == texts
    after = await versions(pool, *TABLES)
    # Of each changed file, a row of its own, one of its passage and one in the queue.
    assert len(before - after) == len(after - before) == 9
    for number in (1, 2):
        (folder / f"shared/{number}.md").unlink()
        del texts[f"shared/{number}.md"]
    assert counts(await run(index)) == (0, 38, 2)
    assert await texts_of(pool) == texts


async def test_runs_that_are_broken_off_end_in_the_same_state(pool: Database, folder: Path) -> None:
    texts = write(folder, 60)
    order = random.Random(18)
    for _ in range(20):
        changed = order.sample(sorted(texts), 5)
        for path in changed:
            texts[path] = f"# {path}\n\nNow it says {order.random()}.\n" * order.randint(1, 200)
            (folder / path).write_text(texts[path])
        await _broken_off(pool, folder, batches=order.randint(0, 2))
    index = FolderIndex(pool, folder.parent, MODEL, lambda _: None)
    await end_lease(pool)
    await run(index)
    assert await texts_of(pool) == texts
    assert counts(await run(index)) == (0, 60, 0)


async def _broken_off(pool: Database, folder: Path, batches: int) -> None:
    """Begins a run, and ends its task after some batches, wherever it is then."""
    await end_lease(pool)
    reached = asyncio.Event()
    noted = 0

    def note(_: Progress) -> None:
        nonlocal noted
        noted += 1
        if noted > batches:
            reached.set()

    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        going = Run(pool, TENANT, descriptor, MODEL, note)
        assert await going.begin(0)
        task = asyncio.create_task(going.finish())
        waiting = asyncio.create_task(reached.wait())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        task.cancel()
        waiting.cancel()
        await asyncio.gather(task, waiting, return_exceptions=True)
    finally:
        os.close(descriptor)


async def test_one_run_at_a_time(index: FolderIndex, pool: Database, folder: Path) -> None:
    write(folder, 5)
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        other = Run(pool, TENANT, descriptor, MODEL, lambda _: None)
        assert await other.begin(0)
        assert await index.run(TENANT) is None
        await other.finish()
    finally:
        os.close(descriptor)
    assert await index.run(TENANT, age=3_600) is None
    assert counts(await run(index)) == (0, 5, 0)


async def test_a_run_that_is_lost_within_a_batch_writes_nothing(
    pool: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, 5)

    async def long_text_of(*given: Any) -> Any:
        await end_lease(pool)
        return await text_of(*given)

    monkeypatch.setattr(folder_run, "text_of", long_text_of)
    assert await FolderIndex(pool, folder.parent, MODEL, lambda _: None).run(TENANT) is None
    assert await texts_of(pool) == {}


async def test_two_replicas_index_a_folder_once_when_it_is_due(
    pool: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, runs = write(folder, 5), 0
    finish = Run.finish

    async def counted(run: Run) -> Progress:
        nonlocal runs
        runs += 1
        return await finish(run)

    monkeypatch.setattr(Run, "finish", counted)
    replicas = [FolderIndex(pool, folder.parent, MODEL, lambda _: None) for _ in range(2)]
    async with background(*(partial(replica.run_forever, 3_600.0) for replica in replicas)):

        async def indexed() -> None:
            assert await texts_of(pool) == texts

        await until(indexed)
        await asyncio.gather(*(replica.run_all(3_600.0) for replica in replicas))
    assert runs == 1


async def test_a_folder_that_cannot_be_listed_takes_nothing_out_of_the_index(
    index: FolderIndex, pool: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = write(folder, 5)
    await run(index)
    (folder / "shared").rename(folder / ".hidden")
    (folder / "shared").mkdir(mode=0)
    scandir = os.scandir

    def refusing(listing: int) -> Any:
        if Path(f"/proc/self/fd/{listing}").readlink().name == "shared":
            raise PermissionError
        return scandir(listing)

    monkeypatch.setattr(os, "scandir", refusing)
    progress = await run(index)
    assert [(each.path, each.reason) for each in progress.refused] == [
        ("shared/", "the folder cannot be listed")
    ]
    assert await texts_of(pool) == texts


async def test_each_hostile_file_is_named_and_nothing_outside_is_read(
    index: FolderIndex, pool: Database, folder: Path
) -> None:
    (folder / "good.md").write_text("# Good\n\nA file like any other.\n")
    make_hostile(folder, HOSTILE)
    progress = await run(index)
    assert await texts_of(pool) == {"good.md": "# Good\n\nA file like any other.\n"}
    named = {each.path: each.reason for each in progress.refused}
    assert misnamed(named, HOSTILE) == []
    assert len(named) == len(HOSTILE) == progress.refusals


async def test_a_file_that_changes_while_it_is_read_is_named_and_stays_as_it_was(
    index: FolderIndex, pool: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, reads = folder / "log.md", 0
    path.write_text("the first version")
    await run(index)
    path.write_text("the second version")
    read = os.read

    def read_beside_a_writer(descriptor: int, size: int) -> bytes:
        """Each read finds that somebody has just added a line."""
        nonlocal reads
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            reads += 1
            with path.open("a") as file:
                file.write("another line\n")
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", read_beside_a_writer)
    progress = await run(index)
    assert [(each.path, each.reason) for each in progress.refused] == [("log.md", "changes while it is read")]
    assert await texts_of(pool) == {"log.md": "the first version"}
    assert reads == 3
    monkeypatch.undo()
    assert counts(await run(index)) == (1, 0, 0)
    assert await texts_of(pool) == {"log.md": path.read_text()}


async def test_secrets_are_masked_before_they_are_stored(
    index: FolderIndex, pool: Database, folder: Path
) -> None:
    (folder / "keys.md").write_text("The key is AKIAIOSFODNN7EXAMPLQ, keep it.\n")
    await run(index)
    (text,) = (await texts_of(pool)).values()
    assert "AKIAIOSFODNN7EXAMPLQ" not in text
    assert "[secret: " in text
