"""Work on a text, beside the event loop when the text is long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Up to this length, the work takes less than a millisecond, and not much more than a thread's start.
SHORT = 8_192


async def beside(length: int, work: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
    """The result of `work`, which reads a text of this length. Nobody else's request waits for a long text."""
    if length <= SHORT:
        return work(*arguments, **more)
    return await asyncio.to_thread(work, *arguments, **more)
