"""Makes items of the queue of rows."""

from __future__ import annotations

from collections.abc import Callable

import asyncpg
import msgspec

from shared.review.schemas import Candidate, Shown

_NOT_SHOWN = ("looked", "last", "other")


def candidate(store: str) -> Callable[[asyncpg.Record], Candidate]:
    """For rows with the fields of Shown, where it went on, and perhaps the `other` item as an object."""

    def of(row: asyncpg.Record) -> Candidate:
        fields = {name: value for name, value in row.items() if name not in _NOT_SHOWN}
        other = row.get("other")
        near = None if other is None else msgspec.convert({**other, "store": store}, Shown)
        return Candidate(store=store, other=near, **fields)

    return of
