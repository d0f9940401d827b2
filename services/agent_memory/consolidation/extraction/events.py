"""What happened on a day that is told: a sentence of the past with its one day. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from services.agent_memory.consolidation.extraction.parties import Parties
from services.agent_memory.consolidation.extraction.saying import Said
from services.agent_memory.consolidation.extraction.tense import at_midnight, days, is_past
from services.agent_memory.consolidation.learned import LearnedEpisode
from shared.sentences.times import Day

_SHORTEST = 4
"""In words."""
_LONGEST = timedelta(days=366)
_WORD = re.compile(r"\w+")
_NO_EVENT = re.compile(r"\b(?:(?:feels?|seems?|felt|looks?) like|here['’]s to|as if)\b", re.I)


def events(said: Sequence[Said], parties: Parties) -> Iterator[LearnedEpisode]:
    for sentence in said:
        day = _day(sentence)
        if day is not None:
            yield _episode(sentence, day, parties.who(sentence))


def _day(sentence: Said) -> Day | None:
    text = sentence.text
    if (
        sentence.is_question
        or sentence.doubts
        or sentence.denies
        or not is_past(text)
        or _NO_EVENT.search(text)
    ):
        return None
    named = days(sentence)
    if len(named) != 1 or len(_WORD.findall(text)) < _SHORTEST:
        return None
    over = named[0].last <= sentence.turn.at.date() and named[0].last - named[0].first < _LONGEST
    return named[0] if over else None


def _episode(sentence: Said, day: Day, who: str | None) -> LearnedEpisode:
    span = (
        f"{day.first:%Y-%m-%d}" if day.first == day.last else f"{day.first:%Y-%m-%d} to {day.last:%Y-%m-%d}"
    )
    return LearnedEpisode(
        turns=(sentence.turn.position,),
        trust=sentence.turn.trust,
        content=f"{span}: {sentence.text}" if who is None else f"{span}, {who}: {sentence.text}",
        began_at=at_midnight(day.first),
        ended_at=_end(day, sentence.turn.at),
    )


def _end(day: Day, said: datetime) -> datetime:
    return max(at_midnight(day.first), min(at_midnight(day.last) + timedelta(days=1), said))
