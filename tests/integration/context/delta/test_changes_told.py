"""Whatever happens between its questions, a session is given no item twice and told each change exactly once."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.integration.context.delta.test_delta import ask, commit, corrected, handles, write
from tests.support.cluster import Client

STEPS = 45
BUDGET = 16_000
_SYLLABLES = [
    "ba",
    "ke",
    "li",
    "mo",
    "nu",
    "pra",
    "ste",
    "vro",
    "xi",
    "zel",
    "dor",
    "fam",
    "gri",
    "hol",
    "jus",
]


@dataclass
class Item:
    """What there is of an item now, and what the session was told of it last; None: nothing yet."""

    text: str
    by: str | None = None
    there: bool = True
    told: tuple[str, str | None, bool] | None = None

    @property
    def now(self) -> tuple[str, str | None, bool]:
        return self.text, self.by, self.there

    def change(self) -> tuple[str, str | None] | None:
        """What a correction says, if one is due."""
        if self.told is None or self.told == self.now or (not self.there and not self.told[2]):
            return None
        if not self.there:
            return "gone", None
        return ("superseded", self.by) if self.by is not None else ("edited", None)


@dataclass
class World:
    client: Client
    chance: random.Random
    items: dict[str, Item] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)

    def text(self) -> str:
        """Words that no other text of the world has."""
        words = ("".join(self.chance.choices(_SYLLABLES, k=4)) for _ in range(7))
        return f"{' '.join(words)} orders database"

    def some(self, prefix: str) -> str | None:
        there = [name for name, item in self.items.items() if item.there and name.startswith(prefix)]
        return self.chance.choice(there) if there else None

    async def remember(self) -> None:
        text = self.text()
        self.items[f"own:{await commit(self.client, text)}"] = Item(text)

    async def note(self) -> None:
        text = self.text()
        self.items[f"cache:{await write(self.client, text)}"] = Item(text)

    async def supersede(self) -> None:
        name = self.some("cache")
        if name is None or self.items[name].by is not None:
            return
        text = self.text()
        newer = f"cache:{await write(self.client, text, supersedes=int(name.partition(':')[2]))}"
        self.items[newer] = Item(text)
        self.items[name].by = newer

    async def edit(self) -> None:
        name = self.some("own")
        if name is not None:
            item = self.items[name]
            item.text = self.text()
            path = f"/api/agent-memory/{name.partition(':')[2]}"
            answer = await self.client.call("PATCH", path, {"content": item.text})
            assert answer.status == 200, answer

    async def delete(self) -> None:
        name = self.some("own") if self.chance.random() < 0.5 else self.some("cache")
        if name is not None:
            store, _, number = name.partition(":")
            path = (
                f"/api/agent-memory/{number}"
                if store == "own"
                else f"/api/psychic-cache/all/entries/{number}"
            )
            answer = await self.client.delete(path)
            assert answer.status in (200, 204), answer
            self.items[name].there = False

    async def ask(self) -> None:
        answer = await ask(self.client, token_budget=BUDGET, fill=True)
        new = handles(answer)
        assert len(new) == len(set(new))
        assert not self.given & set(new), "an item came twice"
        due = {name: change for name, item in self.items.items() if (change := item.change()) is not None}
        told = {name: (what, by) for name, what, by in corrected(answer)}
        assert told == due
        assert len(told) == len(answer["delta"]["corrections"])
        self._learn(answer, {*new, *told})

    def _learn(self, answer: Any, names: set[str]) -> None:
        block = answer["context_block"]
        for name in names:
            item = self.items[name]
            item.told = item.now
            if item.there and item.by is None:
                assert item.text in block
        self.given |= set(handles(answer))


@pytest.mark.parametrize("seed", range(8))
async def test_each_change_is_told_once(client: Client, seed: int) -> None:
    world = World(client, random.Random(seed))
    kinds = (world.remember, world.note, world.supersede, world.edit, world.delete, world.ask)
    weights = (3, 3, 2, 3, 2, 5)
    for _ in range(STEPS):
        await world.chance.choices(kinds, weights)[0]()
    await world.ask()
    there = {name for name, item in world.items.items() if item.there and item.by is None}
    assert there <= world.given
