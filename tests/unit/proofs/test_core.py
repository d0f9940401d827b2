"""The models of the core keep their rules, and each of their mutants breaks one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from proofs.core import entries, leases, retries
from proofs.core.checker import explore, walk
from proofs.core.paging import MUTANTS as PAGING

SMALL = (entries, retries, leases)
MUTANTS = [mutant for each in SMALL for mutant in each.MUTANTS] + [*PAGING]


@pytest.mark.parametrize("model", [each.MODEL for each in SMALL])
def test_a_model_keeps_its_rules(model: Any) -> None:
    found = explore(model())
    assert found.faults == {}
    assert found.states > 100


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_breaks_one(mutant: Any) -> None:
    assert explore(mutant(), first=True).faults


class _Circle:
    """Three states, of which one leads nowhere and two to each other."""

    def start(self) -> int:
        return 0

    def steps(self, state: int) -> Iterator[tuple[str, int]]:
        if state == 0:
            yield "left", 1
            yield "right", 2
        if state in (2, 3):
            yield "around", 5 - state

    def faults(self, state: int) -> Iterator[str]:
        if state == 3:
            yield "three"

    def unfinished(self, state: int) -> Iterator[str]:
        if state == 1:
            yield "one is no end"


def test_the_search_finds_shortest_ways_and_what_never_ends() -> None:
    found = explore(_Circle())
    assert found.states == 4
    assert found.faults == {
        "one is no end": ["left"],
        "three": ["right", "around"],
        "it never ends": ["right"],
    }


def test_a_walk_is_cut_off_and_repeats_with_its_seed() -> None:
    ways = [walk(_Circle(), random.Random(seed), most=5) for seed in (3, 3, 4, 5)]
    assert ways[0] == ways[1]
    assert {len(way) for way in ways} <= {1, 5}
