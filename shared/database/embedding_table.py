"""The second level of the embedding cache: a table in the owner's schema, with a bounded number of rows."""

from __future__ import annotations

import asyncio

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from shared.database.postgres import EVERY_TENANT, Database
from shared.database.tenancy import look
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder, EmbeddingSettings, open_embedder
from shared.spending import Meter

ROWS = 200_000
_SECONDS = 5.0
# A write of one vector costs as much as a write of many.
_GATHERED_SECONDS = 0.1

Rows = dict[bytes, NDArray[np.float32]]


class EmbeddingTable:
    """Stores half precision, which changes a cosine in its fourth digit."""

    def __init__(self, database: Database, schema: str) -> None:
        table = f"{schema}.embedding_cache"
        self._database = database
        self._gathered: dict[str, Rows] = {}
        # The sub-select hides from the planner how few the keys are. A plan for so few would be made for each question.
        self._load = look(f"""
            select key, embedding from {table} where tenant = $1 and key = any((select $2::bytea[])::bytea[])""")
        # For a minute after a purge, longer than an embedding takes: nobody knows whose text a vector is of.
        self.store_sql = f"""
            insert into {table} (tenant, key, embedding) select $1, * from unnest($2::bytea[], $3::halfvec[])
            where (select not timeline.was_erased($1, array['vectors'], 60))
            on conflict on constraint embedding_cache_pkey do update set used_at = excluded.used_at"""
        # The release before this one stored rows of no tenant, which nobody reads.
        self.trim_sql = f"""
            delete from {table} where tenant = '' or key in (
                select key from {table} order by used_at desc offset $1)"""

    async def load(self, tenant: str, keys: list[bytes]) -> Rows:
        rows = await self._database.look(tenant, self._load, [keys], Deadline(_SECONDS))
        return {row["key"]: np.asarray(row["embedding"].to_numpy(), np.float32) for row in rows}

    async def store(self, tenant: str, vectors: Rows) -> None:
        """The first call writes what the tenant's later calls add within a moment. These return at once."""
        gathered = self._gathered.get(tenant)
        if gathered is not None:
            gathered |= vectors
            return
        self._gathered[tenant] = {**vectors}
        try:
            await asyncio.sleep(_GATHERED_SECONDS)
        finally:
            gathered = self._gathered.pop(tenant)
        await self._write(tenant, gathered)

    async def _write(self, tenant: str, vectors: Rows) -> None:
        keys = sorted(vectors)
        values = [HalfVector(vectors[key]) for key in keys]
        await self._database.run(
            tenant, lambda c: c.execute(self.store_sql, tenant, keys, values), Deadline(_SECONDS)
        )

    async def trim(self) -> None:
        # A transaction, so that the deadline counts and not the shorter limit of the role.
        await self._database.transaction(EVERY_TENANT, lambda c: c.execute(self.trim_sql, ROWS), Deadline(60))


async def open_cached(
    settings: EmbeddingSettings, database: Database, schema: str, meter: Meter | None = None
) -> tuple[CachedEmbedder, EmbeddingTable | None]:
    """The embedder with its caches. The local model is faster than a table and has the in-process level only."""
    inner = await open_embedder(settings, meter=meter)
    if settings.provider == "local":
        return CachedEmbedder(inner, band=settings.cosine_band), None
    table = EmbeddingTable(database, schema)
    cached = CachedEmbedder(inner, load=table.load, store=table.store, band=settings.cosine_band)
    return cached, table
