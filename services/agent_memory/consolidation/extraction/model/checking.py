"""How far the turns bear out what the helper model says that they teach. Pure.

Every turn that an item names must exist, and together they must hold the content words of its value. What an agent
says of itself is no fact. Whatever fails is dropped and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple, TypeVar

import msgspec

from services.agent_memory.consolidation.extraction.model.answer import (
    Told,
    ToldAlias,
    ToldCommitment,
    ToldEvent,
    ToldFact,
)
from services.agent_memory.consolidation.extraction.parties import parties, states_of_itself
from services.agent_memory.consolidation.extraction.tense import at_midnight
from services.agent_memory.consolidation.learned import (
    Derived,
    Learned,
    LearnedAlias,
    LearnedCommitment,
    LearnedEpisode,
    LearnedFact,
    Source,
    Turn,
    weakest,
)
from services.agent_memory.facts.words import content_words
from shared.secrets.scanning import found_in
from shared.sentences.triples import is_name

MOST = 60
"""Items of a kind."""
_LAST_MINUTE = time(23, 59)
_FARTHEST = timedelta(days=366 * 5)
_LONGEST_SUMMARY = 1_000
_MOST_TOPICS = 5
_LONGEST_TOPIC = 60

Item = TypeVar("Item", ToldFact, ToldEvent, ToldCommitment, ToldAlias)


class Checked(NamedTuple):
    learned: Learned
    kept: int
    dropped: int


class _Turns:
    """The turns that the model was shown, by the numbers that it knows them by."""

    def __init__(self, turns: Sequence[Turn], source: Source) -> None:
        self._turns, self.source = turns, source
        self.between = parties(turns, source)
        self._words = [content_words(turn.text) for turn in turns]
        self._names = content_words(" ".join(self.between.names))
        self.outcomes: Counter[bool] = Counter()

    def of(self, numbers: Sequence[int]) -> list[Turn]:
        """Empty if one does not exist."""
        known = all(1 <= number <= len(self._turns) for number in numbers)
        return [self._turns[number - 1] for number in sorted(set(numbers))] if known else []

    def hold(self, numbers: Sequence[int], *values: str) -> bool:
        """Whether the turns hold the content words of the values; who speaks may be named besides."""
        held = set[str]().union(*(self._words[number - 1] for number in numbers))
        wanted = content_words(" ".join(values))
        return bool(wanted) and wanted <= held | self._names

    def everything(self) -> set[str]:
        return self._names.union(*self._words)


def checked(told: Told, turns: Sequence[Turn], source: Source) -> Checked:
    shown = _Turns(turns, source)
    summary = _summary(told, turns, shown)
    learned = Learned(
        facts=tuple(_each(told.facts, ToldFact, shown, _fact)),
        episodes=(*_each(told.events, ToldEvent, shown, _event), *([] if summary is None else [summary])),
        commitments=tuple(_each(told.commitments, ToldCommitment, shown, _commitment)),
        aliases=tuple(_each(told.aliases, ToldAlias, shown, _alias)),
    )
    return Checked(learned, shown.outcomes[True], shown.outcomes[False])


_Learned = TypeVar("_Learned", bound=Derived)
_Check = Callable[[Item, list[Turn], _Turns], _Learned | None]


def _each(
    items: Sequence[msgspec.Raw], kind: type[Item], shown: _Turns, check: _Check[Item, _Learned]
) -> Iterator[_Learned]:
    for raw in items[:MOST]:
        try:
            item = msgspec.json.decode(raw, type=kind)
        except msgspec.ValidationError:
            shown.outcomes[False] += 1
            continue
        of = shown.of(item.turns)
        learned = check(item, of, shown) if of else None
        shown.outcomes[learned is not None] += 1
        if learned is not None:
            yield learned
    shown.outcomes[False] += max(0, len(items) - MOST)


def _fact(item: ToldFact, of: list[Turn], shown: _Turns) -> LearnedFact | None:
    agents = {shown.source.agent_name, "assistant"}
    by_itself = item.subject in agents and not any(states_of_itself(turn, shown.source) for turn in of)
    if by_itself or not is_name(item.subject) or not shown.hold(item.turns, item.object):
        return None
    if not shown.hold(item.turns, item.subject):
        return None
    return LearnedFact(
        turns=_positions(of),
        trust=weakest(turn.trust for turn in of),
        subject=item.subject,
        predicate=item.predicate,
        object=item.object,
        single=item.single,
        valid_from=min(turn.at for turn in of),
    )


def _event(item: ToldEvent, of: list[Turn], shown: _Turns) -> LearnedEpisode | None:
    began = at_midnight(item.date)
    said = max(turn.at for turn in of)
    if began > said or not shown.hold(item.turns, item.text):
        return None
    return LearnedEpisode(
        turns=_positions(of),
        trust=weakest(turn.trust for turn in of),
        content=f"{item.date}: {item.text}",
        began_at=began,
        ended_at=max(began, min(began + timedelta(days=1), said)),
    )


def _commitment(item: ToldCommitment, of: list[Turn], shown: _Turns) -> LearnedCommitment | None:
    said = min(turn.at for turn in of)
    due = datetime.combine(item.due, _LAST_MINUTE, UTC)
    parties = [item.owed_by, *filter(None, [item.owed_to])]
    if not said < due < said + _FARTHEST or not shown.hold(item.turns, item.text, *parties):
        return None
    return LearnedCommitment(
        turns=_positions(of),
        trust=weakest(turn.trust for turn in of),
        content=item.text,
        said_at=said,
        due_at=due,
        owed_by=item.owed_by,
        owed_to=item.owed_to,
    )


def _alias(item: ToldAlias, of: list[Turn], shown: _Turns) -> LearnedAlias | None:
    alike = item.alias.casefold() == item.entity.casefold()
    if alike or not shown.hold(item.turns, item.alias) or not shown.hold(item.turns, item.entity):
        return None
    return LearnedAlias(
        turns=_positions(of), trust=weakest(turn.trust for turn in of), alias=item.alias, entity=item.entity
    )


def _summary(told: Told, turns: Sequence[Turn], shown: _Turns) -> LearnedEpisode | None:
    """Words of its own are fine; names and numbers that no turn has are not."""
    text = told.summary.strip()
    if not text or not turns:
        return None
    named = {word for word in text.split() if word[:1].isupper() or any(map(str.isdigit, word))}
    sentence_starts = {part.split()[0] for part in text.replace("! ", ". ").split(". ") if part.split()}
    strange = content_words(" ".join(named - sentence_starts)) - shown.everything()
    shown.outcomes[not strange] += 1
    if strange or len(text) > _LONGEST_SUMMARY or found_in(text):
        return None
    topics = [topic for topic in told.topics if 0 < len(topic) <= _LONGEST_TOPIC]
    return LearnedEpisode(
        turns=_positions(turns),
        trust=weakest(turn.trust for turn in turns),
        content=text,
        began_at=min(turn.at for turn in turns),
        ended_at=max(turn.at for turn in turns),
        topics=tuple(topics[:_MOST_TOPICS]),
    )


def _positions(turns: Sequence[Turn]) -> tuple[int, ...]:
    return tuple(sorted(turn.position for turn in turns))
