"""T1: an owner's search of a scope that it has copied, beside the same search by SQL.

Both are asked in turn through the call that the context service makes, with the question's vector.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from bench.assemble.cluster import Cluster
from bench.growth import loading
from bench.growth.data import SEED, Place, layout, pool, questions
from bench.growth.measuring import COPIES, KINDS, SQL, request
from bench.load import Load
from local.servers import temporary_folder
from local.services import Service
from shared.auth import Principal
from shared.embeddings.english import load_model
from shared.embeddings.local import LocalEmbedder
from shared.search.evidence import encode_vector

_ROUNDS, _SECONDS = 5, 2.0
# Its scope has 800 chunks.
_ASKED = 1


def main() -> None:
    embedder = LocalEmbedder(load_model())
    made = asyncio.run(pool(embedder))
    vectors = asyncio.run(embedder.embed(questions(), "query"))
    asyncio.run(embedder.close())
    laid_out = layout(10_000, 1)
    with ExitStack() as cleanup:
        folder = cleanup.enter_context(temporary_folder("scrubjay-hot-"))
        cluster = Cluster(folder, cleanup)
        asyncio.run(loading.load(cluster.database.admin, laid_out, made))
        for kind, settings in KINDS.items():
            cluster.start(kind, settings)
        loads = {kind: _load(cluster, kind, laid_out.asked[_ASKED], vectors, made.model) for kind in KINDS}
        figures = asyncio.run(_measure(loads))
    print(json.dumps(figures))


def _load(cluster: Cluster, kind: str, place: Place, vectors: NDArray[np.float32], model: str) -> Load:
    (service,) = (s for s in cluster.services[kind] if s.name == "agent-memory")
    principal = Principal(tenant=place.tenant, key="bench", access=frozenset({"read"}))
    headers = cluster.tokens.identity("agent_memory", principal)
    bodies = (_body(place, text, vector, model) for text, vector in zip(questions(), vectors, strict=True))
    return _to(service, [request("/internal/search", body, headers) for body in bodies])


def _to(service: Service, requests: list[bytes]) -> Load:
    address = urlsplit(service.url)
    return Load(str(address.hostname), int(address.port or 80), requests, SEED)


def _body(place: Place, text: str, vector: NDArray[np.float32], model: str) -> dict[str, Any]:
    return {
        "query": text,
        "stores": {"agent_memory_own": [f"agent:{place.name}"]},
        "agent": place.name,
        "vector": encode_vector(vector),
        "model": model,
    }


async def _measure(loads: dict[str, Load]) -> dict[str, float]:
    milliseconds: dict[str, list[float]] = {kind: [] for kind in loads}
    for load in loads.values():
        await load.closed(2, _SECONDS)
    for _ in range(_ROUNDS):
        for kind, load in loads.items():
            tally = await load.closed(1, _SECONDS)
            assert tally.seconds, dict(tally.statuses)
            milliseconds[kind].append(1000 * tally.percentile(0.5))
    copy, sql = (float(np.median(milliseconds[kind])) for kind in (COPIES, SQL))
    return {"copy_over_sql": round(copy / sql, 3), "copy_ms": round(copy, 2), "sql_ms": round(sql, 2)}


if __name__ == "__main__":
    main()
