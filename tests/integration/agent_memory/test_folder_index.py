"""The index of a tenant's folder: what is new, changed or gone, and nothing from outside."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from local.database import Database as Server
from services.agent_memory.vault.folder_index.progress import Progress
from services.agent_memory.vault.folder_index.run import Run
from services.agent_memory.vault.folder_index.service import FolderIndex
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline

TENANT = "acme"
MODEL = "none"
OUTSIDE = "the treasure outside"


@pytest.fixture
async def pool(fresh_database: Server) -> AsyncIterator[Database]:
    database = Database(fresh_database.services["agent_memory"], connections=4)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.md").write_text(OUTSIDE)
    folder = tmp_path / "vault" / TENANT
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def index(pool: Database, folder: Path) -> FolderIndex:
    return FolderIndex(pool, folder.parent, MODEL, lambda _: None)


async def run(index: FolderIndex) -> Progress:
    progress = await index.run(TENANT)
    assert progress is not None
    return progress


def counts(progress: Progress) -> tuple[int, int, int]:
    return progress.changed, progress.unchanged, progress.removed


async def state(pool: Database) -> dict[str, str]:
    """The text of each file, as its passages hold it."""

    async def work(c: Connection) -> dict[str, str]:
        rows = await c.fetch(
            """select f.path, string_agg(c.body, '' order by f.part, c.chunk) as text
               from memory.files f join memory.file_chunks c on c.tenant = f.tenant and c.item_id = f.id
               where f.tenant = $1 group by f.path""",
            TENANT,
        )
        return {row["path"]: row["text"] for row in rows}

    return await pool.run(TENANT, work, patience())


async def rows(pool: Database) -> set[tuple[Any, ...]]:
    """Every version of a row that the index holds, as Postgres tells them apart."""

    async def work(c: Connection) -> set[tuple[Any, ...]]:
        found: set[tuple[Any, ...]] = set()
        for table in ("files", "file_chunks", "index_queue"):
            versions = await c.fetch(
                f"select xmin::text, ctid::text from memory.{table} where tenant = $1", TENANT
            )
            found |= {(table, row["xmin"], row["ctid"]) for row in versions}
        return found

    return await pool.run(TENANT, work, patience())


def patience() -> Deadline:
    return Deadline(60)


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
    assert await state(pool) == texts
    before = await rows(pool)
    assert counts(await run(index)) == (0, 40, 0)
    assert await rows(pool) == before
    for number in (3, 7, 30):
        texts[f"shared/{number}.md"] = f"# Note {number}\n\nIt was rewritten.\n"
        (folder / f"shared/{number}.md").write_text(texts[f"shared/{number}.md"])
    assert counts(await run(index)) == (3, 37, 0)
    assert await state(pool) == texts
    after = await rows(pool)
    # Of each changed file, a row of its own, one of its passage and one in the queue.
    assert len(before - after) == len(after - before) == 9
    for number in (1, 2):
        (folder / f"shared/{number}.md").unlink()
        del texts[f"shared/{number}.md"]
    assert counts(await run(index)) == (0, 38, 2)
    assert await state(pool) == texts


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
    await _forget_run(pool)
    await run(index)
    assert await state(pool) == texts
    assert counts(await run(index)) == (0, 60, 0)


async def _broken_off(pool: Database, folder: Path, batches: int) -> None:
    """Begins a run, and ends its task after some batches, wherever it is then."""
    await _forget_run(pool)
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


async def _forget_run(pool: Database) -> None:
    async def work(c: Connection) -> None:
        await c.execute("delete from memory.vault_runs where tenant = $1", TENANT)

    await pool.transaction(TENANT, work, patience())


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
    assert await state(pool) == texts


HOSTILE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "link out": (lambda p: p.symlink_to("../../outside.md"), "is a link"),
    "absolute link": (lambda p: p.symlink_to(p.parents[2] / "outside.md"), "is a link"),
    "link to a folder": (lambda p: p.symlink_to("/etc"), "is a link"),
    "link to itself": (lambda p: p.symlink_to(p), "is a link"),
    "link within": (lambda p: p.symlink_to("good.md"), "is a link"),
    "link to nothing": (lambda p: p.symlink_to("nothing"), "is a link"),
    "link to memory": (lambda p: p.symlink_to("/proc/self/mem"), "is a link"),
    "link to environment": (lambda p: p.symlink_to("/proc/self/environ"), "is a link"),
    "link to a descriptor": (lambda p: p.symlink_to("/proc/self/fd/0"), "is a link"),
    "link to zeros": (lambda p: p.symlink_to("/dev/zero"), "is a link"),
    "link up": (lambda p: p.symlink_to(".."), "is a link"),
    "pipe": (lambda p: os.mkfifo(p), "is not a regular file"),
    "sparse": (lambda p: _sized(p, 1 << 30), "is larger than"),
    "large": (lambda p: _sized(p, 4_000_001), "is larger than"),
    "huge sparse": (lambda p: _sized(p, 1 << 36), "is larger than"),
    "zeros.md": (lambda p: _sized(p, 10_000), "is not text"),
    "binary.md": (lambda p: p.write_bytes(bytes(range(256)) * 40), "is not text"),
    "latin.txt": (lambda p: p.write_bytes("caf\xe9".encode("latin-1")), "is not text"),
    "surrogate.txt": (lambda p: p.write_bytes(b"a \xed\xa0\x80 b"), "is not text"),
    "utf16.txt": (lambda p: p.write_text("a treasure", encoding="utf-16"), "is not text"),
    "cut.txt": (lambda p: p.write_bytes("caf\xe9".encode()[:-1]), "is not text"),
    "empty.md": (lambda p: p.write_text(""), "has no text"),
    "blank.md": (lambda p: p.write_text(" \n\t\n"), "has no text"),
    "line\nbreak.md": (lambda p: p.write_text("text"), "its path"),
    "return\rname.md": (lambda p: p.write_text("text"), "its path"),
    "escape\x1b[2Jname.md": (lambda p: p.write_text("text"), "its path"),
    "bidi\u202ename.md": (lambda p: p.write_text("text"), "its path"),
    "separator\u2028name.md": (lambda p: p.write_text("text"), "its path"),
    "tab\tname.md": (lambda p: p.write_text("text"), "its path"),
    "lines.md#L3-L4": (lambda p: p.write_text("text"), "its path"),
    "no utf8 \udcff.md": (lambda p: p.write_text("text"), "its path"),
    "folder\nof lines": (lambda p: p.mkdir(), "its path"),
    "socket": (lambda p: _bind(p), "is not a regular file"),
}


def _sized(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def _bind(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


async def test_each_hostile_file_is_named_and_nothing_outside_is_read(
    index: FolderIndex, pool: Database, folder: Path
) -> None:
    (folder / "good.md").write_text("# Good\n\nA file like any other.\n")
    for name, (make, _) in HOSTILE.items():
        make(folder / name)
    progress = await run(index)
    assert await state(pool) == {"good.md": "# Good\n\nA file like any other.\n"}
    named = {each.path: each.reason for each in progress.refused}
    for name, (_, reason) in HOSTILE.items():
        shown = name if name.isprintable() else ascii(name)[1:-1]
        assert reason in named.get(shown, "is not named"), name
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
    assert await state(pool) == {"log.md": "the first version"}
    assert reads == 3
    monkeypatch.undo()
    assert counts(await run(index)) == (1, 0, 0)
    assert await state(pool) == {"log.md": path.read_text()}


async def test_secrets_are_masked_before_they_are_stored(
    index: FolderIndex, pool: Database, folder: Path
) -> None:
    (folder / "keys.md").write_text("The key is AKIAIOSFODNN7EXAMPLQ, keep it.\n")
    await run(index)
    (text,) = (await state(pool)).values()
    assert "AKIAIOSFODNN7EXAMPLQ" not in text
    assert "[secret: " in text
