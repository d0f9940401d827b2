"""What every owner tidies up now and then, on any replica: old idempotency records, the embedding cache."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import structlog

from shared.database.embedding_table import EmbeddingTable
from shared.database.idempotency import Records
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError

log = structlog.get_logger()

# Longer than any client retries.
KEEP_RECORDS = timedelta(days=7)
_EVERY_SECONDS = 3_600.0


async def tidy_forever(database: Database, records: Records, table: EmbeddingTable | None) -> None:
    while True:
        try:
            await database.run(lambda c: c.execute(records.sweep_sql, KEEP_RECORDS), Deadline(60))
            if table is not None:
                await table.trim()
        except AppError as error:
            log.warning("tidying put off", error=error.detail)
        except Exception as error:
            log.error("tidying failed", exc_info=error)
        await asyncio.sleep(_EVERY_SECONDS)
