"""What a Markdown note says of other notes: its front matter and its links, as triples. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

LINKS_TO = "links to"
MOST = 300
"""Triples of a note."""
_MOST_NAME = 200
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\[\[([^\[\]|#^]{1,300})[^\[\]]{0,300}\]\]")
_KEY = re.compile(r"^([A-Za-z][\w -]{0,60}):[ \t]*(.*)$")
_ITEM = re.compile(r"^[ \t]*-[ \t]+(\S.*)$")
_MOST_LINES = 500


class Statement(NamedTuple):
    subject: str
    predicate: str
    object: str


def statements(path: str, text: str) -> list[Statement]:
    """Each once, in the order of the text. The subject is the note's name, by which others link it."""
    name = note_name(path)
    lines = text.split("\n")
    end = _front_matter(lines)
    found = [Statement(name, key, value) for key, value in _fields(lines[1:end])]
    found += [Statement(name, LINKS_TO, target) for target in _links(lines[end:]) if target != name]
    return list(dict.fromkeys(each for each in found if each.object))[:MOST]


def note_name(path: str) -> str:
    """The last step of a path, without the suffix of Markdown."""
    return path.strip().rpartition("/")[2].removesuffix(".md").removesuffix(".markdown").strip()[:_MOST_NAME]


def _front_matter(lines: list[str]) -> int:
    """The number of its lines with the two that enclose it; 0: there is none."""
    if lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:_MOST_LINES], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1
    return 0


def _fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Keys with values, and lists of values in either form. Deeper structures are left out."""
    key = None
    for line in lines:
        if (match := _KEY.match(line)) is not None:
            key = match[1].strip()
            for value in _values(match[2].strip()):
                yield key, value
        elif key is not None and (match := _ITEM.match(line)) is not None:
            yield key, _value(match[1])


def _values(text: str) -> list[str]:
    if text.startswith("[") and not text.startswith("[[") and text.endswith("]"):
        return [_value(each) for each in text[1:-1].split(",")]
    return [_value(text)]


def _value(text: str) -> str:
    """Without quotes. A link is the name of what it leads to."""
    plain = text.strip().strip("\"'").strip()
    match = _LINK.fullmatch(plain)
    return note_name(match[1]) if match else plain[:_MOST_NAME]


def _links(lines: list[str]) -> Iterator[str]:
    """The names of what is linked, outside of code."""
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and "[[" in line:
            yield from (note_name(target) for target in _LINK.findall(_CODE.sub("", line)))
