"""The query parameters that every list takes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from litestar.params import Parameter

from shared.paging.cursors import MAX_CURSOR

DEFAULT_LIMIT = 100

Limit = Annotated[int, Parameter(ge=1, le=1_000, description="The largest number of items in a page.")]
CursorText = Annotated[
    str | None,
    Parameter(
        min_length=1,
        max_length=MAX_CURSOR,
        description="The `next` of the previous page. Omit it for the first page.",
    ),
]
Since = Annotated[
    datetime | None,
    Parameter(description="Only what was recorded at this time or later. A time without an offset is UTC."),
]
Until = Annotated[
    datetime | None,
    Parameter(description="Only what was recorded before this time. A time without an offset is UTC."),
]
