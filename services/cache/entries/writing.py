"""Writes entries: alone or in batches, once per Idempotency-Key, and combined when they would wait for a lock."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Collection, Sequence
from functools import partial
from itertools import compress, groupby
from typing import NamedTuple

import msgspec

from services.cache.entries.coalescing import Coalescer
from services.cache.entries.indexing import ENTRIES
from services.cache.entries.puts.batches import puts_of
from services.cache.entries.puts.holding import Holding, Row
from services.cache.entries.puts.making import put_of
from services.cache.entries.puts.outcomes import item_of, refusal_of, result_of
from services.cache.entries.queries_write import Held, Put, put_entries, supersedable, supersede
from services.cache.entries.schemas import BatchInput, BatchItem, BatchResult, WriteCacheInput, WriteResult
from services.cache.keyed_writes import KeyedWrites
from services.cache.missions.languages import Languages
from services.cache.missions.queries import DefaultLimits, MissionKey
from shared.auth import Principal
from shared.bindings import fill_in
from shared.body import decode
from shared.concurrency.batching import slices
from shared.concurrency.threads import beside
from shared.database.doorbell import Doorbell
from shared.database.idempotency import Key
from shared.database.index_claims import FRESH_CHARACTERS, Fresh
from shared.database.indexer import Indexer
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import AppError, Invalid
from shared.telemetry import tracing
from shared.text import characters
from shared.validation.values import field_error

_REFUSED: Row = {"entry_id": None, "evicted": 0, "refused": "supersedes"}
_DECODER = msgspec.json.Decoder(WriteCacheInput)
# Others who write to the mission wait for no more than that at once: PostgreSQL reads its words in some 50 ms.
_MOST_CHARACTERS = 100_000


class MissionItems(msgspec.Struct):
    """The results of a batch's entries for one mission, as an idempotency record stores them."""

    items: list[BatchItem]


class _Written(NamedTuple):
    mission: MissionKey
    put: Put
    entry_id: int


class EntryWriter:
    def __init__(
        self,
        database: Database,
        keyed: KeyedWrites,
        doorbell: Doorbell,
        indexer: Indexer,
        languages: Languages,
        *,
        model: str,
        limits: DefaultLimits,
        tags: Collection[str] | None,
    ) -> None:
        """`tags` are the allowed tags; None allows any."""
        self._database = database
        self._keyed = keyed
        self._doorbell = doorbell
        self._indexer = indexer
        self._languages = languages
        self._tags = tags
        self._put_entries = partial(put_entries, model=model, limits=limits)
        self._holding = Holding(self._put_entries, limits)
        self._puts: Coalescer[MissionKey, Put, Row] = Coalescer(database.call, self._put_entries)

    async def stop(self) -> None:
        await self._puts.stop()

    @tracing.memory("create_memory", "cache")
    async def write(
        self,
        principal: Principal,
        entry: WriteCacheInput,
        key: Key | None,
        deadline: Deadline,
        *,
        wait_indexed: bool = False,
    ) -> WriteResult:
        """Raises Unprocessable for an entry larger than the budget, or Conflict when only checkpoints are left."""
        self._check(principal, entry)
        mission = MissionKey(principal.tenant, entry.mission_id)
        languages = (await self._languages.of(principal.tenant, [entry.mission_id], deadline)).languages
        put = await beside(characters(entry), put_of, principal, entry, languages)
        if key is None:
            try:
                row = await self._put_at_once(mission, put, deadline)
            except Held:
                row = await self._put_alone(mission, put, deadline)
            result = result_of(put, row)
        else:
            result = await self._write_once(mission, put, key, deadline)
        self._announce(principal.tenant, [_Written(mission, put, result.id)])
        if wait_indexed and result.id > 0:
            result.indexed = await self._indexer.wait_indexed(
                ENTRIES.name, principal.tenant, result.id, deadline
            )
        return result

    @tracing.memory("create_memory", "cache")
    async def write_batch(
        self, principal: Principal, batch: BatchInput, key: Key | None, deadline: Deadline
    ) -> BatchResult:
        """Writes each entry as a single write would, those of one mission in order."""
        entries, refused = self._entries_of(principal, batch)
        missions = {entry.mission_id for entry in entries.values()}
        languages = (await self._languages.of(principal.tenant, [*missions], deadline)).languages
        puts, items = await puts_of(principal, entries, languages)
        items.update(refused)

        async def write(mission_id: str) -> None:
            mission, of_mission = MissionKey(principal.tenant, mission_id), puts[mission_id]
            written = await self._write_to(mission, list(of_mission.values()), key, deadline)
            items.update(zip(of_mission, written, strict=True))

        await asyncio.gather(*map(write, puts))
        self._announce(
            principal.tenant,
            [
                _Written(MissionKey(principal.tenant, mission_id), put, data.id)
                for mission_id, of_mission in puts.items()
                for position, put in of_mission.items()
                if (data := items[position].data) is not None
            ],
        )
        return BatchResult(
            entries=[items[position] for position in sorted(items)],
            written=sum(item.data is not None for item in items.values()),
        )

    def _entries_of(
        self, principal: Principal, batch: BatchInput
    ) -> tuple[dict[int, WriteCacheInput], dict[int, BatchItem]]:
        """The entries and the items that are refused, by position."""
        entries: dict[int, WriteCacheInput] = {}
        refused: dict[int, BatchItem] = {}
        for position, raw in enumerate(batch.entries):
            try:
                entry = decode(bytes(raw), _DECODER, principal)
                fill_in(entry, principal)
                self._check(principal, entry)
                entries[position] = entry
            except AppError as error:
                refused[position] = refusal_of(error)
        return entries, refused

    def _check(self, principal: Principal, entry: WriteCacheInput) -> None:
        principal.require_mission(entry.mission_id)
        principal.require_agent(entry.agent_name)
        principal.require_user(entry.user_id)
        require_tags(entry.tags, self._tags)

    def _announce(self, tenant: str, written: Sequence[_Written]) -> None:
        self._doorbell.ring(tenant)
        self._indexer.wake(_fresh(written))

    async def _write_to(
        self, mission: MissionKey, puts: Sequence[Put], key: Key | None, deadline: Deadline
    ) -> list[BatchItem]:
        if key is None:
            return await self._write_items(mission, puts, deadline)
        try:
            return await self._write_all_once(mission, puts, key, deadline)
        except AppError as error:
            return [refusal_of(error)] * len(puts)

    async def _write_items(
        self, mission: MissionKey, puts: Sequence[Put], deadline: Deadline
    ) -> list[BatchItem]:
        """In order. Those that supersede another take a transaction of their own."""
        items: list[BatchItem] = []
        for alone, some in groupby(puts, key=lambda put: put.supersedes is not None):
            for part in [[put] for put in some] if alone else slices(some, _length, _MOST_CHARACTERS):
                rows = [Held()] if alone else await self._puts.put_all(mission, part, deadline)
                for put, row in zip(part, rows, strict=True):
                    items.append(await self._settled(mission, put, row, deadline))
        return items

    async def _settled(
        self, mission: MissionKey, put: Put, row: Row | BaseException, deadline: Deadline
    ) -> BatchItem:
        try:
            if isinstance(row, Held):
                row = await self._put_alone(mission, put, deadline)
            if isinstance(row, BaseException):
                raise row
            return item_of(put, row)
        except AppError as error:
            return refusal_of(error)

    def _put_at_once(self, mission: MissionKey, put: Put, deadline: Deadline) -> Awaitable[Row]:
        """Raises Held if it may have to wait for a reviewer."""
        write = self._puts.put if put.supersedes is None else self._put_alone
        return write(mission, put, deadline)

    async def _put_alone(self, mission: MissionKey, put: Put, deadline: Deadline) -> Row:
        (row,) = await self._database.transaction(
            mission.tenant, lambda c: self._put_superseding(c, mission, [put]), deadline
        )
        return row

    async def _put_superseding(
        self, connection: Connection, mission: MissionKey, puts: Sequence[Put]
    ) -> Sequence[Row]:
        """Refuses an entry that names no other that it may supersede, and puts the rest. Needs a transaction."""
        # Asked before any is put: that may evict what one of them supersedes.
        allowed = [await supersedable(connection, mission, put) for put in puts]
        rest = [*compress(puts, allowed)]
        rows = await self._put_or_wait(connection, mission, rest)
        for put, row in zip(rest, rows, strict=True):
            if put.supersedes is not None and row["refused"] is None and row["entry_id"] > 0:
                await supersede(connection, mission.tenant, put.supersedes, row["entry_id"])
        written = iter(rows)
        return [next(written) if may else _REFUSED for may in allowed]

    async def _put_or_wait(
        self, connection: Connection, mission: MissionKey, puts: Sequence[Put]
    ) -> Sequence[Row]:
        if not puts:
            return []
        try:
            rows: Sequence[Row] = await self._put_entries(connection, mission, puts)
        except Held:
            rows = await self._holding.put_or_wait(connection, mission, puts)
        return rows

    async def put_reviewed(self, c: Connection, mission: MissionKey, put: Put) -> int:
        """Writes an entry that a reviewer approved. What it was to supersede may be gone by now."""
        (row,) = await self._put_entries(c, mission, [put], reviewed=True)
        entry_id = result_of(put, row).id
        if put.supersedes is not None:
            await supersede(c, mission.tenant, put.supersedes, entry_id)
        return entry_id

    async def _write_once(self, mission: MissionKey, put: Put, key: Key, deadline: Deadline) -> WriteResult:
        async def write(connection: Connection) -> WriteResult:
            (row,) = await self._put_superseding(connection, mission, [put])
            return result_of(put, row)

        about = key.about([put.agent_name], [put.user_id])
        return await self._keyed.once(mission.tenant, mission.mission_id, about, WriteResult, write, deadline)

    async def _write_all_once(
        self, mission: MissionKey, puts: Sequence[Put], key: Key, deadline: Deadline
    ) -> list[BatchItem]:
        """One transaction and one record per mission, so that a retry completes an interrupted batch."""

        async def write(connection: Connection) -> MissionItems:
            rows = await self._put_superseding(connection, mission, puts)
            return MissionItems([item_of(put, row) for put, row in zip(puts, rows, strict=True)])

        kept = await self._keyed.once(
            mission.tenant,
            mission.mission_id,
            _key_of(key, mission).about((put.agent_name for put in puts), (put.user_id for put in puts)),
            MissionItems,
            write,
            deadline,
            status=200,
        )
        return kept.items


def _length(put: Put) -> int:
    return sum(map(len, put.chunks))


def _fresh(written: Sequence[_Written]) -> list[Fresh]:
    """Nothing of a large write, which can wait for its turn."""
    if sum(_length(each.put) for each in written) > FRESH_CHARACTERS:
        return []
    return [
        Fresh(each.mission.tenant, f"mission:{each.mission.mission_id}", ENTRIES.name, each.entry_id)
        for each in written
        if each.entry_id > 0
    ]


def require_tags(tags: Sequence[str], allowed: Collection[str] | None) -> None:
    """Raises Invalid for a tag that is not in `allowed`; None allows any."""
    if allowed is not None and (unknown := [tag for tag in tags if tag not in allowed]):
        known = sorted(allowed)
        message = f"must be one of {', '.join(known)}"
        raise Invalid.of(field_error(f"tags[{tags.index(tag)}]", message, known, tag) for tag in unknown)


def _key_of(key: Key, mission: MissionKey) -> Key:
    """A batch's key for one of its missions."""
    digest = hashlib.sha256(mission.mission_id.encode()).hexdigest()[:32]
    return msgspec.structs.replace(key, value=f"{key.value} {digest}")
