"""A round of the index worker, without a database: what becomes of the texts when an embedder fails."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from shared.database.index_claims import JustWritten
from shared.database.index_queue import IndexedStore, QueueStatements, StoreStatements
from shared.database.index_turns import Item, Part
from shared.database.index_worker import IndexWorker
from shared.database.postgres import Database
from shared.embeddings import CachedEmbedder

STORE = IndexedStore(
    name="store",
    statements=StoreStatements(schema="s", items="i", chunks="c", vectors="v"),
    texts=lambda row: [],
)


class OneFails:
    """Fails at once for the tenant `failing`, and takes a moment for the others."""

    model = "m"

    async def embed(self, texts: list[str], kind: str, tenant: str, *, urgency: str) -> list[list[float]]:
        if tenant == "failing":
            raise LookupError(tenant)
        for _ in range(10):
            await asyncio.sleep(0)
        return [[0.0] for _ in texts]


def _part(tenant: str) -> Part:
    row: Any = {"tenant": tenant, "item_id": 1}
    return Part(Item(STORE, row, ["a text"]), ["a text"])


async def test_a_failed_round_ends_when_every_tenants_texts_have_ended() -> None:
    sql = QueueStatements("s")
    worker = IndexWorker(
        cast("Database", None),
        cast("CachedEmbedder", OneFails()),
        sql,
        {},
        JustWritten(sql, "m"),
        lambda key: None,
    )
    parts = {tenant: [_part(tenant)] for tenant in ("failing", "other")}
    with pytest.raises(LookupError):
        await worker._embed_all(parts)
    assert parts["other"][0].item.complete
