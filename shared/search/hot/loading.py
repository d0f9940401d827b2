"""Reads a scope into a copy."""

from __future__ import annotations

import asyncio
import time
from functools import partial

from shared.database.postgres import Connection
from shared.search.counts import EXACT_UP_TO
from shared.search.hot import statements
from shared.search.hot.copies import CODED_ROWS, Copy, copy_of
from shared.search.hot.segments import Builder, Segment
from shared.search.hot.statements import HotForms, ScopeValues
from shared.search.hot.vectors import centre_of, codes, exact

# Questions wait for a batch, so the loop and a processor are theirs for so many times as long after it.
_REST = 3


class Loading:
    """The segments of one copy. It keeps at most `most_rows` chunks, `most_bytes` bytes and `most_pending` items that
    wait for their vectors; of more than EXACT_UP_TO chunks, it keeps codes of their vectors.
    """

    def __init__(
        self, forms: HotForms, scope: ScopeValues, most_bytes: int, most_rows: int, most_pending: int
    ) -> None:
        self._forms = forms
        self._scope = scope
        self._most_bytes = most_bytes
        self._most_rows = most_rows
        self._most_pending = most_pending
        self._segments: list[Segment] = []
        self._bytes = 0

    async def read(self, connection: Connection) -> Copy | None:
        """None: the scope has more."""
        seen = await statements.snapshot(connection)
        documents = len(await statements.remaining(connection, self._forms, self._scope))
        if documents > self._most_rows or not await self._read(connection, coded=documents > EXACT_UP_TO):
            return None
        copy = copy_of(self._segments, seen["snapshot"], seen["server"])
        return copy if len(copy.pending) <= self._most_pending else None

    async def _read(self, connection: Connection, *, coded: bool) -> bool:
        """Whether the bytes suffice."""
        builder, most_rows = Builder(), CODED_ROWS if coded else EXACT_UP_TO
        begun = time.monotonic()
        async for rows in statements.copied(connection, self._forms, self._scope):
            for row in rows:
                builder.add(row)
            if self._bytes + builder.size(coded=coded) > self._most_bytes:
                return False
            if builder.rows >= most_rows:
                await self._close(builder, coded=coded)
                builder = Builder()
            await asyncio.sleep(_REST * (time.monotonic() - begun))
            begun = time.monotonic()
        if builder.rows or not self._segments:
            await self._close(builder, coded=coded)
        return True

    async def _close(self, builder: Builder, *, coded: bool) -> None:
        centre = centre_of([segment.vectors for segment in self._segments])
        encode = partial(codes, centre=centre) if coded else exact
        segment = await asyncio.to_thread(builder.build, encode)
        self._segments.append(segment)
        self._bytes += segment.size
