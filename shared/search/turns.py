"""What a conversation's turns say about each other, and what a turn's form says about it. Pure.

docs/decisions/0190 says how the constants were found.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from statistics import fmean

import msgspec

from shared.reading.memo import remembered
from shared.search.evidence import Candidate

SMOOTHING = 0.2
# Neighbours count fully for a turn of up to this many words, and less for a longer one, which has its own context.
SMOOTHING_WORDS = 40
SHORT, SHORT_WORDS = 0.05, 25
QUESTION, QUESTION_WORDS = 0.08, 12
ANSWER, ASKED_WORDS, ANSWER_WORDS = 0.06, 25, 40
TIME, TIME_WORDS = 0.1, 40
# A task is worked on in one session: that it holds the task's words says more of its steps than of other turns.
SESSION, SESSION_OF_TASK = 0.1, 0.5

_ASKS_FOR_A_TIME = re.compile(
    r"\b(?:when|(?:what|which) (?:day|date|time|month|year)|how (?:long|often|recently)"
    r"|since|until|before|after|first|last|latest|earliest|ago|date)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
TIMES = frozenset(
    "yesterday today tomorrow tonight ago last next since until recently day days week weeks weekend month months year"  # noqa: SIM905
    " years morning evening night monday tuesday wednesday thursday friday saturday sunday january february march april"
    " may june july august september october november december".split()
)
_NUMBERED_TIME = re.compile(r"\b(?:\d{4}|\d{1,2}(?:st|nd|rd|th))\b")


class Weighed(msgspec.Struct):
    """A candidate while it is being scored.

    `alone` is its evidence times its prior. `value` adds its neighbours' share, boosts and cues.
    """

    store: str
    candidate: Candidate
    text: float = 0.0
    vector: float = 0.0
    evidence: float = 0.0
    alone: float = 0.0
    value: float = 0.0


def weigh(query: str, found: Sequence[Weighed], weights: Sequence[float], *, task: bool = False) -> None:
    """Adds what turns of conversations show of themselves and of each other. `weights` are the question's words'.

    s_i + a (s_(i-1) + s_(i+1)) over consecutive turns of one session: the turns around a hit are about it too. Other
    items are left alone: a note is short by nature, and nobody answers it.
    """
    turns = [each for each in found if _is_turn(each.candidate)]
    asks_for_a_time = _ASKS_FOR_A_TIME.search(query) is not None
    for each in turns:
        candidate = each.candidate
        if candidate.words < SHORT_WORDS:
            each.value += _form(candidate)
        if asks_for_a_time and _tells_a_time(candidate.text):
            each.value += TIME * _share(TIME_WORDS, candidate.words)
    sessions = _sessions(turns)
    for session in sessions:
        _favour_neighbours(session)
    _favour_sessions(sessions, weights, task=task)


@remembered
def _tells_a_time(text: str) -> bool:
    lower = text.lower()
    if not TIMES.isdisjoint(_WORD.findall(lower)):
        return True
    return _DIGIT.search(lower) is not None and _NUMBERED_TIME.search(lower) is not None


def _is_turn(candidate: Candidate) -> bool:
    return candidate.session_id is not None and candidate.seq is not None


def _form(candidate: Candidate) -> float:
    """Of a short turn, which says little. A short question asks for what others know."""
    value = -SHORT * (1 - candidate.words / SHORT_WORDS)
    return value - QUESTION if candidate.words <= QUESTION_WORDS and _asks(candidate) else value


def _asks(candidate: Candidate) -> bool:
    return candidate.text.rstrip().endswith("?")


def _answers(first: Candidate, second: Candidate) -> bool:
    """Whether `second` may be a person's answer to `first`. Chunks of one turn do not answer each other."""
    return (
        first.id != second.id
        and first.words <= ASKED_WORDS
        and _asks(first)
        and second.words <= ANSWER_WORDS
        and second.speaker != "assistant"
    )


def _sessions(turns: Iterable[Weighed]) -> Collection[list[Weighed]]:
    sessions: defaultdict[tuple[str, str, str | None], list[Weighed]] = defaultdict(list)
    for each in turns:
        sessions[each.store, each.candidate.scope, each.candidate.session_id].append(each)
    return sessions.values()


def _favour_sessions(
    sessions: Collection[Sequence[Weighed]], weights: Sequence[float], *, task: bool
) -> None:
    """Raises turns whose session holds more of the question's words, by weight, than the candidates' sessions do."""
    mass = sum(weights)
    if not sessions or not mass:
        return
    shares = [_held(session, weights) / mass for session in sessions]
    usual = fmean([share for share, session in zip(shares, sessions, strict=True) for _ in session])
    for share, session in zip(shares, sessions, strict=True):
        more = share - usual
        for each in session:
            weight = SESSION_OF_TASK if task and each.candidate.step is not None else SESSION
            each.value += weight * more


def _held(session: Iterable[Weighed], weights: Sequence[float]) -> float:
    """The weight of the question's words that a session's turns hold together."""
    places: set[int] = set()
    for each in session:
        places.update(each.candidate.places)
    return sum([weights[place - 1] for place in places])


def _favour_neighbours(session: Iterable[Weighed]) -> None:
    """Consecutive turns of one session, and consecutive chunks of one turn."""
    consecutive = sorted(session, key=_place)
    for first, second in itertools.pairwise(consecutive):
        before, after = first.candidate, second.candidate
        if not _adjacent(before, after):
            continue
        first.value += SMOOTHING * _share(SMOOTHING_WORDS, before.words) * second.alone
        second.value += SMOOTHING * _share(SMOOTHING_WORDS, after.words) * first.alone
        if _answers(before, after):
            second.value += ANSWER * first.alone


def _place(each: Weighed) -> tuple[int, int, int]:
    candidate = each.candidate
    return candidate.seq or 0, candidate.id, candidate.chunk


def _share(enough: int, words: int) -> float:
    """1 for a text of up to `enough` words, and less for a longer one."""
    return 1.0 if words <= enough else enough / words


def _adjacent(first: Candidate, second: Candidate) -> bool:
    if first.id == second.id:
        return second.chunk == first.chunk + 1
    follows = (second.seq or 0) - (first.seq or 0) == 1
    return follows and first.chunk == first.chunks - 1 and second.chunk == 0
