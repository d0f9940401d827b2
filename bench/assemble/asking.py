"""What is loaded before a bench asks, and the statements that one request for context needs at least."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from bench.assemble.cluster import Cluster
from bench.assemble.data import CALLER, ENTRIES, MISSION, SEED, TENANT, load, questions, texts
from services.agent_memory.memories import queries_search as memory_queries
from services.cache.entries import queries_search as cache_queries
from shared.embeddings.english import load_model
from shared.embeddings.local import LocalEmbedder
from shared.search.sql import search
from shared.search.store import StoreQuery


async def prepare(cluster: Cluster, rows: int) -> tuple[NDArray[np.float32], str]:
    """Loads `rows` memories. Answers the questions' vectors, shape (questions, 512), and their model."""
    embedder = LocalEmbedder(load_model())
    random = np.random.default_rng(SEED + 2)
    seeds = await embedder.embed(texts(random, 120), "document")
    vectors = await embedder.embed(questions(), "query")
    connection = await asyncpg.connect(cluster.database.owner)
    await register_vector(connection)
    await load(connection, rows, seeds, embedder.model)
    await connection.close()
    await embedder.close()
    return vectors, embedder.model


async def statements(
    connections: dict[str, asyncpg.Connection[Any]], vectors: NDArray[np.float32], model: str
) -> Callable[[], Awaitable[dict[str, float]]]:
    """A function that runs each statement of one request, alone, and answers its milliseconds."""
    asked = questions()
    place = 0

    async def timed(call: Awaitable[Any]) -> float:
        started = time.perf_counter()
        await call
        return (time.perf_counter() - started) * 1000

    async def run() -> dict[str, float]:
        nonlocal place
        place += 1
        query, vector = asked[place % len(asked)], HalfVector(vectors[place % len(asked)])
        memory, cache = connections["agent_memory"], connections["cache"]
        asking = StoreQuery(query=query, vector=vector, model=model)
        own = asking.values(memory_queries.own_scope(TENANT, CALLER))
        peers = asking.values(memory_queries.peers_scope(TENANT, CALLER))
        entries = asking.values(cache_queries.missions_scope(TENANT, [f"mission:{MISSION}"]))
        return {
            "own": await timed(search(memory, memory_queries.SEARCH_OWN, own)),
            "peers": await timed(search(memory, memory_queries.SEARCH_PEERS, peers)),
            "cache": await timed(search(cache, cache_queries.SEARCH, entries)),
        }

    return run


async def fill_mission(session: aiohttp.ClientSession, url: str) -> None:
    random = np.random.default_rng(SEED + 1)
    for text in texts(random, ENTRIES):
        body = {"context_type": "intel", "mission_id": MISSION, "content": text, "intel_source": "bench"}
        async with session.post(url + "/api/psychic-cache/write", json=body) as response:
            assert response.status == 201, await response.text()
    await asyncio.sleep(3)
