"""The known name that a misspelt one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache

# difflib compares character by character: no name that anybody misspells is longer.
_LONGEST = 64
_SIMILAR = 0.7


def nearest(name: object, known: Iterable[object]) -> str | None:
    if not isinstance(name, str) or len(name) > _LONGEST:
        return None
    return _nearest(name, tuple(choice for choice in known if isinstance(choice, str)))


@lru_cache(maxsize=1024)
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    return next(iter(get_close_matches(name.lower(), known, 1, _SIMILAR)), None)
