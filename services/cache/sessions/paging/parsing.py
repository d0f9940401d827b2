"""Work on a text that may be code. Parsing may take any time, so the worker process tries it in a fork first."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from services.cache.sessions.paging.segmentation.kinds import LANGUAGES, extension_of
from shared.concurrency.cpu import Endless
from shared.concurrency.threads import SHORT, attempt, beside

T = TypeVar("T")

WEIGHT = 8
"""A parser may take so many times as long for a character as other work on texts."""

# A trial that fails takes up to a second, and others wait for it.
_PAUSE_SECONDS = 20.0


class Author(NamedTuple):
    """Whose text it is. `key` is empty for what is done in the background."""

    tenant: str
    key: str = ""


class Pauses:
    """Authors whose code is cut by lines for a while, since one of their texts could not be parsed."""

    def __init__(self) -> None:
        self._ends: dict[Author, float] = {}

    def begin(self, author: Author) -> None:
        now = time.monotonic()
        self._ends = {each: end for each, end in self._ends.items() if end > now}
        self._ends[author] = now + _PAUSE_SECONDS

    def holds(self, author: Author) -> bool:
        return self._ends.get(author, 0.0) > time.monotonic()


_PAUSES = Pauses()


async def parsing(
    author: Author, path: str | None, length: int, work: Callable[..., T], *arguments: Any
) -> T:
    """The result of `work` on a text of this length; it takes `parsed`: whether code is parsed, or cut by lines."""
    if length <= SHORT or LANGUAGES.get(extension_of(path), "json") == "json":
        return await beside(length, work, *arguments)
    if not _PAUSES.holds(author):
        try:
            return await attempt(author.tenant, partial(work, *arguments))
        except Endless:
            _PAUSES.begin(author)
        except TimeoutError:
            # Others keep the worker busy.
            pass
    return await beside(length, partial(work, *arguments, parsed=False))
