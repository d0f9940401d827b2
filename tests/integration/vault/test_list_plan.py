"""A page of files looks for what waits for its vectors once, whatever else waits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import asyncpg

from local.database import Database as Server
from services.agent_memory.vault.queries import LIST
from tests.support.vault.state import TENANT

FILES, PAGE, PARTS = 2_000, 100, 2
FILL_FILES = """
insert into memory.files (tenant, path, part, piece, pieces, origin, hash, scope, format, title, characters, first_line,
    last_line, next_line, chunks, written_by, source_kind)
select $1, 'notes/' || lpad(n::text, 6, '0') || '.md', part, 0, 1, 'upload', sha256(n::text::bytea), 'vault',
    'markdown', 'A note', 900, 1, 20, 21, 1, 'k', 'document'
from generate_series(1, $2) n cross join generate_series(0, $3 - 1) part
"""
FILL_QUEUE = """
insert into memory.index_queue (tenant, store, scope, item_id, model)
select tenant, 'vault_index', scope, id, 'm' from memory.files where path > $1
"""


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from nodes(child)


async def test_a_page_of_files_reads_the_queue_for_its_own_parts(fresh_database: Server) -> None:
    owner = await asyncpg.connect(fresh_database.owner)
    await owner.execute(FILL_FILES, TENANT, FILES, PARTS)
    await owner.execute(FILL_QUEUE, "notes/000010.md")
    await owner.execute("vacuum analyze memory.files")
    await owner.execute("vacuum analyze memory.index_queue")
    await owner.close()
    c = await asyncpg.connect(
        fresh_database.services["agent_memory"], server_settings={"scrubjay.tenant": TENANT}
    )
    try:
        values = (TENANT, None, None, None, PAGE)
        assert [row["indexed"] for row in await c.fetch(LIST, *values)] == [True] * 10 + [False] * 90
        text = await c.fetchval(f"explain (analyze, format json) {LIST}", *values)
    finally:
        await c.close()
    plan = list(nodes(json.loads(text)[0]["Plan"]))
    queue, files = (
        [node for node in plan if node.get("Relation Name") == name] for name in ("index_queue", "files")
    )
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in queue) <= PAGE * PARTS
    # One more tells that the last file is whole.
    assert sum(node["Actual Rows"] for node in files) <= PAGE * PARTS + 1
