"""No text takes PostgreSQL's parser more than linear time, after the rule that all texts and questions go through."""

from __future__ import annotations

import itertools
import time

import pytest

from shared.database.postgres import Connection
from shared.text import MAX_QUERY
from shared.words import readable

# What the parser tells apart: letters and digits, the marks of addresses, paths, tags, entities and numbers, spaces.
ALPHABET = "a1-./:@&<>_+e~ é"
UNITS = [*ALPHABET, *map("".join, itertools.permutations(ALPHABET, 2))]
UNITS += map("".join, itertools.permutations("a1-./@<_e", 3))
RUNS = (None, 32, 127)
"""Characters between two spaces; None: all."""
WORST = 4
# Twice the text may take twice as long, and some noise; quadratic time would be four times.
MOST = 3.0
# What is faster than this says nothing.
NOISE_SECONDS = 0.02
TRIES = 4


def _text(unit: str, run: int | None, length: int) -> str:
    if run is None:
        return (unit * length)[:length]
    return (((unit * run)[:run] + " ") * length)[:length]


async def _seconds(sql: Connection, text: str) -> float:
    started = time.perf_counter()
    await sql.fetchval("select length(to_tsvector('english', $1))", text)
    return time.perf_counter() - started


@pytest.mark.parametrize("run", RUNS)
async def test_a_hostile_text_takes_linear_time(sql: Connection, run: int | None) -> None:
    taken = [(await _seconds(sql, readable(_text(unit, run, 2_000))), unit) for unit in UNITS]
    for _, unit in sorted(taken, reverse=True)[:WORST]:
        whole, half = readable(_text(unit, run, 2 * MAX_QUERY)), readable(_text(unit, run, MAX_QUERY))
        # Noise only adds to a time: what is linear once is linear.
        for _ in range(TRIES):
            before = min([await _seconds(sql, half) for _ in range(5)])
            after = min([await _seconds(sql, whole) for _ in range(5)])
            if after < max(NOISE_SECONDS, MOST * before):
                break
        else:
            pytest.fail(f"{unit!r}: {before} s, and {after} s for twice as much")


async def test_the_check_sees_quadratic_time(sql: Connection) -> None:
    quarter, whole = (_text("e@1", None, length) for length in (MAX_QUERY // 4, MAX_QUERY))
    before = min([await _seconds(sql, quarter) for _ in range(10)])
    assert await _seconds(sql, whole) > 8 * before


@pytest.mark.parametrize(
    "text",
    [
        "See https://github.com/org/repo/blob/main/src/file_name.py#L10, or write to a.person@example.com.",
        "Dies ist ein Satz; the value was -1.5e-3 at /var/log/app_1.log (99 %).",
        "数据库在凌晨切换到了备用节点,花了四分钟。",
        "x" * 3_000,
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert readable(text) == text


def test_the_words_of_a_long_run_stay() -> None:
    run = "/".join(f"word{number}" for number in range(40))
    assert readable(f"before {run} after").split() == ["before", *run.split("/"), "after"]
