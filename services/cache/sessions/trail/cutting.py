"""Where a conversation may be cut: never between a call of a tool and its result. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

# The oldest two thirds.
_NUMERATOR, _DENOMINATOR = 2, 3


class Message(msgspec.Struct, frozen=True):
    """A message that a compaction may take out, with the calls that it makes and answers."""

    seq: int
    tokens: int
    calls: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    from_assistant: bool = False


def oldest(messages: Sequence[Message], answered: frozenset[str] = frozenset()) -> int:
    """How many messages a compaction takes: the oldest two thirds, or fewer where that would part a pair.

    `answered` are calls whose results come after the messages. 0 if there is no such place.
    """
    whole = places(messages, answered)
    most = len(messages) * _NUMERATOR // _DENOMINATOR
    return next((count for count in range(most, 0, -1) if whole[count]), 0)


def places(messages: Sequence[Message], answered: frozenset[str] = frozenset()) -> list[bool]:
    """For each count of messages from the start, whether a cut behind them parts no call from its result."""
    parted = [0] * (len(messages) + 2)
    for first, last in _pairs(messages, answered):
        parted[first + 1] += 1
        parted[last + 1] -= 1
    return [count == 0 for count in accumulate(parted[:-1])]


def _pairs(messages: Sequence[Message], answered: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The places of calls and of their results. A result that is still to come has the place behind the last."""
    made: dict[str, int] = {}
    waiting: dict[str, int] = {}
    spoke = -1
    for place, message in enumerate(messages):
        yield from ((made[call], place) for call in message.answers if call in made)
        for call in message.calls | message.answers:
            waiting.pop(call, None)
        fresh = dict.fromkeys(message.calls - message.answers, place)
        made |= fresh
        waiting |= fresh
        spoke = place if message.from_assistant else spoke
    # The assistant goes on once it has its results, or never gets them.
    late = (place for call, place in waiting.items() if place >= spoke or call in answered)
    yield from ((place, len(messages)) for place in late)
