"""Texts of one repeated piece take time in proportion to their length."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable

import pytest

from services.cache.sessions.paging.segmentation import segment
from services.cache.sessions.paging.summaries import summarize

LENGTH, LONGER = 8_000, 4
# Quadratic time would be sixteen times as long.
MOST = 9
# What is faster than this says nothing.
NOISE_SECONDS = 0.05
# What else the machine does slows either of two: only what is too slow each time is.
ROUNDS = 6
KNOWN = (
    "></div>\n===\n",
    "> #    \r\\```\n",
    "[a]:\n> ===\n",
    "===\n> ***\n    \t",
    "é]",
    "2026-中?",
    "中:@",
    "> ",
)
_PIECES = [
    *"a1é中 \n\t.,:;'\"()[]{}<>#*+-=|~`!\\/",
    *("> ", "- ", "1. ", "# ", "===\n", "---\n", "```\n", "<div>\n", "</div>\n", "<!--", "[a]: "),
    *('{"a":', "\n\n", "\r", "    ", "@@ -1 +1 @@\n", "+++ a\n", "Error: "),
]


def _pieces(count: int) -> list[str]:
    chance = random.Random(7)
    return ["".join(chance.choice(_PIECES) for _ in range(chance.randint(2, 5))) for _ in range(count)]


def _seconds(work: Callable[[str, str], object], unit: str, path: str, length: int) -> float:
    text = unit * (length // len(unit))
    # What the collector takes depends on all that the process holds.
    gc.disable()
    try:
        started = time.thread_time()
        work(text, path)
        return time.thread_time() - started
    finally:
        gc.enable()


def _is_in_proportion(work: Callable[[str, str], object], unit: str, path: str) -> bool:
    after = _seconds(work, unit, path, LENGTH * LONGER)
    return after < NOISE_SECONDS or after < MOST * _seconds(work, unit, path, LENGTH)


@pytest.mark.parametrize("path", ["a.md", "a.json", "a.diff", "a.log"])
@pytest.mark.parametrize("work", [segment, summarize])
def test_time_is_in_proportion(work: Callable[[str, str], object], path: str) -> None:
    for unit in (*KNOWN, *_pieces(24)):
        assert any(_is_in_proportion(work, unit, path) for _ in range(ROUNDS)), unit
