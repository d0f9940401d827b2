"""A run over a tenant's folder: it indexes what is new or differs, and removes what is gone.

Each batch is one transaction, so a run that is killed leaves whole files, and the next one goes on from there.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from services.agent_memory.vault import queries_write
from services.agent_memory.vault.content import Place, Rows, Source, rows_of
from services.agent_memory.vault.conversion.converter import Converter
from services.agent_memory.vault.conversion.formats import NoText, format_of, most_bytes
from services.agent_memory.vault.conversion.texts import text_of
from services.agent_memory.vault.disk.walking import Content, Entry, Unreadable, read_file, walk
from services.agent_memory.vault.folder_index import queries
from services.agent_memory.vault.folder_index.progress import Progress
from services.agent_memory.vault.folders import UNBOUND
from services.agent_memory.vault.graph.facts import facts_of, replace_facts
from shared.concurrency.threads import beside
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline

T = TypeVar("T")

WRITER = "vault"
"""Stands for the key that wrote what is indexed."""
# Less than the lease lasts.
_PATIENCE = 110.0
_NOTE_SECONDS = 1.0
# A batch holds so much of changed files, or looks at so many.
_BATCH_BYTES, _BATCH_FILES = 400_000, 500
_REMOVED_AT_ONCE = 500
# It is part of a file's hash: with another way of reading files, all of them are read anew.
_READING = b"2:"


class Lost(Exception):
    """Another run has begun, because this one was taken to be gone."""


class Changed(NamedTuple):
    path: str
    content: Content
    hash: bytes


class Batch(NamedTuple):
    """What a look at some files found. What `stays` is indexed as it is, or cannot be read at the moment."""

    changed: list[Changed]
    stays: list[str]
    unknown: list[str]
    """The folders of whose files nothing is known."""
    refused: list[Entry]
    ended: bool


class Run:
    def __init__(
        self, database: Database, tenant: str, folder: int, model: str, note: Callable[[Progress], None]
    ) -> None:
        """`folder` is the descriptor of the tenant's folder. It calls `note` after each batch."""
        self._database = database
        self._tenant = tenant
        self._folder = folder
        self._model = model
        self._note = note
        self._converter = Converter()
        self._id = uuid.uuid4().hex
        self._progress = Progress()
        self._noted_at = 0.0
        self._seen: set[str] = set()
        self._unknown: list[str] = []

    async def begin(self, age: float) -> bool:
        """False: another run is under way, or the last one began less than `age` seconds ago."""
        return await self._do(lambda c: queries.begin(c, self._tenant, self._id, age))

    async def finish(self) -> Progress:
        """Does all of it. Raises Lost."""
        known = await self._do(lambda c: queries.known(c, self._tenant))
        entries = walk(self._folder)
        while True:
            batch = await asyncio.to_thread(look, self._folder, entries, known)
            await self._index(batch)
            await self._keep_note()
            if batch.ended:
                break
        await self._remove([path for path in known if not self._stays(path)])
        await self._keep_note(finished=True)
        return self._progress

    def _stays(self, path: str) -> bool:
        return path in self._seen or any(path.startswith(folder) for folder in self._unknown)

    async def _index(self, batch: Batch) -> None:
        self._seen.update(batch.stays)
        self._unknown += batch.unknown
        for entry in batch.refused:
            self._progress.refuse(entry.path, entry.refused or "")
        rows: dict[str, Rows] = {}
        for changed in batch.changed:
            try:
                rows[changed.path] = await self._rows(changed)
            except NoText as error:
                self._progress.refuse(changed.path, error.reason)
            # A batch may take longer than the lease lasts.
            await self._renew()
        uploaded = await self._do(lambda c: self._write(c, rows)) if rows else set()
        for path in uploaded:
            self._progress.refuse(path, "an uploaded file has this path")
        self._seen.update(rows.keys() - uploaded)
        self._progress.changed += len(rows) - len(uploaded)
        self._progress.unchanged += len(batch.stays)
        self._progress.files += len(batch.stays) + len(batch.changed) + len(batch.refused)

    async def _rows(self, changed: Changed) -> Rows:
        text = await text_of(self._converter, self._tenant, changed.path, changed.content.data)
        source = Source(
            path=changed.path,
            format=format_of(changed.path),
            origin="folder",
            hash=changed.hash,
            written_by=WRITER,
            occurred_at=changed.content.modified_at,
        )
        return await beside(len(text), rows_of, source, text, Place(), None)

    async def _write(self, c: Connection, rows: Mapping[str, Rows]) -> set[str]:
        """Returns the paths that hold uploaded files. These stay."""
        uploaded = await queries.lock(c, self._tenant, [*rows])
        mine = {path: each for path, each in rows.items() if path not in uploaded}
        await queries.remove(c, self._tenant, [*mine])
        files = [file for each in mine.values() for file in each.files]
        words = [chunks for each in mine.values() for chunks in each.words]
        await queries_write.insert(c, self._tenant, Rows(files, words, []), model=self._model, event=None)
        # At last, because they lock their scopes.
        facts = [facts_of(path, each.statements) for path, each in mine.items()]
        await replace_facts(c, self._tenant, facts, written_by=WRITER)
        return uploaded

    async def _remove(self, paths: Sequence[str]) -> None:
        for start in range(0, len(paths), _REMOVED_AT_ONCE):
            some = paths[start : start + _REMOVED_AT_ONCE]
            self._progress.removed += await self._do(lambda c, some=some: self._remove_some(c, some))  # type: ignore[misc]
            await self._keep_note()

    async def _remove_some(self, c: Connection, paths: Sequence[str]) -> int:
        uploaded = await queries.lock(c, self._tenant, paths)
        removed = await queries.remove(c, self._tenant, paths)
        facts = [facts_of(path) for path in paths if path not in uploaded]
        await replace_facts(c, self._tenant, facts, written_by=WRITER)
        return removed

    async def _keep_note(self, *, finished: bool = False) -> None:
        self._note(self._progress)
        await self._renew(finished=finished)

    async def _renew(self, *, finished: bool = False) -> None:
        """Shows that the run goes on, once a second at most. Raises Lost."""
        if not finished and time.monotonic() - self._noted_at < _NOTE_SECONDS:
            return
        self._noted_at = time.monotonic()
        if not await self._do(lambda c: self._keep(c, finished)):
            raise Lost

    async def _keep(self, c: Connection, finished: bool) -> bool:
        progress = self._progress
        if finished and (progress.changed or progress.removed):
            counts = {"changed": progress.changed, "removed": progress.removed}
            await queries_write.add_event(c, self._tenant, UNBOUND, "vault_index", None, counts)
        return await queries.note(c, self._tenant, self._id, progress, finished=finished)

    async def _do(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        return await self._database.transaction(self._tenant, work, Deadline(_PATIENCE))


def look(folder: int, entries: Iterator[Entry], known: Mapping[str, bytes]) -> Batch:
    """Reads files until enough of them differ from what is known."""
    batch = Batch([], [], [], [], ended=False)
    size = 0
    for number, entry in enumerate(entries, 1):
        size += _look(folder, entry, known, batch)
        if size >= _BATCH_BYTES or number == _BATCH_FILES:
            return batch
    return batch._replace(ended=True)


def _look(folder: int, entry: Entry, known: Mapping[str, bytes], batch: Batch) -> int:
    """Answers how many bytes it keeps."""
    if entry.refused is not None:
        batch.refused.append(entry)
        if entry.unknown:
            batch.unknown.append(entry.path)
        return 0
    try:
        content = read_file(folder, entry.path, most_bytes(entry.path))
    except Unreadable as error:
        batch.refused.append(Entry(entry.path, error.reason))
        if error.passing:
            batch.unknown.append(entry.path)
        return 0
    hashed = hashlib.sha256(_READING + content.data).digest()
    if known.get(entry.path) == hashed:
        batch.stays.append(entry.path)
        return 0
    batch.changed.append(Changed(entry.path, content, hashed))
    return len(content.data)
