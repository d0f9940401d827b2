"""Whether it pays to send blocks shorter that a provider's cache holds in full. Pure.

A provider serves a request from its cache up to the first byte that differs. To shorten a block therefore means to
write anew all that follows it, at the price of a cache write, and to read less in every later request.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from shared.spending.prices import Price

# Multiples of the input price where the table of prices states none, as both providers publish them.
_READ, _WRITE_ANTHROPIC = 0.1, 1.25
_MOST_TURNS = 200
# What the model writes to ask for a block, and the text around the answer.
_CALL_TOKENS = 60
# Whether a block is wanted again falls with its age: the chance in a turn is so much over the age.
RETURN = 0.2


class Rates(NamedTuple):
    """Of one token, in any currency."""

    input: float
    read: float
    write: float
    output: float


class Candidate(NamedTuple):
    """A block that could be shorter."""

    before: int
    """Tokens that stand before it."""
    tokens: int
    then: int
    age: int
    waited: int
    """For how many turns it could have been shorter already."""
    released: bool = False
    """The model has said that it needs no more of it."""


class Choice(NamedTuple):
    moved: Sequence[int]
    """Numbers of candidates."""
    gain: float


def rates_of(price: Price | None, *, anthropic: bool, cached: bool) -> Rates:
    """Relative ones for a model without a price. What is not cached is read, and written, as plain input."""
    plain = float(price.input) if price is not None and price.input else 1.0
    output = float(price.output) if price is not None and price.output is not None else 5 * plain
    if not cached:
        return Rates(plain, plain, plain, output)
    read = price.cache_read if price is not None else None
    write = price.cache_write if price is not None else None
    dearer = _WRITE_ANTHROPIC if anthropic else 1.0
    return Rates(
        plain,
        float(read) if read is not None else _READ * plain,
        float(write) if write is not None else dearer * plain,
        output,
    )


def expected_turns(turns: int) -> int:
    """How many turns a session of this age still has: as many as it had.

    Whoever looks at a moment of something's life that nothing singles out finds half of it over, in the median (Gott,
    Nature 363, 1993). No model of a user is behind it, and no session is taken to last for more than 200 turns.
    """
    return min(turns, _MOST_TURNS)


def decide(
    candidates: Sequence[Candidate], sent: int, turns: int, rates: Rates, kept: int | None = None
) -> Choice | None:
    """The cut behind which it pays most to send candidates shorter; None: it does not pay, or not yet.

    It pays when what the rest of the session saves exceeds what is written anew, with what comes back. It is time
    when what waiting has cost reaches that price: as with lots of an order, the sum of both is least where they are
    equal (Harris, 1913), and whoever follows it pays at most twice the best (ski rental).

    `candidates` stand in the order of the request, of which the cache holds the first `sent` tokens. Of a request that
    differs from some point on it serves all before that point, or no more than the first `kept` tokens.
    """
    rest = expected_turns(turns)
    best: Choice | None = None
    moved: list[int] = []
    saved = waste = gained = 0.0
    for number in reversed(range(len(candidates))):
        each = candidates[number]
        less = each.tokens - each.then
        returns = 0.0 if each.released else _returns(each.age, rest)
        alone = rates.read * less * (rest + 1) - returns * _fault(each, sent, rates)
        if alone <= 0:
            # It would come back too often for what it takes.
            continue
        moved.append(number)
        gained += alone
        saved += less
        waste += rates.read * less * each.waited
        served = each.before if kept is None else min(kept, each.before)
        anew = max(0.0, sent - served - saved) * (rates.write - rates.read)
        if gained > anew and waste >= anew and (best is None or gained - anew > best.gain):
            best = Choice(tuple(moved), gained - anew)
    return best


def at_once(tokens: int, then: int, sent: int, turns: int, likely: float, rates: Rates) -> bool:
    """Whether a block that nobody has seen yet goes in shorter, when the model wants it whole with this likelihood."""
    less = tokens - then
    saved = less * (rates.write + rates.read * expected_turns(turns))
    fault = _fault(Candidate(sent, tokens, then, 0, 0), sent, rates)
    return saved > likely * fault


def _returns(age: int, rest: int) -> float:
    """How often it is expected to be wanted again: the sum of the chances in all turns to come."""
    return RETURN * math.log((age + rest + 1) / (age + 1))


def _fault(each: Candidate, sent: int, rates: Rates) -> float:
    """One more request, that reads the conversation from the cache and the block as input."""
    return sent * rates.read + each.tokens * rates.input + _CALL_TOKENS * rates.output
