"""The days of a sentence, on the side of its verb. Pure."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

from services.agent_memory.consolidation.extraction.saying import Said
from shared.sentences.times import Day, Toward, times

_AHEAD = re.compile(
    r"\b(?:will|shall|gonna|can|could|may|might|would|should|let['’]s|let us|see you|plan(?:s|ning)? to|promised? to"
    r"|hop(?:e|ing) to|want(?:s)? to|need(?:s)? to|have to|going to|about to|due)\b|['’](?:ll|d)\b|\bwon['’]t\b"
)
_BEHIND = re.compile(
    r"\b(?:was|were|had|did|went|saw|met|got|took|made|came|bought|found|gave|had|held|heard|kept|knew|left|lost|paid"
    r"|ran|read|said|sang|sat|sent|slept|spent|spoke|stood|taught|told|thought|understood|woke|won|wore|wrote|began"
    r"|broke|brought|built|caught|chose|drew|drove|ate|fell|felt|flew|forgot|grew|hit|led|let|rode|sold|swam|threw"
    r"|hurt|cut|put|ago|been|last|yesterday|[a-z]{2,20}ed)\b"
)


def is_past(text: str) -> bool:
    return _BEHIND.search(text) is not None and _AHEAD.search(text) is None


def days(said: Said) -> list[Day]:
    toward: Toward = "past" if is_past(said.text) else "future"
    return times(said.text, said.turn.at.date(), toward)


def at_midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
