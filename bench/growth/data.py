"""What the bench holds and asks: scopes of 200 to 5,000 items, and filler until there are enough.

The scopes that are asked and their questions are the same at every size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.assemble.data import near
from bench.assemble.data import questions as sentences
from bench.recall.data import Words
from shared.embeddings.local import LocalEmbedder

SEED = 20_267
_POOL, _NOISES, _NOISE = 10_000, 997, 0.2
_ASKED = ((200, 5_000), (800, 800), (3_000, 200))
# Filler, so that a thousand tenants of a million have about one agent and one mission each.
_LEAST, _MOST = 200, 1_000


class Place(NamedTuple):
    """An agent with its memories, and the mission of the same name with its entries."""

    tenant: str
    name: str
    memories: int
    entries: int


class Layout(NamedTuple):
    places: list[Place]
    asked: list[Place]

    @property
    def rows(self) -> int:
        return sum(place.memories + place.entries for place in self.places)

    @property
    def tenants(self) -> int:
        return len({place.tenant for place in self.places})

    def memories(self, tenant: str) -> int:
        return sum(place.memories for place in self.places if place.tenant == tenant)


def layout(rows: int, tenants: int) -> Layout:
    """About `rows` over at most `tenants`; few rows do not reach that many."""
    random = np.random.default_rng(SEED)
    asked = [Place(f"tenant-{n % tenants}", f"asked-{n}", *sizes) for n, sizes in enumerate(_ASKED)]
    places, left = [*asked], rows - sum(map(sum, _ASKED))
    while left > 0:
        memories, entries = (int(size) for size in np.exp(random.uniform(np.log(_LEAST), np.log(_MOST), 2)))
        places.append(Place(f"tenant-{len(places) % tenants}", f"filler-{len(places)}", memories, entries))
        left -= memories + entries
    return Layout(places, asked)


def questions() -> list[str]:
    """About topics of the texts, each with two of their words."""
    tails = Words().texts(np.random.default_rng(SEED + 1), len(sentences()))
    return [
        f"{sentence} {' '.join(tail.split()[:2])}" for sentence, tail in zip(sentences(), tails, strict=True)
    ]


class Pool(NamedTuple):
    """What Postgres combines: a text with its vector, and noise, so that no two vectors are the same."""

    texts: list[str]
    vectors: NDArray[np.float32]
    noises: NDArray[np.float32]
    model: str


async def pool(embedder: LocalEmbedder) -> Pool:
    random = np.random.default_rng(SEED + 2)
    topics = [sentence.removeprefix("What happens when ").rstrip("?") for sentence in sentences()]
    seeds = await embedder.embed(topics, "document")
    chosen = random.integers(len(topics), size=_POOL)
    tails = Words().texts(random, _POOL)
    noises = random.normal(size=(_NOISES, seeds.shape[1])) * (seeds[0] != 0)
    return Pool(
        [f"{topics[topic]}: {tail}" for topic, tail in zip(chosen, tails, strict=True)],
        near(random, seeds[chosen]),
        _NOISE * noises / np.linalg.norm(noises, axis=1, keepdims=True),
        embedder.model,
    )
