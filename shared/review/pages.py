"""Pages of what a reviewer should look at: bounded by what is looked at, not by what is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import asyncpg

from shared.review.schemas import Candidate


def page(
    rows: Sequence[asyncpg.Record], limit: int, looked_at: int, item: Callable[[asyncpg.Record], Candidate]
) -> tuple[list[Candidate], int | None]:
    """`rows` are at least one, each with `looked` and `last`, and with a null id where nothing was found.

    Where to go on follows: behind the last item of a full page, or behind all that was looked at.
    """
    found = [row for row in rows if row["id"] is not None]
    items = [item(row) for row in found[:limit]]
    if len(found) > limit:
        return items, items[-1].id
    return items, rows[0]["last"] if rows[0]["looked"] == looked_at else None
