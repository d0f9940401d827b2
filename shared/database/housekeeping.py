"""Periodic cleanup on every replica of an owner: old idempotency records and the embedding cache."""

from __future__ import annotations

from datetime import timedelta

from shared.concurrency.tasks import every
from shared.database.embedding_table import EmbeddingTable
from shared.database.idempotency import Records
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline

# Longer than any client keeps retrying.
KEEP_RECORDS = timedelta(days=7)
SWEPT_AT_ONCE = 5_000
_SWEEP_SECONDS = 10.0
_EVERY_SECONDS = 3_600.0


async def tidy_forever(database: Database, records: Records, table: EmbeddingTable | None) -> None:
    async def tidy() -> None:
        if table is not None:
            await table.trim()
        await sweep(database, records)

    await every(_EVERY_SECONDS, "tidying", tidy)


async def sweep(database: Database, records: Records, most: int = SWEPT_AT_ONCE) -> int:
    """Returns how many records were old. After days without a sweep, one statement for all would take too long."""
    swept = 0
    while True:
        status = await database.run(
            EVERY_TENANT, lambda c: c.execute(records.sweep_sql, KEEP_RECORDS, most), Deadline(_SWEEP_SECONDS)
        )
        count = int(status.rpartition(" ")[2])
        swept += count
        if count < most:
            return swept
