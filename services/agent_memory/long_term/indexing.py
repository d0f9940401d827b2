"""How the indexer reads long-term memories, and stores their vectors. Includes the SQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import asyncpg

from shared.database.index_queue import Embedded, Finish, IndexedStore, StoreStatements
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.provenance import spoken

_FINISH_SECONDS = 10.0

# The memory, if it still says what was embedded. An edit waits, and queues it anew. Its hash may cover no text.
HOLD = "select from memory.long_term where tenant = $1 and id = $2 and content = $3 for share"
# The place in the array is the chunk.
FINISH = """
with stored as (
    insert into memory.long_term_vec (tenant, scope, item_id, chunk, model, embedding)
    select $1, i.scope, i.id, g.place - 1, $3, g.embedding
    from memory.long_term i, unnest($4::halfvec[]) with ordinality g(embedding, place)
    where i.tenant = $1 and i.id = $2
    on conflict (tenant, item_id, chunk, model) do update set embedding = excluded.embedding
)
delete from memory.index_queue where tenant = $1 and store = 'memory' and item_id = $2
  and model is not distinct from $3
"""
STATEMENTS = StoreStatements(
    schema="memory",
    items="long_term",
    chunks="long_term_chunks",
    vectors="long_term_vec",
    reads=["content", "coalesce(speaker, '') as who"],
)


def _texts(row: asyncpg.Record) -> list[str]:
    places = zip(row["starts"], row["stops"], strict=True)
    return [spoken(row["who"], row["content"][start:stop]) for start, stop in places]


async def finish(connection: Connection, model: str, embedded: Sequence[Embedded]) -> None:
    for row, vectors in embedded:
        item = row["tenant"], row["item_id"]
        if await connection.fetchrow(HOLD, *item, row["content"]) is not None:
            await connection.execute(FINISH, *item, model, list(vectors))


def finishing(database: Database, model: str) -> Finish:
    """Runs one transaction per tenant."""

    async def run(embedded: Sequence[Embedded]) -> None:
        for tenant, items in groupby(sorted(embedded, key=_place), key=lambda each: each.row["tenant"]):
            work = partial(finish, model=model, embedded=list(items))
            await database.transaction(tenant, work, Deadline(_FINISH_SECONDS))

    return run


def _place(embedded: Embedded) -> tuple[str, int]:
    """Transactions lock items in this order."""
    return embedded.row["tenant"], embedded.row["item_id"]


def long_term(finish: Finish) -> IndexedStore:
    return IndexedStore(name="memory", statements=STATEMENTS, texts=_texts, finish=finish)
