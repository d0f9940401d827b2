"""Python's collector looks for objects that only refer to each other by the clock, and hardly ever by number."""

from __future__ import annotations

import gc
import itertools

from shared.concurrency.tasks import every

LOOK_SECONDS = 2.0
# The looks between two at all objects, which take some 50 ms. The others are at what was made since the last one.
FULL_LOOK = 300
# Python also looks when so many objects more were made than freed. An assembly holds thousands at once and leaves few
# that only refer to each other, so at 20,000 these looks took 6 % of all processor time at eight callers.
_MADE_BEFORE_A_LOOK = 200_000


def start() -> None:
    """Everything created so far lives as long as the process, so the collector need not visit it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_MADE_BEFORE_A_LOOK, 10, 10)


async def look_forever() -> None:
    looks = itertools.count(1)

    async def look() -> None:
        gc.collect(2 if next(looks) % FULL_LOOK == 0 else 1)

    await every(LOOK_SECONDS, "looking for garbage", look)
