"""What a stretch of turns was about: its sentences that hold most of its frequent words. Pure.

The frequency of words as in SumBasic (Nenkova and Vanderwende 2005): a word that an extract holds already counts less
in the next sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from services.agent_memory.consolidation.extraction.parties import Parties
from services.agent_memory.consolidation.extraction.saying import Said
from services.agent_memory.consolidation.learned import LearnedEpisode, weakest
from services.agent_memory.facts.words import content_words

_FEWEST_TURNS = 4
_FEWEST_WORDS = 15
_SENTENCES = 5
_TOPICS = 5
_MOST_READ = 2_000
"""Sentences."""
_WORDS = (6, 45)
"""Of a sentence that is taken."""
_TOPIC = re.compile(r"[^\W\d_][\w-]{3,30}")
_TALK = frozenset(
    """that this with have just like really thanks thank good great nice been want going what think know your about
    there they them then than here would could should will well yeah okay sure hello from when some more much very also
    love glad hope happy sounds sound definitely something anything things thing make makes made time keep take taking
    looking look looks feel feels feeling cool awesome amazing wonderful totally absolutely gonna wanna doing done come
    came went were does didn don isn can't it's i'm i've that's let's you're always never lots lately being even because
    into over only still every other people little kind share shares photo best back need which where""".split()  # noqa: SIM905
)
# What is said of the listener tells less.
_OF_YOU = re.compile(r"\b(?:you|your|yours|thanks|thank|wow|hey)\b|['’]re\b", re.I)
_YOURS = 0.3


class _Sentence(NamedTuple):
    place: int
    said: Said
    words: frozenset[str]


def episode(said: Sequence[Said], parties: Parties) -> LearnedEpisode | None:
    """None for a stretch that is too short to be told in fewer words."""
    told = [each for each in said[:_MOST_READ] if not each.quoted]
    turns = {each.turn.position: each.turn for each in told}
    counts = Counter(word for each in told for word in content_words(each.text) if len(word) > 2)
    if len(turns) < _FEWEST_TURNS or counts.total() < _FEWEST_WORDS:
        return None
    chosen = _chosen(told, counts)
    topics = _topics(told, {word.lower() for name in parties.names for word in name.split()})
    of = [*turns.values()]
    return LearnedEpisode(
        turns=tuple(sorted(turns)),
        trust=weakest(turn.trust for turn in of),
        content="\n".join([_title(parties, topics), *(_line(each.said, parties) for each in chosen)]),
        began_at=min(turn.at for turn in of),
        ended_at=max(turn.at for turn in of),
        topics=topics,
    )


def _chosen(said: Sequence[Said], counts: Mapping[str, int]) -> list[_Sentence]:
    """In the order in which they were said."""
    least, most = _WORDS
    left = [
        _Sentence(place, each, frozenset(content_words(each.text)))
        for place, each in enumerate(said)
        if not each.is_question and least <= len(each.text.split()) <= most
    ]
    weights = dict(counts)
    chosen: list[_Sentence] = []
    while left and len(chosen) < _SENTENCES:
        best = max(left, key=lambda each: (_weight(each, weights), -each.place))
        chosen.append(best)
        left.remove(best)
        for word in best.words:
            weights[word] = 0
    return sorted(chosen)


def _weight(sentence: _Sentence, weights: Mapping[str, int]) -> float:
    """Per word, so that long sentences do not win by their length alone."""
    said = [weights.get(word, 0) for word in sentence.words]
    return (_YOURS if _OF_YOU.search(sentence.said.text) else 1.0) * sum(said) / (len(said) + 3)


def _topics(said: Sequence[Said], names: Set[str]) -> tuple[str, ...]:
    """The words that most sentences hold, besides the names of who speaks."""
    counts: Counter[str] = Counter()
    for each in said:
        counts.update({word.lower() for word in _TOPIC.findall(each.text)} - _TALK - names)
    # Words that are as frequent stand in the order of the alphabet, in every process.
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(word for word, count in ranked[:_TOPICS] if count > 1)


def _title(parties: Parties, topics: Sequence[str]) -> str:
    who = " and ".join(parties.names[:3]) or "A session"
    return f"{who} about {', '.join(topics)}" if topics else who


def _line(said: Said, parties: Parties) -> str:
    who = parties.who(said)
    return f"- {said.text}" if who is None else f"- {who}: {said.text}"
