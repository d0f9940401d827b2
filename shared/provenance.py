"""The fields of every write besides its content, and the words that search and context blocks add to an item."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, field

from shared.auth import Principal
from shared.body import Body
from shared.concurrency import clock
from shared.errors import Invalid
from shared.text import BigId, Language, Name, Paths, Step, Symbols
from shared.words import readable

SourceKind = Literal["user", "agent", "tool", "document", "derived", "imported"]
TRUSTED = frozenset[SourceKind](["user", "agent"])
"""What these state stands without a note in a block."""
Seq = Annotated[int, Meta(ge=0, le=2**62)]
# In a conversation, an agent speaks under the name of its role.
_ITSELF = "assistant"
# Clocks differ by less.
_AHEAD = timedelta(minutes=1)
NOT_PAST = "must not lie in the future"
# Characters. A text of 200,000 characters has over 200 chunks.
_MOST_HEAD = 2_000


class AboutCode(Body, kw_only=True):
    """What a write says of the code that its text is about, besides what the text shows."""

    paths: Paths = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: Symbols = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Step | None = None
    """Which kind of step it records. When left out, an entry's text decides."""


class Remembered(AboutCode, kw_only=True):
    """Fields of every write. Ranking uses when and where it happened."""

    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: Name | None = None
    """The session it was said in: any string."""
    seq: Seq | None = None
    """Its number in the session."""
    speaker: Name | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: Name | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: SourceKind = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent."""
    recalled_from: BigId | None = None
    """The assembly that led to it. This counts as weak feedback."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if lies_ahead(self.occurred_at):
            yield "occurred_at", NOT_PAST


class Origin(NamedTuple):
    """The kind of source that the server vouches for, and what the writer claims if that is more."""

    kind: SourceKind
    claim: SourceKind | None = None

    @classmethod
    def of(cls, principal: Principal, claimed: SourceKind) -> Origin:
        """The key of an agent does not speak for users."""
        if claimed == "user" and principal.agent is not None:
            return cls("agent", claimed)
        return cls(claimed)


def lies_ahead(value: datetime | None) -> bool:
    """Whether a time lies in the future, as far as clocks agree."""
    if value is None:
        return False
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return aware > clock.now() + _AHEAD


def utc(value: datetime | None, field: str = "occurred_at") -> datetime | None:
    """A time without an offset is UTC."""
    if value is None:
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError as error:
        raise Invalid.field(field, "out of range") from error


def author(agent: str | None, speaker: str | None) -> str | None:
    """Who stands in a header. What an agent reports of somebody else stays the agent's word."""
    if agent is None:
        return speaker
    return agent if speaker in (None, agent, _ITSELF) else f"{speaker}, says {agent}"


def doubt(kind: str, claim: str | None) -> str | None:
    """The note in a header on a source that is not trusted, or that is only claimed."""
    if kind not in TRUSTED:
        return f"({kind})"
    return None if claim is None else f"(claimed {claim})"


def head(who: str | None, occurred_at: datetime | None, *words: str | None) -> str:
    """Words that a question may use besides the item's own: who, when, what kind. Each chunk is indexed under them."""
    when = date_words(occurred_at.date()) if occurred_at is not None else None
    return readable(" ".join(part for part in (who, when, *words) if part)[:_MOST_HEAD])


def date_words(day: date) -> str:
    """A date in the words of people's questions, for full-text search."""
    return f"{day.day} {calendar.month_name[day.month]} {day.year} {calendar.day_name[day.weekday()]}"


def spoken(who: str | None, text: str) -> str:
    """The text to embed, with its speaker: without one, a turn means less."""
    return f"{who}: {text}" if who else text
