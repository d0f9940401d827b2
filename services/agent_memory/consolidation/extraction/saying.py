"""Who says what in a turn: its sentences, each with whoever said it and in which mood. Pure.

What stands in quotation marks is said by whoever it is ascribed to, or by nobody. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from services.agent_memory.consolidation.learned import Turn
from shared.sentences.triples import NAME, SENTENCE, is_name

MOST_CHARACTERS = 8_000
"""Of a turn, that are read."""
LONGEST = 400
"""Characters of a sentence that is read."""
_SAYS = r"(?:said|says|wrote|writes|replied|answered|promised|added|told (?:me|us|you))"
_QUOTE = re.compile(r'"([^"\n]{1,600})"|“([^“”\n]{1,600})”')
_BEFORE = re.compile(rf"(?P<who>{NAME}|I) {_SAYS}(?: that)?[:,]? ?$")
_AFTER = re.compile(rf",? ?(?:{_SAYS} (?P<who>{NAME}|I)|(?P<first>{NAME}|I) {_SAYS})\b")
_NEAR = 80
_QUOTED_LINE = re.compile(r"^[ \t]{0,3}(?:>|```)")
_DOUBTS = re.compile(
    r"\b(?:if|unless|suppose|supposing|imagine|wish(?:es|ed)?|would|could|should|might|may|maybe|perhaps|possibly"
    r"|probably|hopefully|hope|hoping|try|trying|pretend|joking|kidding|in case|whether|not sure|unsure|almost|say"
    r"|(?:I|we) (?:think|guess|suppose|doubt|dreamt|dreamed|wonder))\b|['’]d\b"
)
_DENIES = re.compile(r"\b(?:not|never|no longer|nobody|none|neither|nor|without|cannot|hardly)\b|n['’]t\b")
# Each begins with a word of its own, so that lists and names stay whole.
_CLAUSE = re.compile(
    r"(?:(?:[,;:]|,? [-–—]+|\.\.\.|…) ?(?:(?:and|but|so|because|since|though|although|while|then) )?"
    r"| (?:and|but|so|because|since|though|although|while) (?:then )?)"
    r"(?=(?:I|we|my|My|our|Our|We)(?:['’](?:m|ll|ve|re))? [a-z])"
)


class Said(NamedTuple):
    text: str
    who: str | None
    """Whoever says it, if that is known."""
    turn: Turn
    quoted: bool = False

    @property
    def is_question(self) -> bool:
        return self.text.endswith("?")

    @property
    def doubts(self) -> bool:
        """Whether it is a condition, a wish or a guess."""
        return _DOUBTS.search(self.text[:1].lower() + self.text[1:]) is not None

    @property
    def denies(self) -> bool:
        return _DENIES.search(self.text) is not None

    def clauses(self) -> list[Said]:
        """Its parts of which "I", "we" or "my" is the beginning."""
        stops = [*(match.span() for match in _CLAUSE.finditer(self.text)), (len(self.text), len(self.text))]
        starts = [0, *(stop for _, stop in stops)]
        parts = [self.text[start:stop].strip() for start, (stop, _) in zip(starts, stops, strict=False)]
        return [self._replace(text=part) for part in parts if part]


def sentences(turn: Turn, who: str | None) -> Iterator[Said]:
    """Of a turn that `who` says, in its order; quotes come before the rest of their line."""
    for line in turn.text[:MOST_CHARACTERS].splitlines():
        if not _QUOTED_LINE.match(line):
            yield from _of_line(line, who, turn)


def _of_line(line: str, who: str | None, turn: Turn) -> Iterator[Said]:
    for match in _QUOTE.finditer(line):
        by = _ascribed(line, match, who)
        if by is not None:
            yield from _cut(match[1] or match[2], by, turn, quoted=True)
    rest = _QUOTE.sub(" … ", line)
    yield from _cut(rest, who, turn)


def _ascribed(line: str, quote: re.Match[str], who: str | None) -> str | None:
    before = _BEFORE.search(line[max(0, quote.start() - _NEAR) : quote.start()])
    after = _AFTER.match(line[quote.end() : quote.end() + _NEAR])
    by = before["who"] if before else (after["who"] or after["first"]) if after else None
    if by == "I":
        return who
    return by if by is not None and is_name(by) else None


def _cut(text: str, who: str | None, turn: Turn, *, quoted: bool = False) -> Iterator[Said]:
    for match in SENTENCE.finditer(text):
        sentence = match[0].strip()
        if len(sentence) <= LONGEST and any(map(str.isalpha, sentence)):
            yield Said(sentence, who, turn, quoted)
