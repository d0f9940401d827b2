"""What became of an entry that was to be written: the result, or why it was refused."""

from __future__ import annotations

import msgspec

from services.cache.entries.puts.holding import Row
from services.cache.entries.queries_write import Put
from services.cache.entries.schemas import BatchItem, WriteResult
from services.cache.entries.text import largest_field
from shared.errors import AppError, Conflict, Invalid, Unprocessable
from shared.telemetry import metrics

_NOT_ITS_OWN = "must be an entry of the same mission, agent and user, whose source is not trusted more"


def result_of(put: Put, row: Row) -> WriteResult:
    """Raises the refusal of an entry that was not written."""
    metrics.EVICTED.inc(row["evicted"])
    if row["refused"] == "larger":
        message = f"an entry of {put.token_count} tokens cannot fit a budget of {row['token_budget']}"
        field = largest_field(msgspec.structs.asdict(put))
        raise Unprocessable(message, errors=[{"field": field, "message": message}])
    if row["refused"] == "supersedes":
        raise Invalid.field("supersedes", _NOT_ITS_OWN)
    if row["refused"] is not None:
        raise Conflict("only the newest checkpoints are left, and the entry does not fit beside them")
    return WriteResult(
        id=row["entry_id"],
        token_count=put.token_count,
        cache_total_tokens=row["total_tokens"],
        evicted_count=row["evicted"],
        expires_at=row["expires_at"],
        review="pending" if row["entry_id"] < 0 else msgspec.UNSET,
    )


def item_of(put: Put, row: Row) -> BatchItem:
    try:
        return BatchItem(201, data=result_of(put, row))
    except AppError as error:
        return refusal_of(error)


def refusal_of(error: AppError) -> BatchItem:
    return BatchItem(error.status, error=error.problem())
