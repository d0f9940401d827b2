"""No regular expression of the services takes more than linear time, or long, whatever text a caller sends.

Every pattern is found in the code, and tried on texts made of what it can match: repeated characters, pairs of
them, and its own beginning with a long run, before an end that does not fit.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import time
from collections.abc import Iterator
from re import _constants as sre
from re import _parser as parser
from typing import Any

import pytest

from local.database import ROOT
from shared.text import MAX_CONTENT, MAX_QUERY

# The worst text is looked for among short ones.
SHORT, LENGTH = 1_000, 4_000
WORST = 3
# Two repeats of 300 fill it.
RUN = 600
# Four times the text may take four times as long; quadratic time would be sixteen.
LONGER, MOST = 4, 9
# What is faster than this says nothing.
NOISE_SECONDS = 0.02
# The longest text that a caller can send to most patterns.
MOST_TEXT = MAX_CONTENT
# These read a question, the piece of a text that a search found, or what stands beside a quotation.
_SAYING = "services.agent_memory.consolidation.extraction.saying"
SHORTER = {
    "shared.search.dates._TEXTUAL": MAX_QUERY,
    f"{_SAYING}._BEFORE": MAX_QUERY,
    f"{_SAYING}._AFTER": MAX_QUERY,
}
# Others may take four times as long as this one, which needs some 12 ms for MOST_TEXT: so they need less than 50 ms.
PLAIN, MOST_PLAIN = re.compile(r"\w"), 4
# What else the machine does slows either of two: only what is too slow each time is.
ROUNDS = 20
_REPEATS = {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}
_CATEGORIES = {sre.CATEGORY_SPACE: " ", sre.CATEGORY_DIGIT: "1", sre.CATEGORY_WORD: "a"}


def patterns() -> dict[str, re.Pattern[str]]:
    """Compiled at module level, or written inside a call such as re.search."""
    found: dict[str, re.Pattern[str]] = {}
    for top in ("services", "shared"):
        for path in sorted((ROOT / top).rglob("*.py")):
            source = path.read_text()
            if "re." in source and path.name != "__main__.py":
                name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
                found |= _compiled(name.removesuffix(".__init__")) | _inline(name, ast.parse(source))
    return found


def _compiled(module: str) -> dict[str, re.Pattern[str]]:
    names = vars(importlib.import_module(module)).items()
    return {
        f"{module}.{name}": value
        for name, value in names
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str)
    }


def _inline(module: str, tree: ast.AST) -> dict[str, re.Pattern[str]]:
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("re"), attr=call), args=[ast.Constant(str(text)), *_]
            ) if call != "compile":
                found[f"{module}:{node.lineno}"] = re.compile(text)
    return found


def _nodes(items: Any) -> Iterator[tuple[Any, Any]]:
    for operation, value in items:
        yield operation, value
        if operation is sre.SUBPATTERN:
            yield from _nodes(value[3])
        elif operation is sre.BRANCH:
            for branch in value[1]:
                yield from _nodes(branch)
        elif operation in _REPEATS:
            yield from _nodes(value[2])
        elif operation in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _nodes(value[1])


def characters(pattern: re.Pattern[str]) -> list[str]:
    """One for each element that the pattern matches, and a few that most patterns stumble over."""
    found = {"a", " ", "\n", "1", "!", "["}
    for operation, value in _nodes(parser.parse(pattern.pattern, pattern.flags)):
        if operation is sre.LITERAL:
            found.add(chr(value))
        elif operation is sre.IN:
            for kind, inner in value:
                if kind is sre.LITERAL:
                    found.add(chr(inner))
                elif kind is sre.RANGE:
                    found.add(chr(inner[0]))
                elif kind is sre.CATEGORY:
                    found.add(_CATEGORIES.get(inner, "!"))
    return sorted(found)[:16]


def begun(pattern: re.Pattern[str], alphabet: list[str]) -> list[str]:
    """The literal text that the pattern begins with, if it does, before a run of each character."""
    literals = itertools.takewhile(
        lambda node: node[0] is sre.LITERAL, parser.parse(pattern.pattern, pattern.flags)
    )
    beginning = "".join(chr(value) for _, value in literals)
    return [beginning + letter * RUN for letter in alphabet] if beginning else []


def seconds(pattern: re.Pattern[str], unit: str, length: int) -> float:
    """Of this thread's processor, so that what else runs does not count."""
    text = unit * (length // len(unit)) + "\x00"
    started = time.thread_time()
    pattern.sub("", text)
    return time.thread_time() - started


@pytest.mark.parametrize(("name", "pattern"), patterns().items(), ids=lambda value: str(value)[:80])
def test_a_pattern_takes_linear_time(name: str, pattern: re.Pattern[str]) -> None:
    alphabet = characters(pattern)
    units = [*alphabet, *map("".join, itertools.permutations(alphabet, 2))]
    units.sort(key=lambda unit: seconds(pattern, unit, SHORT), reverse=True)
    for unit in units[:WORST]:
        before = min(seconds(pattern, unit, LENGTH) for _ in range(3))
        after = min(seconds(pattern, unit, LENGTH * LONGER) for _ in range(3))
        assert after < max(NOISE_SECONDS, MOST * before), (name, unit)


@pytest.mark.parametrize(("name", "pattern"), patterns().items(), ids=lambda value: str(value)[:80])
def test_a_pattern_reads_the_longest_text_quickly(name: str, pattern: re.Pattern[str]) -> None:
    alphabet = characters(pattern)
    units = sorted(alphabet, key=lambda unit: seconds(pattern, unit, SHORT), reverse=True)
    units[WORST:] = [a + b for a, b in itertools.permutations(units[:WORST], 2)]
    runs = sorted(begun(pattern, alphabet), key=lambda unit: seconds(pattern, unit, SHORT), reverse=True)
    units += runs[:WORST]
    length = SHORTER.get(name, MOST_TEXT)
    for unit in units:
        ratios = (seconds(pattern, unit, length) / seconds(PLAIN, "a", MOST_TEXT) for _ in range(ROUNDS))
        assert any(ratio < MOST_PLAIN for ratio in ratios), (name, unit)


def test_the_check_sees_quadratic_time() -> None:
    with pytest.raises(AssertionError):
        test_a_pattern_takes_linear_time("control", re.compile(r"(?:(?<!\w)[-./~]+)?\w+"))


def test_the_check_sees_a_slow_pattern() -> None:
    with pytest.raises(AssertionError):
        test_a_pattern_reads_the_longest_text_quickly("control", re.compile(r"\w{0,12}\d{1,7}!"))


def test_the_check_sees_a_slow_beginning() -> None:
    with pytest.raises(AssertionError):
        test_a_pattern_reads_the_longest_text_quickly(
            "control", re.compile(r"<<([^<>|]{1,300})[^<>]{0,300}>>")
        )
