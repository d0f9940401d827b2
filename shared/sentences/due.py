"""The time by which a sentence says that something will be done. Pure. Deliberately small: a doubtful one is None."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from shared.sentences.times import Day, times

_WITHIN = re.compile(r"\b(?:with)?in (?P<count>\d{1,3}|an?|one|two|three) (?P<unit>hour|day|week)s?\b", re.I)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
_CLOCK = re.compile(
    r"\b(?:at|by|before|until) (?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d)(?: ?UTC)?\b| ?(?P<half>[ap]m)\b)",
    re.I,
)
_LAST_MINUTE = time(23, 59)
_LONGEST = timedelta(days=31)


def due(sentence: str, said: datetime) -> datetime | None:
    """In UTC, counted from when it was said. A day ends at 23:59 unless the sentence names a time."""
    if (within := _within(sentence, said)) is not None:
        return within
    day = one_day(sentence, said)
    if day is None or day.last < said.date():
        return None
    clock = _CLOCK.search(sentence)
    at = _LAST_MINUTE if clock is None or day.first != day.last else _time(clock)
    return None if at is None else datetime.combine(day.last, at, UTC)


def one_day(sentence: str, said: datetime) -> Day | None:
    """What the sentence names, at most a month, if it is only one."""
    named = times(sentence, said.date(), "future")
    return named[0] if len(named) == 1 and named[0].last - named[0].first < _LONGEST else None


def _time(clock: re.Match[str]) -> time | None:
    hour = int(clock["hour"])
    if clock["half"] is None:
        return time(hour, int(clock["minute"]))
    if not 1 <= hour <= 12:
        return None
    return time(hour % 12 + 12 * (clock["half"].lower() == "pm"))


def _within(sentence: str, said: datetime) -> datetime | None:
    found = _WITHIN.search(sentence)
    if found is None:
        return None
    word = found["count"].lower()
    count = _COUNTS[word] if word in _COUNTS else int(word)
    return said + timedelta(**{f"{found['unit'].lower()}s": count})
