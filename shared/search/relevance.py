"""One calibrated relevance for the candidates of all stores. Pure. docs/decisions says how it was tuned."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec

from shared.embeddings.band import FLOORS, Band, Floors, band_of
from shared.search import dates, steps, turns
from shared.search.evidence import Candidate, SearchResult, StoreResult
from shared.search.lexicon import only_if_held
from shared.search.turns import Weighed

TEXT_SHARE = 0.5
# A text score is divided by the best one in any store, but by no less than this share of the question's idf mass:
# no text covers a long question completely, and the best of irrelevant texts must stay low.
MASS_SHARE = 0.4
SPEAKER_BOOST = 0.2
DATE_BOOST = 0.2
ASSISTANT_PRIOR = 0.65
_ROLES = frozenset({"user", "assistant", "tool", "system", "human", "ai"})
_MACHINES = frozenset({None, "assistant", "ai", "tool", "system"})
# A question about names that nobody mentions needs so much more evidence, times their share of it.
UNHELD = 0.2
# A capital after a character and a space.
_NAME = re.compile(r"(?<=[^\s.!?:] )[\"'“‘(]?([A-ZÀ-ÖØ-Þ]\w+)")
_WORD = re.compile(r"[^\W_]+")
_LEAST_STEM, _MOST_ENDING = 3, 3
_KNEE = 0.8
# Rounding takes a relevance to 1 where less room is left.
_LEAST_ROOM = 1e-9


class Scored(NamedTuple):
    """A candidate with the score of each arm, their combined evidence, and its relevance in [0, 1).

    `evidence` excludes priors, neighbours and boosts. The floors compare with it.
    """

    store: str
    candidate: Candidate
    text: float
    vector: float
    evidence: float
    relevance: float


class Question(msgspec.Struct, frozen=True):
    query: str
    model: str
    band: Band | None = None
    """The installation's own; None: the model's."""

    @property
    def scale(self) -> Band:
        return self.band or band_of(self.model)


def score(question: Question, results: Iterable[SearchResult]) -> list[Scored]:
    """Candidates of all stores that reach the floor, by descending relevance.

    text = sum(idf * tf) / max(the best candidate's sum, MASS_SHARE * sum(idf)), where idf = ln(1 + N/df) over
    everything searched. vector = (cosine - low) / (high - low). relevance = their weighted mean, smoothed over
    neighbouring turns, raised for a speaker or date that the question names and for text that it quotes, and corrected
    by what turns show of themselves. Equal relevance goes to the newer.
    """
    results = list(results)
    found = [
        Weighed(store, candidate)
        for result in results
        for store, searched in result.stores.items()
        for candidate in searched.candidates
    ]
    words = _word_weights(results)
    _weigh_evidence(found, _weigh_text(found, words), question.scale)
    task = steps.tells_a_task(question.query)
    _apply_priors(question.query, found, task=task)
    _boost(question.query, found)
    turns.weigh(question.query, found, words, task=task)
    steps.favour_quoted(question.query, found)
    noise = question.scale.floors.noise
    return _ordered(
        [
            # With names of fields, this takes twice as long.
            Scored(each.store, each.candidate, each.text, each.vector, each.evidence, _saturate(each.value))
            for each in found
            if each.evidence >= noise
        ]
    )


def _ordered(scored: list[Scored]) -> list[Scored]:
    """Hardly ever are two relevances equal, and only then does anything else count."""
    if len({each.relevance for each in scored}) < len(scored):
        return sorted(scored, key=_order)
    return sorted(scored, key=attrgetter("relevance"), reverse=True)


def _order(scored: Scored) -> tuple[float, float, str, int, int]:
    candidate = scored.candidate
    return -scored.relevance, -candidate.stated_at.timestamp(), scored.store, -candidate.id, candidate.chunk


def _weigh_text(found: Iterable[Weighed], weights: Sequence[float]) -> float:
    """Sums up what each text holds of the question's words. Returns what all sums are to be divided by."""
    best = sum(weights) * MASS_SHARE or 1.0
    for each in found:
        text = 0.0
        for place, tf in zip(each.candidate.places, each.candidate.tf, strict=True):
            text += weights[place - 1] * tf
        each.text = text
        if text > best:
            best = text
    return best


def _weigh_evidence(found: Iterable[Weighed], best: float, band: Band) -> None:
    """A candidate without a vector yet is judged by its text alone, without a penalty."""
    low, width = band.low, band.high - band.low
    for each in found:
        text = each.text / best
        cosine = each.candidate.cosine
        evidence = text
        if cosine is not None:
            share = (cosine - low) / width
            each.vector = vector = share if share > 0.0 else 0.0
            evidence = TEXT_SHARE * text + (1 - TEXT_SHARE) * vector
        each.text = text
        each.evidence = each.alone = each.value = evidence


def _apply_priors(query: str, found: Sequence[Weighed], *, task: bool) -> None:
    """Those of kinds of steps, and in a chat that of the assistant, unless the question addresses it."""
    chats: Collection[str] = ()
    if any(_is_by_assistant(each.candidate) for each in found) and not _addresses_assistant(query):
        chats = _chats(each.candidate for each in found)
    if not chats and not task:
        return
    for each in found:
        prior = _prior(each.candidate, chats) * steps.prior(each.candidate.step, task)
        each.alone = each.value = each.evidence * prior


def answerable(scored: Iterable[Scored], floors: Floors = FLOORS, unheld: float = 0.0) -> bool:
    """False when no candidate has more evidence than any question finds in any store.

    `unheld` is `unheld_names`: the more of the question is about somebody or something that nobody mentions, the more
    evidence an answer needs.
    """
    return max((each.evidence for each in scored), default=0.0) >= floors.answer + UNHELD * unheld


def unheld_names(query: str, results: Iterable[SearchResult]) -> float:
    """The share of the question's idf mass in names that no text searched holds and no candidate is by or about.

    Only of English questions: others write capitals at other words, too.
    """
    results = list(results)
    lexemes, weights, df = _lexemes(results), _word_weights(results), _frequencies(results)
    names = _names(query)
    if not names or not any(weights) or any(map(only_if_held, lexemes)):
        return 0.0
    names -= set(_WORD.findall(_known_names(results)))
    stems = _stems(names)
    unheld = (
        weight
        for lexeme, weight, count in zip(lexemes, weights, df, strict=True)
        if not count and (lexeme in names or lexeme.removesuffix("i") in stems)
    )
    return sum(unheld) / sum(weights)


def _names(query: str) -> set[str]:
    """Words with a capital that begin no sentence, in lower case. Days and months are none."""
    return {name.lower() for name in _NAME.findall(query)} - turns.TIMES


def _known_names(results: Iterable[SearchResult]) -> str:
    """Whom and what the candidates are by and about, besides what their texts say."""
    found = (each for result in results for store in result.stores.values() for each in store.candidates)
    names = {name for each in found for name in (each.scope, each.user_id, each.agent, each.speaker)}
    return " ".join(name for name in names if name is not None).lower()


def _stems(names: Iterable[str]) -> set[str]:
    """What English lexemes of names may be without a final i: `melani` is that of Melanie, `kelli` that of Kelly."""
    return {
        name[:stop]
        for name in names
        for stop in range(max(_LEAST_STEM, len(name) - _MOST_ENDING), len(name) + 1)
    }


def _saturate(value: float) -> float:
    """Maps a value into [0, 1) and keeps the order above 0: the identity up to the knee, then ever flatter."""
    room = 1.0 - _KNEE
    if not value > 0.0:
        return 0.0
    return value if value <= _KNEE else _KNEE + room * (1.0 - math.exp(-(value - _KNEE) / room))


def unsaturated(relevance: float) -> float:
    """The value that `score` mapped to this relevance."""
    if relevance <= _KNEE:
        return relevance
    room = 1.0 - _KNEE
    excess = (relevance - _KNEE) / room
    return _KNEE - room * math.log(max(1.0 - excess, _LEAST_ROOM))


def lexeme_weights(results: Iterable[SearchResult]) -> dict[str, float]:
    """The question's lexemes, and how rare each is in everything searched."""
    results = list(results)
    return dict(zip(_lexemes(results), _word_weights(results), strict=True))


def _lexemes(results: Iterable[SearchResult]) -> list[str]:
    return max((result.lexemes for result in results), key=len, default=[])


def _word_weights(results: Sequence[SearchResult]) -> list[float]:
    lexemes, stores = _lexemes(results), _stores(results)
    documents = sum(store.documents for store in stores)
    return [_idf(documents, df, lexeme) for lexeme, df in zip(lexemes, _frequencies(results), strict=True)]


def _frequencies(results: Sequence[SearchResult]) -> list[int]:
    """How many of the texts searched hold each lexeme."""
    stores = _stores(results)
    return [sum(store.df[place] for store in stores) for place in range(len(_lexemes(results)))]


def _stores(results: Sequence[SearchResult]) -> list[StoreResult]:
    lexemes = _lexemes(results)
    return [store for result in results for store in result.stores.values() if len(store.df) == len(lexemes)]


def _idf(documents: int, df: int, lexeme: str) -> float:
    """What no text holds counts among what a text should cover, unless it is only one form of a word."""
    if not documents or (not df and only_if_held(lexeme)):
        return 0.0
    return math.log(1 + documents / max(1, df))


def _addresses_assistant(query: str) -> bool:
    return re.search(r"\byour?s?\b", query, re.IGNORECASE) is not None


def _chats(candidates: Iterable[Candidate]) -> set[str]:
    """The scopes in which somebody speaks besides the assistant and its tools."""
    return {each.scope for each in candidates if each.speaker not in _MACHINES}


def _is_by_assistant(candidate: Candidate) -> bool:
    """Where agents work, their steps are what happened. In a chat, an answer that shows a command may look like one."""
    return candidate.speaker == "assistant" and not candidate.step_is_stated


def _prior(candidate: Candidate, chats: Collection[str]) -> float:
    """In a chat, the assistant's turns count less than others'."""
    return ASSISTANT_PRIOR if _is_by_assistant(candidate) and candidate.scope in chats else 1.0


def _boost(query: str, found: Sequence[Weighed]) -> None:
    speaker = _named_speaker(query, {_who(each.candidate) for each in found})
    if speaker is not None:
        for each in found:
            if _who(each.candidate) == speaker:
                each.value += SPEAKER_BOOST
    if named := dates.mentions(query):
        for each in found:
            when = each.candidate.occurred_at
            if when is not None and any(mention.covers(when.date()) for mention in named):
                each.value += DATE_BOOST


def _who(candidate: Candidate) -> str | None:
    return candidate.speaker or candidate.agent


def _named_speaker(query: str, speakers: Iterable[str | None]) -> str | None:
    """The speaker whose first name the question contains; None when it names nobody or several."""
    words = set(re.findall(r"\w+", query.lower()))
    people = {who for who in speakers if who and who.lower() not in _ROLES}
    named = {who for who in people if (first := re.match(r"\w+", who.lower())) and first[0] in words}
    return named.pop() if len(named) == 1 else None
