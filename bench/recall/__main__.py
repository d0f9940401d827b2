"""Search over many agents' memories against bare SQL: recall of the vector arm, and time.

`python -m bench.recall [rows]`: one tenant with 100 agents of skewed sizes, then 100 tenants of skewed sizes with
three agents each; clustered vectors, words by Zipf's law. Recall@10 is against exact search. Time is that of the
service's search (statement, evidence, relevance) over that of a straightforward hybrid statement with the same
indexes, asked in turns.
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
from bench.recall.measuring import measure


async def run(dsn: str, held: Sequence[Held]) -> dict[str, Any]:
    connection = await asyncpg.connect(dsn)
    await register_vector(connection)
    try:
        await load(connection, held)
        return await measure(connection, held)
    finally:
        await connection.close()


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    figures: dict[str, Any] = {}
    for name, held in (("agents", one_tenant(rows)), ("tenants", many_tenants(rows))):
        with temporary_database() as dsn:
            figures[name] = asyncio.run(run(dsn, held))
        for arm, row in figures[name].items():
            print(f"100 {name}, {arm}: " + ", ".join(f"{key} {value}" for key, value in row.items()))
    print(json.dumps({"rows": rows, "seed": SEED, **figures}))


if __name__ == "__main__":
    main()
