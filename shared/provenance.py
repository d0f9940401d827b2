"""The fields of every write besides its content, and the words that search and context blocks add to an item."""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime
from typing import Annotated, Literal

from msgspec import Meta

from shared.body import Body
from shared.errors import Invalid
from shared.text import BigId, Name

SourceKind = Literal["user", "agent", "tool", "document", "derived"]
Seq = Annotated[int, Meta(ge=0, le=2**62)]


class Remembered(Body, kw_only=True):
    """Fields of every write. Ranking uses when and where it happened."""

    occurred_at: datetime | None = None
    """When it happened, by default now. A time without an offset is UTC."""
    session_id: Name | None = None
    """The session it was said in: any string."""
    seq: Seq | None = None
    """Its number in the session."""
    speaker: Name | None = None
    """Who said it, if not the agent."""
    user_id: Name | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    source_kind: SourceKind = "agent"
    """The kind of source it is from."""
    recalled_from: BigId | None = None
    """The assembly that led to it. This counts as weak feedback."""


def utc(value: datetime | None, field: str = "occurred_at") -> datetime | None:
    """A time without an offset is UTC."""
    if value is None:
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError as error:
        raise Invalid.field(field, "out of range") from error


def head(who: str | None, occurred_at: datetime | None, *words: str | None) -> str:
    """Words that a question may use besides the item's own: who, when, what kind."""
    when = date_words(occurred_at.date()) if occurred_at is not None else None
    return " ".join(part for part in (who, when, *words) if part)


def date_words(day: date) -> str:
    """A date in the words of people's questions, for full-text search."""
    return f"{day.day} {calendar.month_name[day.month]} {day.year} {calendar.day_name[day.weekday()]}"


def spoken(who: str | None, text: str) -> str:
    """The text to embed, with its speaker: without one, a turn means less."""
    return f"{who}: {text}" if who else text
