"""Writes of every kind, each with a mark of its own, and the ledger of those that were acknowledged."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import aiohttp
import asyncpg

from tests.support.calls import Json, lesson, note
from tests.support.cluster import Client, Cluster

_MARK = re.compile(r"p1x\d+x")
_WORDS = ("ibis", "walrus", "harbour", "ledger", "replica", "valve", "lantern", "orbit", "granite", "willow")
_BATCH = 10
# Far below a mission's budget: what is evicted is not lost.
_OF_MISSION = 100
_WRITERS = 12
_AGAIN_SECONDS = 0.05
_BUSY = (429, 503, 502)
_SCHEMAS = ("cache", "memory", "sessions")
# A mark there says nothing about the item itself.
_BESIDE = ("idempotency",)


class Write(NamedTuple):
    kind: str
    method: str
    path: str
    body: Json
    marks: list[str]


@dataclass
class Ledger:
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Kinds by their marks."""
    tries: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def kinds(self) -> dict[str, int]:
        return dict(Counter(self.acknowledged.values()))


class Source:
    """`session`: one whose trail and objects are written to."""

    def __init__(self, name: str, session: str, seed: int) -> None:
        self._name, self._session = name, session
        self._chance = random.Random(seed)
        self._numbers = itertools.count()
        self._entries = 0
        self._kinds: Iterator[str] = itertools.cycle(
            ("entry", "batch", "memory", "knowledge", "fact", "trail", "object", "checkpoint")
        )

    def next(self) -> Write:
        kind = next(self._kinds)
        marks = [self._mark() for _ in range(_BATCH if kind == "batch" else 1)]
        texts = [self._text(mark) for mark in marks]
        method, path, body = getattr(self, f"_{kind}")(marks, texts)
        return Write(kind, method, path, body, marks)

    def _mark(self) -> str:
        return f"p1x{next(self._numbers):07d}x"

    def _text(self, mark: str) -> str:
        """Unlike any other, so that nothing is taken for a repeat."""
        words = [f"{self._chance.choice(_WORDS)}{self._chance.getrandbits(48):x}" for _ in range(6)]
        return f"{mark} {' '.join(words)}"

    def _mission(self, entries: int = 1) -> str:
        self._entries += entries
        return f"{self._name}-{self._entries // _OF_MISSION}"

    def _entry(self, _: list[str], texts: list[str]) -> tuple[str, str, Json]:
        return "POST", "/api/psychic-cache/write", note(self._mission(), texts[0])

    def _batch(self, _: list[str], texts: list[str]) -> tuple[str, str, Json]:
        mission = self._mission(len(texts))
        return "POST", "/api/psychic-cache/write/batch", {"entries": [note(mission, text) for text in texts]}

    def _memory(self, _: list[str], texts: list[str]) -> tuple[str, str, Json]:
        return "POST", "/api/agent-memory/commit", lesson(self._name, texts[0])

    def _knowledge(self, _: list[str], texts: list[str]) -> tuple[str, str, Json]:
        body = {"kind": "knowledge", "scope": f"agent:{self._name}", "content": texts[0]}
        return "POST", "/api/memory", body

    def _fact(self, marks: list[str], texts: list[str]) -> tuple[str, str, Json]:
        body = {"scope": f"agent:{self._name}", "subject": marks[0], "predicate": "says", "object": texts[0]}
        return "POST", "/api/kg/write", body

    def _trail(self, _: list[str], texts: list[str]) -> tuple[str, str, Json]:
        said = {"messages": [{"role": "user", "text": texts[0]}]}
        return "POST", f"/api/sessions/{self._session}/events", said

    def _object(self, marks: list[str], texts: list[str]) -> tuple[str, str, Json]:
        body = {"content": texts[0], "object_type": "tool_result", "source_key": f"{marks[0]}.log"}
        return "POST", f"/api/sessions/{self._session}/objects", body

    def _checkpoint(self, marks: list[str], texts: list[str]) -> tuple[str, str, Json]:
        thread = {"agent_name": self._name, "thread_id": marks[0], "checkpoint_id": "1"}
        return "PUT", "/api/checkpoints", {**thread, "state": {"said": texts[0]}}


async def written(cluster: Cluster, source: Source, ledger: Ledger, ended: asyncio.Event) -> None:
    """Until it has ended. A write is sent again under its key until it is acknowledged."""
    async with cluster.client() as client:
        await asyncio.gather(*(_writes(client, source, ledger, ended) for _ in range(_WRITERS)))


async def _writes(client: Client, source: Source, ledger: Ledger, ended: asyncio.Event) -> None:
    while not ended.is_set():
        await _write(client, source.next(), ledger, ended)


async def _write(client: Client, write: Write, ledger: Ledger, ended: asyncio.Event) -> None:
    headers = {"idempotency-key": write.marks[0]}
    while not ended.is_set():
        ledger.tries += 1
        try:
            answer = await client.call(write.method, write.path, write.body, headers=headers)
        except (aiohttp.ClientError, OSError):
            await asyncio.sleep(_AGAIN_SECONDS)
            continue
        if answer.status < 300:
            ledger.acknowledged.update(dict.fromkeys(_kept(write, answer.body), write.kind))
            return
        if answer.status not in _BUSY:
            ledger.refused[f"{write.kind} {answer.status}"] += 1
            return
        await asyncio.sleep(_AGAIN_SECONDS)


def _kept(write: Write, body: Any) -> list[str]:
    """Of a batch, those whose own result says so."""
    if write.kind != "batch":
        return write.marks
    results = zip(write.marks, body["data"]["entries"], strict=True)
    return [mark for mark, result in results if result["status"] < 300]


async def lost(superuser: str, ledger: Ledger) -> list[str]:
    """Marks that no item holds."""
    found: set[str] = set()
    c = await asyncpg.connect(superuser)
    try:
        tables = await c.fetch(
            "select format('%I.%I', table_schema, table_name) as name, table_name from information_schema.tables "
            "where table_type = 'BASE TABLE' and table_schema = any($1)",
            list(_SCHEMAS),
        )
        for row in tables:
            if row["table_name"] in _BESIDE:
                continue
            # Names of tables are the database's own.
            texts = await c.fetch(f"select t::text as text from {row['name']} t where t::text like '%p1x%'")
            found.update(mark for each in texts for mark in _MARK.findall(each["text"]))
    finally:
        await c.close()
    return sorted(ledger.acknowledged.keys() - found)
