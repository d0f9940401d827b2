"""The days that a sentence names, counted from when it was said. Pure, and linear in the sentence.

English. A name that may be no day, such as "may" or "second", counts only beside what makes it one.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple, TypeAlias

from shared.search.dates import dated

Toward = Literal["past", "future"]


class Day(NamedTuple):
    """What a sentence names, from `first` to `last`. `start` and `stop` are its place in the sentence."""

    first: date
    last: date
    start: int
    stop: int


_Span: TypeAlias = tuple[date, date]
_Reading: TypeAlias = Callable[[re.Match[str], date, Toward], _Span | None]

_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {name: number for number, name in enumerate(_NAMES, 1)}
_COUNTS = {**_NUMBERS, "a": 1, "an": 1, "a couple of": 2, "couple of": 2}
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|weekend|fortnight|month|year)s?"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_PERIOD = r"(?P<period>weekend|week|month|quarter|year|spring|summer|autumn|fall|winter)"
_OFFSET = {"last": -1, "this": 0, "next": 1, "coming": 1}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def times(sentence: str, said: date, toward: Toward) -> list[Day]:
    """In the order of the sentence. `toward` is the side on which a bare day lies, such as Friday."""
    found = [*_named(sentence, said, toward), *_relative(sentence, said, toward)]
    return [*_apart(sorted(found, key=lambda day: (day.start, -day.stop)))]


def _apart(days: Sequence[Day]) -> Iterator[Day]:
    """Of those that overlap, the first and longest."""
    end = -1
    for day in days:
        if day.start >= end:
            end = day.stop
            yield day


def _named(sentence: str, said: date, toward: Toward) -> Iterator[Day]:
    for each in dated(sentence):
        year, month, day = each.mention
        if month is not None and (span := _of_parts(year, month, day, said, toward)) is not None:
            yield Day(*span, each.start, each.stop)


def _of_parts(year: int | None, month: int, day: int | None, said: date, toward: Toward) -> _Span | None:
    """The nearest one on that side where the year is left out."""
    for candidate in [year] if year is not None else _years(said, toward):
        if not 1 <= candidate <= date.max.year or (day or 1) > calendar.monthrange(candidate, month)[1]:
            continue
        span = month_of(candidate, month) if day is None else _day(date(candidate, month, day))
        if year is not None or (span[1] >= said if toward == "future" else span[0] <= said):
            return span
    return None


def _years(said: date, toward: Toward) -> list[int]:
    step = 1 if toward == "future" else -1
    return [said.year, said.year + step, said.year + 2 * step]


def _relative(sentence: str, said: date, toward: Toward) -> Iterator[Day]:
    for pattern, read in _READINGS:
        for match in pattern.finditer(sentence):
            try:
                span = read(match, said, toward)
            except (OverflowError, ValueError):
                continue
            if span is not None:
                yield Day(*span, *match.span())


def _day(day: date) -> _Span:
    return day, day


def month_of(year: int, month: int) -> _Span:
    """From the first day of a month to the last. The month may lie outside of 1 to 12."""
    years, place = divmod(month - 1, 12)
    year += years
    return date(year, place + 1, 1), date(year, place + 1, calendar.monthrange(year, place + 1)[1])


def _week(said: date, offset: int) -> _Span:
    monday = said - timedelta(days=said.weekday()) + timedelta(weeks=offset)
    return monday, monday + timedelta(days=6)


def _weekend(said: date, offset: int) -> _Span:
    """Of Saturday and Sunday. On a weekend, this one is the last of its week."""
    sunday = _week(said, offset)[1]
    return sunday - timedelta(days=1), sunday


def _season(name: str, said: date, offset: int) -> _Span | None:
    """The nearest one that is wholly on the side."""
    month = _SEASONS[name]
    spans = [(month_of(year, month)[0], month_of(year, month + 2)[1]) for year in _around(said)]
    return _nearest(spans, said, offset)


def _around(said: date) -> range:
    return range(said.year - 2, said.year + 3)


def _nearest(spans: Sequence[_Span], said: date, offset: int) -> _Span | None:
    """Of spans in order: the last one before, the first one after, or for no offset the first that is not over."""
    if offset < 0:
        return next((span for span in reversed(spans) if span[1] < said), None)
    return next((span for span in spans if (span[0] > said if offset else span[1] >= said)), None)


def _period(name: str, said: date, offset: int) -> _Span | None:
    if name == "week":
        return _week(said, offset)
    if name == "weekend":
        return _weekend(said, offset)
    if name == "month":
        return month_of(said.year, said.month + offset)
    if name == "quarter":
        first = 3 * ((said.month - 1) // 3 + offset) + 1
        return month_of(said.year, first)[0], month_of(said.year, first + 2)[1]
    if name == "year":
        return date(said.year + offset, 1, 1), date(said.year + offset, 12, 31)
    return _season(name, said, offset)


def _read_period(match: re.Match[str], said: date, _: Toward) -> _Span | None:
    return _period(match["period"].lower(), said, _OFFSET[match["which"].lower()])


def _read_before_last(match: re.Match[str], said: date, _: Toward) -> _Span | None:
    return _period(match["period"].lower(), said, -2 if match["which"].lower() == "before last" else 2)


def _read_end(match: re.Match[str], said: date, _: Toward) -> _Span | None:
    span = _period(match["period"].lower(), said, _OFFSET[(match["which"] or "this").lower()])
    return span and _day(span[1])


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower()
    return _COUNTS[word] if word in _COUNTS else int(word)


def _moved(unit: str, count: int, said: date) -> _Span:
    if unit == "weekend":
        return _weekend(said, count)
    if unit == "month":
        return _day(_months_on(said, count))
    if unit == "year":
        return _day(_months_on(said, 12 * count))
    return _day(said + timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14}[unit]))


def _months_on(said: date, count: int) -> date:
    first, last = month_of(said.year, said.month + count)
    return first.replace(day=min(said.day, last.day))


def _read_ago(match: re.Match[str], said: date, _: Toward) -> _Span:
    return _moved(match["unit"].lower(), -_count(match), said)


def _read_ahead(match: re.Match[str], said: date, toward: Toward) -> _Span | None:
    """Only of what is to come: "in two days" may also say how long something took."""
    return _moved(match["unit"].lower(), _count(match), said) if toward == "future" else None


def _read_weekday(match: re.Match[str], said: date, toward: Toward) -> _Span:
    which = (match["which"] or "").lower()
    if which == "last" or (which == "" and toward == "past"):
        back = (said.weekday() - _WEEKDAYS[match["weekday"].lower()]) % 7
        return _day(said - timedelta(days=back or 7))
    ahead = (_WEEKDAYS[match["weekday"].lower()] - said.weekday()) % 7
    return _day(said + timedelta(days=ahead or 7))


def _read_ordinal(match: re.Match[str], said: date, toward: Toward) -> _Span | None:
    """The nearest such day of a month on that side."""
    day, step = int(match["day"]), 1 if toward == "future" else -1
    months = [month_of(said.year, said.month + step * offset) for offset in range(3)]
    days = [first.replace(day=day) for first, last in months if 1 <= day <= last.day]
    return next((_day(each) for each in days if (each - said).days * step >= 0), None)


def _read_year(match: re.Match[str], _: date, __: Toward) -> _Span:
    year = int(match["year"])
    return date(year, 1, 1), date(year, 12, 31)


def _read_month(match: re.Match[str], said: date, _: Toward) -> _Span | None:
    month = [name.lower() for name in calendar.month_name].index(match["month"].lower())
    return _nearest([month_of(year, month) for year in _around(said)], said, _OFFSET[match["which"].lower()])


def _fixed(days: int) -> _Reading:
    return lambda _, said, __: _day(said + timedelta(days=days))


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b{text}\b", re.I)


_WHICH = r"(?P<which>last|this|next|coming)"
_MONTH = "|".join(name for name in calendar.month_name if name)
_READINGS: Sequence[tuple[re.Pattern[str], _Reading]] = (
    (_pattern(r"(?:the )?day before yesterday"), _fixed(-2)),
    (_pattern(r"(?:the )?day after tomorrow"), _fixed(2)),
    (_pattern(r"yesterday|last night"), _fixed(-1)),
    (_pattern(r"tomorrow"), _fixed(1)),
    (_pattern(r"today|tonight|this (?:morning|afternoon|evening)|end of (?:the )?day|eod"), _fixed(0)),
    (_pattern(rf"end of (?:(?:the|this) |(?P<which>next) )?{_PERIOD}"), _read_end),
    (_pattern(rf"the {_PERIOD} (?P<which>before last|after next)"), _read_before_last),
    (_pattern(rf"(?P<which>last|this|next|coming) {_PERIOD}"), _read_period),
    (_pattern(rf"{_COUNT} {_UNIT} (?:ago|earlier|back)"), _read_ago),
    (_pattern(rf"(?:with)?in {_COUNT} {_UNIT}(?! ago\b)"), _read_ahead),
    (_pattern(rf"(?:{_WHICH} )?{_WEEKDAY}"), _read_weekday),
    (_pattern(rf"{_WHICH} (?P<month>{_MONTH})"), _read_month),
    (
        _pattern(
            r"the (?P<day>[0-3]?\d)(?:st|nd|rd|th)(?! (?:of|century|floor|time|place|grade|birthday|anniversary)\b)"
        ),
        _read_ordinal,
    ),
    (_pattern(r"(?:in|since|during|of) (?P<year>(?:19|20)\d\d)(?!-)"), _read_year),
)
