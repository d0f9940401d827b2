"""Which texts are embedded next: tenants take turns, each in slices, and small items come before large. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import asyncpg
from pgvector import HalfVector

from shared.database.index_queue import Embedded, IndexedStore

# The characters that a round embeds, for all tenants together: the local model needs about 3 s for them. A round takes
# at least one text of each of its tenants.
ROUND = 8_000
TENANTS = 8
# The small items that wait here for a tenant, beside one large item: as many as a model embeds in a third of a second.
SMALL_ITEMS, MOST_ITEMS = 8, 32
_SECONDS = 0.32


@dataclass(slots=True, eq=False)
class Item:
    """A leased item, with the vectors that its first texts have so far."""

    store: IndexedStore
    row: asyncpg.Record
    texts: list[str]
    vectors: list[HalfVector] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, int]:
        return self.store.name, self.row["tenant"], self.row["item_id"]

    @property
    def tenant(self) -> str:
        tenant: str = self.row["tenant"]
        return tenant

    @property
    def large(self) -> bool:
        return sum(map(len, self.texts)) > ROUND

    @property
    def complete(self) -> bool:
        return len(self.vectors) == len(self.texts)

    def left(self) -> list[str]:
        return self.texts[len(self.vectors) :]

    def embedded(self) -> Embedded:
        return Embedded(self.row, self.vectors)


def small_items(seconds_per_text: float) -> int:
    """A fast model has more at once, because each round takes four statements."""
    return max(SMALL_ITEMS, min(MOST_ITEMS, int(_SECONDS / max(seconds_per_text, 0.001))))


class Part(NamedTuple):
    """The next texts of an item."""

    item: Item
    texts: list[str]


class Turns:
    """The items that this replica has leased, by tenant. The first tenant is the next to take a turn."""

    def __init__(self) -> None:
        self._items: dict[str, dict[tuple[str, str, int], Item]] = {}

    def __iter__(self) -> Iterator[Item]:
        return (item for items in self._items.values() for item in items.values())

    def add(self, item: Item) -> bool:
        """False for a second large item of a tenant, which has to wait in the queue."""
        items = self._items.setdefault(item.tenant, {})
        others = (other for key, other in items.items() if key != item.key)
        if item.large and any(other.large for other in others):
            return False
        items[item.key] = item
        return True

    def remove(self, items: Sequence[Item]) -> None:
        for item in items:
            own = self._items.get(item.tenant, {})
            own.pop(item.key, None)
            if not own:
                self._items.pop(item.tenant, None)

    def full(self, most: int) -> list[str]:
        """The tenants that have `most` items, and may not lease more small ones now."""
        return [tenant for tenant, items in self._items.items() if len(items) >= most]

    def round(self) -> dict[str, list[Part]]:
        """What to embed now, by tenant. These tenants then take their places behind the others."""
        tenants = list(self._items)[:TENANTS]
        parts = {tenant: _slice(self._items[tenant].values(), ROUND // len(tenants)) for tenant in tenants}
        for tenant in tenants:
            self._items[tenant] = self._items.pop(tenant)
        return parts


def _slice(items: Iterable[Item], characters: int) -> list[Part]:
    """The next texts of the smallest items. A large item moves on with each slice, however many small ones come."""
    ordered = sorted(items, key=lambda item: item.large)
    parts: list[Part] = []
    for item in ordered:
        texts = _fitting(item.left(), characters, at_least=int(item.large or not parts))
        if texts or item.complete:
            parts.append(Part(item, texts))
        characters -= sum(map(len, texts))
    return parts


def _fitting(texts: Sequence[str], characters: int, *, at_least: int) -> list[str]:
    taken: list[str] = []
    for text in texts:
        characters -= len(text)
        if characters < 0 and len(taken) >= at_least:
            break
        taken.append(text)
    return taken
