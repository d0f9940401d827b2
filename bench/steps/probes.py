"""Identifiers, paths and error lines out of steps, to be asked verbatim. Pure."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from bench.demo.transcript import errors, paths
from bench.steps.sessions import Step

_IDENTIFIER = re.compile(r"\b[A-Za-z]\w*(?:_[A-Za-z]\w*|[a-z][A-Z]\w*)\b")
_LENGTHS = range(6, 300)


class Probe(NamedTuple):
    kind: str
    step: Step
    text: str


def _identifiers(text: str) -> Iterable[str]:
    return (match[0] for match in _IDENTIFIER.finditer(text))


_KINDS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "identifier": _identifiers,
    "path": paths,
    "error": errors,
}


def probes(steps: Sequence[Step], count: int, seed: int) -> list[Probe]:
    """One of each of `count` random steps, of a random kind among those that it holds."""
    chance = random.Random(seed)
    holding = [(step, found) for step in steps if (found := _found(step))]
    picked = (chance.choice(holding) for _ in range(count))
    return [
        Probe(kind, step, chance.choice(found[kind]))
        for step, found in picked
        for kind in [chance.choice(sorted(found))]
    ]


def _found(step: Step) -> dict[str, list[str]]:
    every = {
        kind: sorted({text for text in find(step.output) if len(text) in _LENGTHS})
        for kind, find in _KINDS.items()
    }
    return {kind: texts for kind, texts in every.items() if texts}
