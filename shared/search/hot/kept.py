"""Rows that a search read before. Postgres says which version of a row is shown, and sends only what is not known."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import asyncpg
import msgspec
from msgspec.structs import replace

from shared.search.evidence import Candidate
from shared.search.hot.matching import Match

# Some 3 kB each.
_MOST = 4_096

_Key: TypeAlias = tuple[str, int, int]
"""A tenant, an item, and the number of its chunk."""


class Kept(msgspec.Struct, eq=False):
    version: str | None
    """The transactions that wrote the item's row and the chunk."""
    record: asyncpg.Record
    candidate: Candidate | None = None
    """What a store made of the row, for one of the questions."""


class KeptRows:
    """The rows used last. A chunk of a long item is kept if it has a text of its own, and not the whole item's."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._rows: OrderedDict[_Key, Kept] = OrderedDict()
        self._server: datetime | None = None

    def known(self, server: datetime, tenant: str, found: Sequence[Match]) -> list[Kept | None]:
        """What is kept of each chunk. Another server may have given a version to other rows."""
        if server != self._server:
            self._rows.clear()
            self._server = server
        return [self._used((tenant, each.item, each.chunk)) for each in found]

    def add(self, tenant: str, kept: Kept) -> None:
        record = kept.record
        if kept.version is None or (record["chunks"] != 1 and record.get("body") is None):
            return
        key = tenant, record["item_id"], record["chunk"]
        self._rows[key] = kept
        self._rows.move_to_end(key)
        if len(self._rows) > self._most:
            self._rows.popitem(last=False)

    def drop(self, tenant: str, gone: Match) -> None:
        self._rows.pop((tenant, gone.item, gone.chunk), None)

    def _used(self, key: _Key) -> Kept | None:
        kept = self._rows.get(key)
        if kept is not None:
            self._rows.move_to_end(key)
        return kept


class KeptRow(Mapping[str, Any]):
    """A row of a search: what this question read anew, the kept row, and the evidence."""

    __slots__ = ("_found", "_kept", "_shared")

    def __init__(self, shared: Mapping[str, Any], kept: Kept, found: Match) -> None:
        self._shared, self._kept, self._found = shared, kept, found

    def __getitem__(self, name: str) -> Any:
        if name in _OF_QUESTION:
            return getattr(self._found, name)
        return self._shared[name] if name in self._shared else self._kept.record[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._shared, *self._kept.record.keys(), *_OF_QUESTION]))

    def __len__(self) -> int:
        return len([*self])

    def candidate(self, made: Any) -> Candidate:
        """`made` makes it of what is kept, once: questions about a row differ in their evidence only."""
        if self._kept.candidate is None:
            self._kept.candidate = made({**self})
        found = self._found
        return replace(self._kept.candidate, cosine=found.cosine, places=found.places, tf=found.tfs)


_OF_QUESTION = frozenset(["cosine", "places", "tfs"])
