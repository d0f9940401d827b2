"""What a Markdown note states: the fields of its front matter, and its links to other notes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

LINKS_TO = "links_to"
MOST = 1_000
"""Statements of a note, or of a piece of one."""
_MOST_NAME = 200
_MOST_LINES = 500
"""Of front matter."""
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_CODE = re.compile(r"`[^`]*`")
# Possessive: only the first bracket can end it, and trying shorter parts takes 300 times as long.
_LINK = re.compile(r"\[\[([^\[\]|#^]{1,300}+)[^\[\]]{0,300}+\]\]")
_KEY = re.compile(r"^([A-Za-z][\w -]{0,60}):[ \t]*(.*)$")
_ITEM = re.compile(r"^[ \t]*-[ \t]+(\S.*)$")
_LISTED = re.compile(r"""\[\[[^\[\]]*\]\]|"[^"]*"|'[^']*'|[^,\[\]"']+""")
_DEEPER = ("{", "|", ">", "&", "*", "!")
"""A value that begins so is a mapping, a text of several lines or a reference."""


class Statement(NamedTuple):
    subject: str
    predicate: str
    object: str
    line: int


def statements(path: str, text: str, *, line: int = 1, begins: bool = True) -> list[Statement]:
    """Each once, with the first line that states it, in the order of the text.

    The subject is the note's name, by which others link it. `text` begins on `line`, and with the note if `begins`.
    """
    name = note_name(path)
    lines = text.split("\n")
    end = _front_matter(lines) if begins else 0
    found = [*_fields(lines[1:end], 1), *_links(lines[end:], end)]
    first: dict[tuple[str, str], int] = {}
    for predicate, value, place in found:
        if value and (predicate, value) != (LINKS_TO, name):
            first.setdefault((predicate, value), line + place)
    return [Statement(name, *stated, place) for stated, place in first.items()][:MOST]


def note_name(path: str) -> str:
    """The last step of a path, without the suffix of Markdown."""
    return path.strip().rpartition("/")[2].removesuffix(".md").removesuffix(".markdown").strip()[:_MOST_NAME]


def _front_matter(lines: Sequence[str]) -> int:
    """The number of its lines with the two that enclose it; 0: there is none."""
    if lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:_MOST_LINES], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1
    return 0


def _fields(lines: Iterable[str], place: int) -> Iterator[tuple[str, str, int]]:
    """Keys with values, and lists of values in either form. Deeper structures are left out."""
    key = None
    for number, line in enumerate(lines, place):
        if (match := _KEY.match(line)) is not None:
            key = match[1].strip()
            yield from ((key, value, number) for value in _values(match[2].strip()))
        elif key is not None and (match := _ITEM.match(line)) is not None:
            yield from ((key, value, number) for value in _value(match[1].strip()))


def _values(text: str) -> list[str]:
    if text.startswith("[") and not text.startswith("[["):
        return [value for item in _LISTED.findall(text[1:]) for value in _value(item.strip())]
    return _value(text)


def _value(text: str) -> list[str]:
    """Without quotes. Links are the names of what they lead to."""
    if text.startswith(_DEEPER):
        return []
    if targets := _LINK.findall(text):
        return [note_name(target) for target in targets]
    return [text.strip("\"'").strip()[:_MOST_NAME]]


def _links(lines: Iterable[str], place: int) -> Iterator[tuple[str, str, int]]:
    """What is linked, outside of code."""
    fenced = False
    for number, line in enumerate(lines, place):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and "[[" in line:
            for target in _LINK.findall(_CODE.sub("", line)):
                yield LINKS_TO, note_name(target), number
