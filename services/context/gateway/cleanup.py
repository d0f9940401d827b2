"""Cleanup tags: what a model writes into its answer to say which texts of its context it still needs. Pure.

    <memory_cleanup>
    release: m-0123456789ab      a line of the text is left
    summarize: m-0123456789ab    a summary is left
    drop: m-0123456789ab         nothing is left
    anchor: m-0123456789ab       it stays in full
    </memory_cleanup>

A tag holds such lines alone, at least one, in at most LONGEST characters. Everything else is text of the answer.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Generic, Literal, NamedTuple, TypeVar, cast, get_args

T = TypeVar("T")
Verb = Literal["release", "summarize", "drop", "anchor"]

OPEN, CLOSE = "<memory_cleanup>", "</memory_cleanup>"
LONGEST = 2_000
_LINE = re.compile(
    rf"[ \t]*+(?:({'|'.join(get_args(Verb))})[ \t]*+:[ \t]*+([\w:.-]{{1,100}}+))?+[ \t]*+\r?", re.ASCII
)


class Action(NamedTuple):
    verb: Verb
    handle: str


class Piece(NamedTuple, Generic[T]):
    carrier: T
    text: str
    kept: str
    """What is left of the text without tags."""


class Cutter(Generic[T]):
    """Takes the tags out of a text that comes in pieces, and holds back only what may still become a tag.

    A piece is given back as a whole, and in its order. `carrier` is whatever the caller knows it by.
    """

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self._pieces: deque[tuple[T, str]] = deque()
        self._text = ""
        self._at = 0
        self._cuts: list[tuple[int, int]] = []

    def feed(self, carrier: T, text: str) -> list[Piece[T]]:
        self._pieces.append((carrier, text))
        self._text += text
        self._look()
        return self._decided()

    def end(self) -> list[Piece[T]]:
        """All that is left: half a tag is text."""
        self._at = len(self._text)
        return self._decided()

    def _look(self) -> None:
        """Moves on to where a tag may begin that has not ended."""
        while True:
            begin = self._text.find(OPEN, self._at)
            if begin < 0:
                self._at = max(self._at, len(self._text) - _half_open(self._text))
                return
            self._at = begin
            read = _read(self._text[begin : begin + LONGEST])
            if read is None:
                return
            actions, length = read
            if actions:
                self._cuts.append((begin, begin + length))
                self.actions += actions
            self._at += length

    def _decided(self) -> list[Piece[T]]:
        given: list[Piece[T]] = []
        begin = 0
        while self._pieces and begin + len(self._pieces[0][1]) <= self._at:
            carrier, text = self._pieces.popleft()
            given.append(Piece(carrier, text, self._without_cuts(begin, begin + len(text))))
            begin += len(text)
        self._text = self._text[begin:]
        self._at -= begin
        self._cuts = [(max(0, first - begin), last - begin) for first, last in self._cuts if last > begin]
        return given

    def _without_cuts(self, begin: int, end: int) -> str:
        kept: list[str] = []
        for first, last in self._cuts:
            if first < end and last > begin:
                kept.append(self._text[begin : max(begin, first)])
                begin = min(end, last)
        return "".join([*kept, self._text[begin:end]])


def cut(text: str) -> tuple[str, list[Action]]:
    """A whole text without its tags."""
    cutter: Cutter[None] = Cutter()
    pieces = [*cutter.feed(None, text), *cutter.end()]
    return "".join(piece.kept for piece in pieces), cutter.actions


def _half_open(text: str) -> int:
    """How many characters at its end may begin a tag."""
    return next((size for size in range(len(OPEN) - 1, 0, -1) if text.endswith(OPEN[:size])), 0)


def _read(text: str) -> tuple[list[Action], int] | None:
    """The actions of the tag that the text begins with, and its length; without actions if it is none.

    None: more of it has to come.
    """
    close = text.find(CLOSE)
    inner = text[len(OPEN) : close if close >= 0 else None]
    *lines, last = inner.split("\n")
    found = [_LINE.fullmatch(line) for line in ([*lines, last] if close >= 0 else lines)]
    if not all(found) or (close < 0 and (len(text) >= LONGEST or not _may_become_line(last))):
        return [], len(OPEN)
    if close < 0:
        return None
    actions = [Action(cast(Verb, match[1]), match[2]) for match in found if match is not None and match[1]]
    return actions, close + len(CLOSE) if actions else len(OPEN)


def _may_become_line(text: str) -> bool:
    """A line that is not whole, or the begun end of the tag behind it."""
    begun = text.rpartition("<")
    if begun[1] and CLOSE.startswith("<" + begun[2]):
        text = begun[0]
        return _LINE.fullmatch(text) is not None
    word = text.lstrip(" \t")
    return any(verb.startswith(word) for verb in get_args(Verb)) or _BEGUN.match(word) is not None


_BEGUN = re.compile(
    rf"(?:{'|'.join(get_args(Verb))})[ \t]*(?::[ \t]*(?:[\w:.-]{{1,100}}[ \t]*\r?)?)?\Z", re.ASCII
)
