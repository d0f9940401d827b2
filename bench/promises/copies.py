"""What copies of scopes take of an owner's memory: `python -m bench.promises.copies`.

One owner holds 100,000 chunks of 200 agents in copies. Another has a budget of a thirteenth of that: it is asked about
10,000 agents once each (SCALE=small: 1,000), and then about the 200 as often as would copy each of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager

import aiohttp
import numpy as np
from numpy.typing import NDArray

from bench.assemble.cluster import Cluster
from bench.growth import loading
from bench.growth.data import Layout, Place, Pool
from bench.promises.resident import megabytes, remote_model
from bench.recall.data import SEED, Words
from local.servers import temporary_folder
from local.services import Service
from shared.auth import Principal
from shared.search.evidence import encode_vector

_AGENTS, _EACH, _TENANTS = 200, 500, 10
_ONCE = 1_000 if os.environ.get("SCALE") == "small" else 10_000
_MODEL, _TEXTS, _WIDTH, _STORED = "synthetic", 5_000, 384, 512
_BUDGETS = {"room": 128, "narrow": 8}  # megabytes
_MEGABYTE = 1024 * 1024
_PATIENCE = 900.0


def main() -> None:
    places = [Place(f"tenant-{n % _TENANTS}", f"agent-{n}", _EACH, 0) for n in range(_AGENTS)]
    pool = _pool()
    with ExitStack() as cleanup:
        cluster = Cluster(cleanup.enter_context(temporary_folder("scrubjay-copies-")), cleanup)
        asyncio.run(loading.load(cluster.database.admin, Layout(places, []), pool))
        owners = {kind: _owner(cluster, kind, budget) for kind, budget in _BUDGETS.items()}
        cold = {kind: megabytes(owner.pid) for kind, owner in owners.items()}
        room = asyncio.run(_held(cluster, owners["room"], places, pool.vectors))
        narrow = asyncio.run(_most(cluster, owners["narrow"], places, pool.vectors))
        figures = {
            "chunks": _AGENTS * _EACH,
            "budget_mb": _BUDGETS["room"],
            "copies_mb": round(room / _MEGABYTE, 1),
            "cold_mb": cold["room"],
            "owner_mb": megabytes(owners["room"].pid),
            "narrow_mb": megabytes(owners["narrow"].pid),
            "most_over_budget": round(narrow / _BUDGETS["narrow"] / _MEGABYTE, 3),
        }
    print(json.dumps(figures))


def _pool() -> Pool:
    random = np.random.default_rng(SEED)
    vectors = np.zeros((_TEXTS, _STORED), np.float32)
    vectors[:, :_WIDTH] = random.normal(size=(_TEXTS, _WIDTH)) / np.sqrt(_WIDTH)
    noises = np.zeros((7, _STORED), np.float32)
    noises[:, :_WIDTH] = random.normal(size=(7, _WIDTH)) / np.sqrt(_WIDTH) / 5
    return Pool(Words().texts(random, _TEXTS), vectors, noises, _MODEL)


def _owner(cluster: Cluster, kind: str, budget: int) -> Service:
    cluster.start(kind, {**remote_model(), "SCRUBJAY_HOT_SCOPES_MB": str(budget)})
    (owner,) = (service for service in cluster.services[kind] if service.name == "agent-memory")
    return owner


class _Asking:
    def __init__(self, cluster: Cluster, owner: Service, http: aiohttp.ClientSession, vector: str) -> None:
        self._cluster, self._url, self._http, self._vector = cluster, owner.url, http, vector

    async def ask(self, tenant: str, agent: str) -> None:
        principal = Principal(tenant=tenant, key="bench", access=frozenset({"read"}))
        body = {
            "query": "what happened",
            "stores": {"agent_memory_own": [f"agent:{agent}"]},
            "agent": agent,
            "vector": self._vector,
            "model": _MODEL,
        }
        headers = self._cluster.tokens.identity("agent_memory", principal)
        async with self._http.post(f"{self._url}/internal/search", json=body, headers=headers) as response:
            # A busy database is late now and then. The next round asks again.
            assert response.status in (200, 503), await response.text()
            await response.read()

    async def gauge(self, name: str) -> float:
        async with self._http.get(f"{self._url}/metrics") as response:
            found = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", await response.text(), re.MULTILINE)
        return sum(map(float, found))


@asynccontextmanager
async def _asking(cluster: Cluster, owner: Service, vectors: NDArray[np.float32]) -> AsyncIterator[_Asking]:
    async with aiohttp.ClientSession() as http:
        yield _Asking(cluster, owner, http, encode_vector(vectors[0]))


async def _held(
    cluster: Cluster, owner: Service, places: Sequence[Place], vectors: NDArray[np.float32]
) -> float:
    """Bytes of the copies of all places, once each of them is copied and has answered."""
    async with _asking(cluster, owner, vectors) as asking, asyncio.timeout(_PATIENCE):
        while await asking.gauge("scrubjay_hot_scopes") < len(places):
            await _ask_all(asking, places)
        await _ask_all(asking, places)
        return await asking.gauge("scrubjay_hot_bytes")


async def _most(
    cluster: Cluster, owner: Service, places: Sequence[Place], vectors: NDArray[np.float32]
) -> float:
    """The most bytes that copies had, as far as one sees between questions."""
    most = 0.0
    async with _asking(cluster, owner, vectors) as asking, asyncio.timeout(_PATIENCE):
        for number in range(_ONCE):
            await asking.ask("tenant-0", f"once-{number}")
        copied = 0.0
        while copied < len(places):
            for place in places:
                await asking.ask(place.tenant, place.name)
                most = max(most, await asking.gauge("scrubjay_hot_bytes"))
            copied = await asking.gauge("scrubjay_hot_loads_total")
    return most


async def _ask_all(asking: _Asking, places: Sequence[Place]) -> None:
    for place in places:
        await asking.ask(place.tenant, place.name)


if __name__ == "__main__":
    main()
