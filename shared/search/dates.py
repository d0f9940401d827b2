"""Dates named in a question. Deliberately small: an uncertain date is not matched."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
# These are also ordinary words, such as "may" and "mar": they count only beside a day or a year.
_AMBIGUOUS = {"may", "march", "mar", "jan", "sep", "dec", "jun", "jul", "apr", "aug", "oct", "nov", "feb"}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(?P<{0}>[0-3]?\d)(?:st|nd|rd|th)?"
_TEXTUAL = re.compile(
    rf"(?:\b{_DAY.format('before')}\s+(?:of\s+)?)?\b(?P<month>{_MONTH})\b\.?"
    rf"(?:\s+{_DAY.format('after')}(?!\d))?(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>[01]\d)(?:-(?P<day>[0-3]\d))?\b")
_MOST_MENTIONS = 32
# What stands before a month is looked for in so many characters.
_BEFORE = 32
_YEAR = re.compile(r"\b(?:in|of|during|since|year)\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)


class Mention(NamedTuple):
    """The parts of a date that a question names."""

    year: int | None
    month: int | None
    day: int | None

    def covers(self, day: date) -> bool:
        """Whether the question may mean `day`. A named day also covers the week after it: people report events late."""
        if self.day is not None and self.month is not None:
            return any(0 <= (day - named).days <= 7 for named in self._days_near(day.year))
        return (self.year is None or day.year == self.year) and (
            self.month is None or day.month == self.month
        )

    def _days_near(self, year: int) -> list[date]:
        assert self.month is not None
        assert self.day is not None
        years = (self.year,) if self.year is not None else (year, year - 1)
        return [
            date(y, self.month, min(self.day, calendar.monthrange(y, self.month)[1])) for y in years if y > 0
        ]


class Dated(NamedTuple):
    """A mention and its place."""

    mention: Mention
    start: int
    stop: int


def mentions(question: str) -> list[Mention]:
    """At most 32, because each candidate is compared with each of them."""
    found = (each.mention for each in _found(question))
    named = _first(found) or _first(
        Mention(int(match["year"]), None, None) for match in _YEAR.finditer(question)
    )
    return [mention for mention in named if _possible(mention)]


def _first(named: Iterator[Mention]) -> list[Mention]:
    distinct: dict[Mention, None] = {}
    for mention in named:
        distinct[mention] = None
        if len(distinct) == _MOST_MENTIONS:
            break
    return list(distinct)


def dated(sentence: str) -> list[Dated]:
    """The dates that it names by their month, with their places."""
    return [each for each in _found(sentence) if _possible(each.mention)]


def _found(text: str) -> Iterator[Dated]:
    for match in _ISO.finditer(text):
        yield Dated(_mention(match["year"], int(match["month"]), match["day"]), *match.span())
    rest = _ISO.sub(lambda match: " " * len(match[0]), text)
    for match in _TEXTUAL.finditer(rest):
        day = match["before"] or match["after"]
        name = match["month"]
        if name.lower() in _AMBIGUOUS and not (day or match["year"] or _month_like(rest, match)):
            continue
        yield Dated(_mention(match["year"], _MONTHS[name.lower()], day), *match.span())


def _month_like(question: str, match: re.Match[str]) -> bool:
    """Whether "may" is a month: it has a capital letter, or follows a preposition of time."""
    start = match.start("month")
    before = question[max(0, start - _BEFORE) : start].rstrip().rsplit(" ", 1)[-1].lower()
    return before in ("in", "last", "this", "next", "since", "until", "early", "late", "mid", "during") or (
        match["month"][0].isupper() and start > 0
    )


def _mention(year: str | None, month: int, day: str | None) -> Mention:
    return Mention(int(year) if year else None, month, int(day) if day else None)


def _possible(mention: Mention) -> bool:
    return (mention.month is None or 1 <= mention.month <= 12) and (
        mention.day is None or 1 <= mention.day <= 31
    )
