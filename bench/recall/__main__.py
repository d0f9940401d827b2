"""Search over many agents' memories against bare SQL: recall of the vector arm, and time.

`python -m bench.recall [rows]`: one tenant with 100 agents of skewed sizes, then 100 tenants of skewed sizes with
three agents each; clustered vectors, words by Zipf's law. Recall@10 is against exact search. Time is that of the
service's search (statement, evidence, relevance, with the service's role and tenant) over that of a straightforward
hybrid statement with the same indexes and the owner's role, for whom policies do not count. Both are asked in turns.

Of the one tenant, peers are then asked through a copy in memory, too, with its megabytes and what the process grew by.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

import asyncpg
from pgvector.asyncpg import register_vector

from bench.cluster import temporary_database
from bench.recall.data import SEED, Held, load, many_tenants, one_tenant
from bench.recall.in_memory import measure as in_memory_of
from bench.recall.measuring import measure
from local.database import Database


async def run(database: Database, held: Sequence[Held]) -> dict[str, Any]:
    owner = await asyncpg.connect(database.owner)
    service = await asyncpg.connect(database.services["agent_memory"])
    try:
        for connection in (owner, service):
            await register_vector(connection)
        await load(owner, held)
        figures: dict[str, Any] = await measure(service, owner, held)
        if len({each.tenant for each in held}) == 1:
            in_memory = await in_memory_of(database.services["agent_memory"], owner, held)
            figures |= {f"peers by {way}": row for way, row in in_memory.items()}
        return figures
    finally:
        await service.close()
        await owner.close()


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    figures: dict[str, Any] = {}
    for name, held in (("agents", one_tenant(rows)), ("tenants", many_tenants(rows))):
        with temporary_database() as database:
            figures[name] = asyncio.run(run(database, held))
        for arm, row in figures[name].items():
            print(f"100 {name}, {arm}: " + ", ".join(f"{key} {value}" for key, value in row.items()))
    print(json.dumps({"rows": rows, "seed": SEED, **figures}))


if __name__ == "__main__":
    main()
