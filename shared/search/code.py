"""Names in code, paths, flags and hashes, which prose would tear apart. Pure.

A text's names are kept whole, as exact terms in lower case. Their parts are words of the text as well: whoever asks
for "log record" wants `log_record` and `LogRecord`, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_OF_RUN = r"[^\s()\[\]{}<>\"'`,;=|*&!?^]"
# Plain words hold nothing of this: only a run that does is looked at.
_NAMED = (
    r"[A-Z_/\\.\d-](?:(?<=[a-z][A-Z])|(?<=[_/\\])|(?<=\.)(?=\w)|(?<=--)|[A-Z](?=[a-z])"
    r"|(?<=\d)(?=[a-zA-Z])|(?<=[a-zA-Z]\d))"
)
_HINT = re.compile(_NAMED)
_DECIMAL = r"\d{1,9}\.\d{1,9}"
# From a run's first character, so that a long run is looked through once. A decimal is no name.
_RUN = re.compile(f"(?<!{_OF_RUN})(?!{_DECIMAL}(?!{_OF_RUN}))(?={_OF_RUN}*?{_NAMED}){_OF_RUN}+")
_LONGEST_RUN = 300
_EDGES = ".:/\\-~$#%@+"
_WORD = re.compile(r"\w+")
_SEGMENTS = re.compile(r"[/\\:@+~$#%]")
_SEPARATORS = re.compile(r"[/\\.:~$#%+]+")
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VERSION = re.compile(r"[vV]?\d{1,9}+(?:\.\d{1,9}+){1,9}+\S{0,20}")
_EXTENSION = re.compile(r"\w\.[A-Za-z]\w{0,9}$")
_HASH = re.compile(r"(?:0[xX])?[\da-fA-F]{6,64}(?:-[\da-fA-F]{4,12}){0,4}")
# Of a part of a name such as `createApp`; not of `mRNA`.
_PART = re.compile(r"[A-Za-z][a-z]{2}")
# A path is named by its last segments: texts write it from different roots.
_TAIL = 3
_HEADING = 400
# Stop words of English that are keywords in a line of code.
_KEYWORDS = frozenset(
    ["if", "for", "not", "from", "in", "is", "and", "or", "while", "with", "as", "until", "no"]
)
_CODE_ENDS = (":", "{", ";", ")", "]", "\\")


class Reading(NamedTuple):
    """A text or question, read for its names."""

    names: list[str]
    """Exact terms, with repeats. Prose without names has none."""
    text: str
    """The text with the parts of its names as words. The text parser would keep paths and dotted names whole."""


def read(text: str) -> Reading:
    if not _HINT.search(text):
        return Reading([*_keywords(text)], text)
    terms: list[str] = []

    def words_of(match: re.Match[str]) -> str:
        run = match[0]
        found = dict.fromkeys(_names_of(run)) if len(run) <= _LONGEST_RUN else {}
        terms.extend(map(str.lower, found))
        return _as_words(run) if found and "@" not in run else run

    spaced = _RUN.sub(words_of, text)
    return Reading([*terms, *_keywords(text)], spaced)


def names(text: str) -> list[str]:
    return read(text).names


def of_heading(text: str) -> list[str]:
    """The names of a long text's heading, such as the file that a listing shows: all of the text is about them."""
    return names(text[:_HEADING]) if len(text) > _HEADING else []


def given(names_given: Iterable[str]) -> list[str]:
    """The exact terms of the paths and symbols that a writer names."""
    return [term for name in names_given for term in names(name)]


def spaced(text: str) -> str:
    return read(text).text


def _names_of(run: str) -> Iterator[str]:
    if run.startswith("--") and run[-1].isalnum():
        yield run
    for piece in run.strip(_EDGES).split("::"):
        name = _without_line(piece)
        if _is_path(name, run):
            yield from _tails([part for part in re.split(r"[/\\]", name) if part], "/")
        for segment in _SEGMENTS.split(name):
            yield from _names_in(segment)


def _without_line(name: str) -> str:
    """`proxy.py` of `proxy.py:12:3`."""
    while (parts := name.rpartition(":"))[0] and parts[2].isdigit():
        name = parts[0]
    return name


def _is_path(name: str, run: str) -> bool:
    """Not `and/or`."""
    slashes = name.count("/") + name.count("\\")
    return slashes > 1 or (slashes == 1 and (run[0] in "/.~" or _EXTENSION.search(name) is not None))


def _names_in(segment: str) -> Iterator[str]:
    if _HASH.fullmatch(segment) and not segment.isalpha() and not segment.isdigit():
        yield segment
        return
    parts = [part for part in segment.split(".") if part]
    if all(len(part) > 1 for part in parts) and not _VERSION.fullmatch(segment):
        yield from _tails(parts, ".")
    for word in _WORD.findall(segment):
        if "_" in word.strip("_") or len(_humps(word)) > 1:
            yield word


def _tails(parts: Sequence[str], mark: str) -> Iterator[str]:
    """The last parts together, and the whole. The last alone is a word of the text."""
    for count in range(2, min(_TAIL, len(parts)) + 1):
        yield mark.join(parts[-count:])
    if len(parts) > _TAIL:
        yield mark.join(parts)


def _as_words(run: str) -> str:
    return " ".join(_with_humps(word) for word in _SEPARATORS.split(run) if word)


def _with_humps(word: str) -> str:
    humps = _humps(word)
    return word if len(humps) == 1 else " ".join([word, *humps])


def _humps(word: str) -> list[str]:
    """The parts of a word whose case changes inside, if at least two of them are words."""
    parts = _HUMP.split(word)
    return parts if sum(_PART.match(part) is not None for part in parts) > 1 else [word]


def _keywords(text: str) -> Iterator[str]:
    """The stop words of lines of code: those that begin with a keyword and end as code does."""
    for line in text.splitlines():
        if line.rstrip().endswith(_CODE_ENDS) or (line.startswith("from ") and " import " in line):
            words = _WORD.findall(line[:200])
            if words and (
                words[0] in _KEYWORDS or words[0] in ("elif", "return", "assert", "except", "case")
            ):
                yield from (word for word in words if word in _KEYWORDS)
