"""Remembers what was read of texts: questions about one scope find the same texts again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

_MOST = 4_096
# The longest text that is remembered, in characters. It bounds the memory: a longer text is read each time.
_LONGEST = 600


def remembered(read: Callable[[str], T]) -> Callable[[str], T]:
    """Of the latest texts, what a pure function says of each. Its values must never be changed."""
    known = lru_cache(maxsize=_MOST)(read)

    @wraps(read)
    def recall(text: str) -> T:
        return known(text) if len(text) <= _LONGEST else read(text)

    return recall
