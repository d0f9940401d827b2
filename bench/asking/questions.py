"""Questions whose answers are known: where something is defined, and what an error said. Pure."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_DEFINED = re.compile(
    r"^\s*(?:\d+[→:|\t])?\s*(?:export\s+|public\s+|pub\s+|async\s+|static\s+)*"
    r"(?:def|class|func|function|fn|interface|struct|trait|enum)\s+(\w{4,})"
)
_ERROR = re.compile(r"\b\w*(?:Error|Exception)\b\s*[:(]|\b(?:error|fatal|panic|FAILED|failed)\b\s*[:\[ ]")
_WORD = re.compile(r"[A-Za-z]{4,}")
_LONGEST_LINE = 300
_LEAST_WORDS, _ASKED_WORDS = 5, 3


class Question(NamedTuple):
    kind: str
    """definition or error."""
    text: str
    answers: frozenset[str]
    """Lines of which the quoted passage must hold one whole."""


def definitions(texts: Sequence[str], seed: int, most: int) -> list[Question]:
    """Where a name is defined that only definitions of one text name so."""
    lines: dict[str, set[str]] = {}
    for text in texts:
        for line in text.splitlines():
            if (match := _DEFINED.match(line)) and len(line) <= _LONGEST_LINE:
                lines.setdefault(match[1], set()).add(line.strip())
    chosen = _some(sorted(lines), seed, most)
    return [
        Question("definition", f"Where is {name} defined and what does it take?", frozenset(lines[name]))
        for name in chosen
    ]


def errors(texts: Sequence[str], seed: int, most: int) -> list[Question]:
    """What was reported, by some of its words: any line that holds them all and reports something answers."""
    lines = sorted({line.strip() for text in texts for line in text.splitlines() if _reports(line)})
    return [_asked(line, lines, seed) for line in _some(lines, seed, most)]


def _reports(line: str) -> bool:
    return len(line) <= _LONGEST_LINE and bool(_ERROR.search(line)) and len({*_words(line)}) >= _LEAST_WORDS


def _asked(line: str, lines: Sequence[str], seed: int) -> Question:
    chance = random.Random(f"{seed} {line}")
    words = chance.sample(sorted({*_words(line)}), _ASKED_WORDS)
    answers = frozenset(each for each in lines if {*words} <= {*_words(each)})
    return Question("error", f"Which error was there about {words[0]}, {words[1]} and {words[2]}?", answers)


def _words(line: str) -> Iterator[str]:
    return (match[0] for match in _WORD.finditer(line))


def _some(items: Sequence[str], seed: int, most: int) -> Sequence[str]:
    return items if len(items) <= most else random.Random(seed).sample(items, most)
