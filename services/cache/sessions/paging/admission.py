"""Whether content is worth an object of a session. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# How much a type of object is worth before anything is known of its text.
_TYPES: Mapping[str, float] = {
    "design_decision": 1.0,
    "plan": 0.9,
    "file_context": 0.8,
    "error_context": 0.8,
    "debugging_session": 0.7,
    "external_reference": 0.6,
    "conversation_phase": 0.5,
    "tool_result": 0.5,
}
_OTHER_TYPE = 0.4
_TYPE, _NOVELTY, _UTILITY, _RECENCY = 0.3, 0.3, 0.3, 0.1
THRESHOLD = 0.35
# A text of so many tokens says enough to be looked up again.
_ENOUGH = 40
# The turns after which content that comes late counts half.
_HALF_LIFE = 10


class Admission(NamedTuple):
    """The score and its parts, each from 0 to 1."""

    admitted: bool
    total: float
    type: float
    novelty: float
    utility: float
    recency: float
    threshold: float = THRESHOLD


def admit(
    object_type: str, text: str, *, tokens: int, likeness: float = 0.0, turns_ago: int = 0
) -> Admission:
    """`likeness`, from 0 to 1, is the share of it that the context of the session shows whole."""
    of_type = _TYPES.get(object_type, _OTHER_TYPE)
    utility = min(1.0, tokens / _ENOUGH) * _share_of_distinct_lines(text)
    recency = 0.5 ** (max(0, turns_ago) / _HALF_LIFE)
    return _scored(of_type, likeness, utility, recency)


def less_novel(score: Admission, likeness: float) -> Admission:
    """The score, of new content, as it is when so much of it is shown."""
    return _scored(score.type, likeness, score.utility, score.recency)


def _scored(of_type: float, likeness: float, utility: float, recency: float) -> Admission:
    """What is shown already is no more to be looked up."""
    novelty = 1 - min(1.0, max(0.0, likeness))
    utility *= novelty
    total = _TYPE * of_type + _NOVELTY * novelty + _UTILITY * utility + _RECENCY * recency
    return Admission(total >= THRESHOLD, total, of_type, novelty, utility, recency)


def _share_of_distinct_lines(text: str) -> float:
    lines = [stripped for line in text.splitlines() if (stripped := line.strip())]
    return len(set(lines)) / len(lines) if lines else 0.0
