"""Which block of a request is sent at which level. Pure: the same request and state give the same plan anywhere.

A block keeps the level that it was sent at, in the same bytes, until a batch. What the state does not name was sent in
full, unless the model has not seen it yet: then the first sight decides. A session without a state therefore goes on
in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from services.context.gateway.paging import economy
from services.context.gateway.paging.blocks import Block, Reading, ToolCall
from services.context.gateway.paging.economy import Candidate, Rates
from services.context.gateway.paging.forms import Level, handle_of, most_tokens

# An agent that reads a file wants to see it, and works on it for a while. Other output it mostly glances at.
_FILES = frozenset({"read", "view", "open", "cat", "read_file", "open_file", "view_file", "notebookread"})
_LIKELY_FILE, _LIKELY_OTHER = 4.0, 0.4


class Policy(NamedTuple):
    protected: int = 3
    """A batch touches nothing that the model has had for fewer answers."""
    least: int = 300
    """Tokens below which a block stays as it is."""
    large: int = 3_000
    """Tokens from which a tool's result may go in as an excerpt when it first appears."""
    whole_prefix: bool = True
    """The cache serves any beginning of a request that it knows, as at OpenAI. Anthropic looks for one at the marks
    of the host and at 20 blocks before each: what differs farther from the end costs all messages, so all count."""
    kept: frozenset[str] = frozenset()
    """Handles of what the model wants to keep in full."""
    released: frozenset[str] = frozenset()
    """Handles of what it needs no more."""
    moves: bool = True
    """Else every block stays at the level that it was sent at."""


class Standing(NamedTuple):
    """What the state of a session holds of a block that is not sent in full."""

    level: Level
    turn: int
    """The answers of the model when it came to this level."""


class Plan(NamedTuple):
    levels: Mapping[str, Level]
    """Of all blocks that are not sent in full."""
    moved: Mapping[str, Standing]
    """Those of them that the state does not hold yet."""
    batch: bool


class _Placed(NamedTuple):
    block: Block
    level: Level
    before: int
    """Tokens that stand before it as it is sent."""


def plan(reading: Reading, known: Mapping[str, Standing], rates: Rates, policy: Policy) -> Plan:
    first = _first_sights(reading, known, rates, policy) if policy.moves else {}
    levels = {block.key: known[block.key].level for block in reading.blocks if block.key in known} | first
    batch = {}
    if policy.moves and not _batched(reading, known):
        batch = _batch(list(_placed(reading.blocks, levels)), reading, rates, policy)
    moved = {key: Standing(level, reading.turns) for key, level in (first | batch).items()}
    return Plan(levels | batch, moved, bool(batch))


def _batched(reading: Reading, known: Mapping[str, Standing]) -> bool:
    """Whether this turn had its batch: a host that sends a request again sends the same."""
    held = (known[block.key] for block in reading.blocks if block.age > 0 and block.key in known)
    return any(standing.turn == reading.turns for standing in held)


def _first_sights(
    reading: Reading, known: Mapping[str, Standing], rates: Rates, policy: Policy
) -> dict[str, Level]:
    """What is asked for again while an excerpt of it is shown goes in whole."""
    shown = {_signature(block.call) for block in reading.blocks if block.key in known}
    return {
        block.key: Level.EXCERPT
        for block in reading.blocks
        if block.age == 0
        and block.kind == "result"
        and block.tokens >= policy.large
        and block.key not in known
        and _signature(block.call) not in shown
        and economy.at_once(
            block.tokens,
            most_tokens(block.tokens, Level.EXCERPT),
            reading.sent,
            reading.turns,
            _likely(block.call),
            rates,
        )
    }


def _signature(call: ToolCall | None) -> tuple[str, bytes] | None:
    return None if call is None else (call.name, bytes(memoryview(call.arguments)))


def _likely(call: ToolCall | None) -> float:
    """How often the model is expected to want it whole."""
    return _LIKELY_FILE if call is not None and call.name.lower() in _FILES else _LIKELY_OTHER


def _placed(blocks: Sequence[Block], levels: Mapping[str, Level]) -> Iterator[_Placed]:
    saved = 0
    for block in blocks:
        level = levels.get(block.key, Level.FULL)
        yield _Placed(block, level, block.before - saved)
        saved += block.tokens - most_tokens(block.tokens, level)


def _batch(placed: Sequence[_Placed], reading: Reading, rates: Rates, policy: Policy) -> dict[str, Level]:
    """A line is left of what moves: a longer excerpt of what the model has done with costs more than its faults."""
    movable = [
        each
        for each in placed
        if each.level < Level.STUB
        and each.block.age >= policy.protected
        and each.block.tokens >= policy.least
        and handle_of(each.block.key) not in policy.kept
    ]
    candidates = [_candidate(each, policy) for each in movable]
    saved = sum(
        each.block.tokens - most_tokens(each.block.tokens, each.level)
        for each in placed
        if each.block.before < reading.sent
    )
    kept = None if policy.whole_prefix else reading.head
    choice = economy.decide(candidates, reading.sent - saved, reading.turns, rates, kept)
    return {} if choice is None else {movable[n].block.key: Level.STUB for n in choice.moved}


def _candidate(each: _Placed, policy: Policy) -> Candidate:
    tokens = most_tokens(each.block.tokens, each.level)
    then = min(tokens, most_tokens(each.block.tokens, Level.STUB))
    released = handle_of(each.block.key) in policy.released
    return Candidate(
        each.before, tokens, then, each.block.age, each.block.age - policy.protected + 1, released
    )
