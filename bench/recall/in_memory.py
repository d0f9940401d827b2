"""The same questions to peers' memories, through a copy in memory and through the statement."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np

from bench.recall.data import MODEL, Held
from bench.recall.measuring import EXACT_PEERS, Asked, K, questions
from services.agent_memory.memories import queries_search as queries
from services.agent_memory.vector_index.service import VectorIndex
from shared.concurrency.tasks import background
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.search.evidence import Candidate, SearchResult, candidate_from_row
from shared.search.hot.scopes import HotScopes
from shared.search.hot.search import MOST_CODED, HotStore
from shared.search.store import Hnsw, StoreQuery, StoreSearch

_STORE, _COUNT, _MEGABYTES, _PATIENCE = "memories", 100, 64, 120.0
_INDEXED = "insert into memory.large_tenants (tenant, complete) values ($1, true) on conflict do nothing"


async def measure(
    dsn: str, owner: asyncpg.Connection[Any], held: Sequence[Held]
) -> dict[str, dict[str, float]]:
    """Rows of figures by the way of asking. `dsn` is the service's; `held` are of one tenant."""
    await owner.execute(_INDEXED, held[0].tenant)
    asked = await questions(owner, held, _COUNT)
    database, scopes = Database(dsn), HotScopes(_MEGABYTES)
    await database.open()
    before = _resident()
    try:
        ways = {"statement": _search(database), "copy": _search(database, scopes)}
        async with background(scopes.load_forever):
            began = time.monotonic()
            while not scopes.bytes:
                await _ask(ways["copy"], asked[0])
                await asyncio.sleep(0.1)
            loaded = time.monotonic() - began
            for search in ways.values():  # plans, and which words are common
                await _ask(search, asked[1])
            rows = {name: await _row(search, owner, asked) for name, search in ways.items()}
        megabytes, grown = scopes.bytes / 1e6, _resident() - before
        rows["copy"] |= {"read_s": round(loaded, 1), "mb": round(megabytes, 1), "rss_mb": round(grown, 1)}
        return rows
    finally:
        await database.close()


def _search(database: Database, scopes: HotScopes | None = None) -> StoreSearch:
    hot = None
    if scopes is not None:
        hot = HotStore(database, scopes, _STORE, queries.HOT_PEERS, most_coded=MOST_CODED, excludes=True)
    hnsw = Hnsw(queries.count_peers, queries.common_among_peers, VectorIndex(database).covers)
    return StoreSearch(database, _STORE, queries.SEARCH_PEERS, _candidate, hnsw, hot)


def _candidate(row: Any) -> Candidate:
    return candidate_from_row(row, row["content"])


async def _ask(search: StoreSearch, asked: Asked) -> SearchResult:
    query = StoreQuery(query=asked.text, vector=asked.vector, model=MODEL)
    scope = queries.peers_scope(asked.tenant, asked.agent)
    return await search.search(query, scope, Deadline(_PATIENCE))


async def _row(
    search: StoreSearch, owner: asyncpg.Connection[Any], asked: Sequence[Asked]
) -> dict[str, float]:
    times, found = list[float](), list[SearchResult]()
    cpu = time.process_time()
    for each in asked:
        began = time.perf_counter()
        found.append(await _ask(search, each))
        times.append((time.perf_counter() - began) * 1000)
    cpu = (time.process_time() - cpu) * 1000 / len(asked)
    recall = [_share(result, await _nearest(owner, each)) for each, result in zip(asked, found, strict=True)]
    p50, p95 = (round(float(np.percentile(times, q)), 1) for q in (50, 95))
    return {
        "recall_at_10": round(float(np.mean(recall)), 4),
        "p50_ms": p50,
        "p95_ms": p95,
        "least_ms": round(min(times), 1),
        "own_cpu_ms": round(cpu, 1),
    }


async def _nearest(owner: asyncpg.Connection[Any], asked: Asked) -> set[int]:
    rows = await owner.fetch(EXACT_PEERS, asked.tenant, MODEL, asked.scope, asked.vector)
    return {row["item_id"] for row in rows}


def _share(result: SearchResult, wanted: set[int]) -> float:
    near = [each for each in result.stores[_STORE].candidates if each.cosine is not None]
    top = {each.id for each in sorted(near, key=lambda each: -(each.cosine or 0.0))[:K]}
    return len(top & wanted) / max(1, len(wanted))


def _resident() -> float:
    """Megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6
