"""One call of a paid model: how it ended, and what it took as far as anybody knows."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import msgspec

from shared.concurrency.calls import CallFailed, Reason

Outcome = Literal["ok", "uncounted", "abandoned", "failed"]
"""`ok`: the provider counted its tokens. `uncounted`: it answered without counting them. `abandoned`: nobody heard the
end of it, and the provider may count it. `failed`: the provider refused it, and counts nothing."""

_REFUSED: frozenset[Reason] = frozenset({"rate_limited", "failing", "refused"})


class Tokens(NamedTuple):
    """`input` is what the provider read afresh: neither from its cache nor into it."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0


class Cost(msgspec.Struct, kw_only=True, frozen=True):
    """A row of `timeline.costs`, without its tenant."""

    kind: str
    """What the call was for: summary, answer, extraction, query, document, rerank, probe, or what a caller says."""
    model: str
    outcome: Outcome = "ok"
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: str | None = None
    """An exact decimal number. None where no price is known, or the tokens are not."""
    estimated_usd: str | None = None
    """What a call of unknown tokens may have cost. Ceilings count it, totals do not."""
    scope: str = "shared"
    agent_name: str | None = None
    mission_id: str | None = None
    session_id: str | None = None
    key: str | None = None
    """Whose call it was: `key:…`, or `env:…` for a token of the environment."""


class Meter(Protocol):
    """Where calls are counted. Neither method raises or waits for long."""

    async def reached(self) -> str | None:
        """The ceiling that whoever pays has reached, in words. None allows the call."""

    def note(self, kind: str, model: str, tokens: Tokens | None, outcome: Outcome, sent: int = 0) -> None:
        """Adds a row for whoever pays. `sent` estimates the tokens of a call whose own are unknown."""


def outcome_of(error: CallFailed) -> Outcome:
    return "failed" if error.reason in _REFUSED else "abandoned"


def estimated_tokens(characters: int) -> int:
    """Of a text whose tokens nobody counted. English has four characters to a token, most code three."""
    return characters // 3 + 1
