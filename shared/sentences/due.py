"""The time by which a sentence says that something will be done. Pure. Deliberately small: a doubtful one is None."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta

from shared.search.dates import Mention, mentions

_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_TODAY = re.compile(r"\b(?:today|tonight|by (?:the )?end of (?:the )?day|eod)\b", re.I)
_TOMORROW = re.compile(r"\b(?:by |until |before )?tomorrow\b", re.I)
_WEEKDAY = re.compile(rf"\b(?:by|on|until|before|this|next) (?:next )?(?P<day>{'|'.join(_WEEKDAYS)})\b", re.I)
_WITHIN = re.compile(r"\b(?:with)?in (?P<count>\d{1,3}|an?|one|two|three) (?P<unit>hour|day|week)s?\b", re.I)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
_CLOCK = re.compile(r"\bat (?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?: ?UTC)?\b", re.I)
_LAST_MINUTE = time(23, 59)


def due(sentence: str, said: datetime) -> datetime | None:
    """In UTC, counted from when it was said. A day ends at 23:59 unless the sentence names a time."""
    if (within := _within(sentence, said)) is not None:
        return within
    day = _day(sentence, said.date())
    if day is None:
        return None
    clock = _CLOCK.search(sentence)
    at = _LAST_MINUTE if clock is None else time(int(clock["hour"]), int(clock["minute"]))
    return datetime.combine(day, at, UTC)


def _within(sentence: str, said: datetime) -> datetime | None:
    found = _WITHIN.search(sentence)
    if found is None:
        return None
    word = found["count"].lower()
    count = _COUNTS[word] if word in _COUNTS else int(word)
    return said + timedelta(**{f"{found['unit'].lower()}s": count})


def _day(sentence: str, said: date) -> date | None:
    named = mentions(sentence)
    if named:
        return _named(named[0], said) if len(named) == 1 else None
    if _TODAY.search(sentence):
        return said
    if _TOMORROW.search(sentence):
        return said + timedelta(days=1)
    weekday = _WEEKDAY.search(sentence)
    if weekday is None:
        return None
    ahead = (_WEEKDAYS[weekday["day"].lower()] - said.weekday()) % 7
    return said + timedelta(days=ahead or 7)


def _named(named: Mention, said: date) -> date | None:
    """The day itself, or its next one where the year is left out."""
    if named.month is None or named.day is None:
        return None
    years = [named.year] if named.year is not None else [said.year, said.year + 1]
    for year in years:
        if named.day <= calendar.monthrange(year, named.month)[1]:
            day = date(year, named.month, named.day)
            if named.year is not None or day >= said:
                return day
    return None
