"""The bytes that an entry and a memory take on disk, by table and index: `make bench-disk DATA=folder`.

Each turn of the data is written as an entry and then as a memory, in batches, and every vector is awaited.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import asyncpg

from bench.client import ApiError, Client, leaves
from bench.cluster import Address, cluster
from bench.quality.dataset import Row, load
from bench.race.usage import await_indexed
from local.process import LocalError

_BATCH = 100
_SHOWN = 20  # bytes an item
_LIMITS = {"token_budget": 2**31 - 1, "entry_budget": 1_000_000, "ttl_hours": 24 * 365}
# A table's bytes are without its indexes. Partitions count as their table.
_BYTES = """
select regexp_replace(n.nspname || '.' || c.relname, '_p[0-9]{8}', '') as name,
       sum(case when c.relkind = 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end)::bigint as bytes
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('timeline', 'cache', 'memory', 'context') and c.relkind in ('r', 'i')
group by 1
"""

Bytes = Mapping[str, int]
"""By table and index."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.disk", description=__doc__)
    parser.add_argument("data", type=Path, help="the data set's folder")
    arguments = parser.parse_args()
    try:
        rows, _ = load(arguments.data, 0)
        with cluster({}) as address:
            figures = _measure(address, rows)
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    for name, each in figures.items():
        print("\n".join([f"{name}: {sum(each.values())}", *(f"  {n:44} {b:6}" for n, b in each.items())]))
    print(json.dumps(figures))


def _measure(address: Address, rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    figures, held = {}, _held(address.dsn)
    for name, path, body in (
        ("entry", "/api/psychic-cache/write/batch", _entries),
        ("memory", "/api/agent-memory/batch", _memories),
    ):
        asyncio.run(
            _write(address, path, [body(rows[at : at + _BATCH]) for at in range(0, len(rows), _BATCH)], rows)
        )
        await_indexed(address.dsn)
        before, held = held, _held(address.dsn)
        figures[name] = _each(before, held, len(rows))
    return figures


async def _write(
    address: Address, path: str, bodies: Sequence[Mapping[str, Any]], rows: Sequence[Row]
) -> None:
    async with Client(address.url, address.token, connections=1) as client:
        for group in {row.group for row in rows}:
            await client.put(f"/api/psychic-cache/{group}/limits", _LIMITS)
        for body in bodies:
            await client.post(path, body)


def _entries(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "entries": [
            {"mission_id": row.group, **_body(row), "context_type": "intel", "intel_source": "turn"}
            for row in rows
        ]
    }


def _memories(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "memories": [{"agent_name": row.group, **_body(row), "memory_type": "lesson_learned"} for row in rows]
    }


def _body(row: Row) -> dict[str, Any]:
    kept = ("content", "speaker", "session_id", "seq", "occurred_at")
    return {name: row.body[name] for name in kept if name in row.body}


def _held(dsn: str) -> Bytes:
    async def ask() -> Bytes:
        connection = await asyncpg.connect(dsn)
        try:
            await connection.execute("vacuum analyze")
            return {row["name"]: row["bytes"] for row in await connection.fetch(_BYTES)}
        finally:
            await connection.close()

    return asyncio.run(ask())


def _each(before: Bytes, after: Bytes, items: int) -> dict[str, int]:
    """What was added for each item, the largest first."""
    added = {name: (held - before.get(name, 0)) // items for name, held in after.items()}
    return {
        name: added[name] for name in sorted(added, key=lambda name: -added[name]) if added[name] >= _SHOWN
    }


if __name__ == "__main__":
    main()
