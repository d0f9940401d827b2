"""Finds and masks secrets in a text, in linear time: one pass finds all anchors, and a pattern is tried at each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, Implementation

from shared.secrets.kinds import KINDS, SECRET, Kind


class Found(NamedTuple):
    start: int
    stop: int
    kind: str


def _by_anchor() -> dict[str, tuple[Kind, ...]]:
    kinds: dict[str, list[Kind]] = defaultdict(list)
    for kind in KINDS:
        for anchor in kind.anchors:
            kinds[anchor].append(kind)
    return {anchor: tuple(of) for anchor, of in kinds.items()}


_BY_ANCHOR = _by_anchor()
_KINDS = [*_BY_ANCHOR.values()]
_RANKS = {kind.name: rank for rank, kind in enumerate(KINDS)}
_TEXT = AhoCorasick([*_BY_ANCHOR], implementation=Implementation.DFA)
_BYTES = BytesAhoCorasick([anchor.encode() for anchor in _BY_ANCHOR], implementation=Implementation.DFA)
# Ways to write an ASCII character in JSON that would hide an anchor.
_ESCAPED = re.compile(rb"\\/|\\u00[2-7]")


def may_hold(body: bytes) -> bool:
    """Whether JSON may hold a secret. It costs 2 ns a byte, and nearly all bodies end here."""
    return bool(_BYTES.find_matches_as_indexes(body)) or (b"\\" in body and _ESCAPED.search(body) is not None)


def found_in(text: str) -> list[Found]:
    """The secrets of a text, from left to right, none within another."""
    found: list[Found] = []
    for one in sorted(_candidates(text), key=_place):
        if not found or one.start >= found[-1].stop:
            found.append(one)
    return found


def masked(text: str, found: list[Found]) -> str:
    parts, last = [], 0
    for start, stop, kind in found:
        parts += [text[last:start], f"[secret: {kind}]"]
        last = stop
    return "".join([*parts, text[last:]])


def _candidates(text: str) -> Iterator[Found]:
    ends: dict[str, int] = {}
    for anchor, start, _ in _TEXT.find_matches_as_indexes(text, overlapping=True):
        for kind in _KINDS[anchor]:
            # What a match of the kind covers is not tried again.
            if start < ends.get(kind.name, 0):
                continue
            match = kind.pattern.match(text, max(0, start - kind.before))
            if match is not None:
                ends[kind.name] = match.end()
                yield Found(*match.span(SECRET if SECRET in kind.pattern.groupindex else 0), kind.name)


def _place(found: Found) -> tuple[int, int, int]:
    """Of those that begin together, the longest comes first, and then the one of the more specific kind."""
    return found.start, -found.stop, _RANKS[found.kind]
