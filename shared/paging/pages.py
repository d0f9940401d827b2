"""The one shape of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from shared.paging.cursors import Cursor

Item = TypeVar("Item")
Row = TypeVar("Row")


class Page(msgspec.Struct, Generic[Item]):
    """A part of a list."""

    data: list[Item]
    next: str | None
    """The `cursor` of the next page; null on the last."""


class PageRows(NamedTuple, Generic[Row]):
    rows: Sequence[Row]
    next: str | None


def page_of(rows: Sequence[Row], limit: int, cursor_of: Callable[[Row], Cursor]) -> PageRows[Row]:
    """Of a query that was asked for one row more than `limit`: that row says whether another page follows."""
    if len(rows) <= limit:
        return PageRows(rows, None)
    return PageRows(rows[:limit], cursor_of(rows[limit - 1]).text())
