"""Work on a text that may be code, which is parsed where that is tried first: parsing may take any time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from services.cache.sessions.paging.segmentation.kinds import LANGUAGES, extension_of
from shared.concurrency.threads import SHORT, attempt, beside

T = TypeVar("T")

WEIGHT = 8
"""A parser may take so many times as long for a character as other work on texts."""


async def parsing(path: str | None, length: int, work: Callable[..., T], *arguments: Any) -> T:
    """The result of `work` on a text of this length; it takes `parsed`: whether code is parsed, or cut by lines."""
    if length <= SHORT or LANGUAGES.get(extension_of(path), "json") == "json":
        return await beside(length, work, *arguments)
    return await attempt(partial(work, *arguments), partial(work, *arguments, parsed=False))
