"""A request as it is sent: the plan carried out in its bytes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from services.context.gateway.editing import Span, replace
from services.context.gateway.paging import anthropic, economy, openai
from services.context.gateway.paging.blocks import Conversation, Reading, reading
from services.context.gateway.paging.economy import Rates
from services.context.gateway.paging.forms import Level, handle_of, written
from services.context.gateway.paging.plan import Plan, Policy, Standing, plan
from shared.spending.prices import Prices

Endpoint = Literal["messages", "count_tokens", "chat", "responses"]
Planner: TypeAlias = Callable[[Reading, Mapping[str, Standing], Rates, Policy], Plan]

_ANTHROPIC = ("messages", "count_tokens")
_READERS: Mapping[Endpoint, Callable[[bytes], Conversation]] = {
    "messages": anthropic.read,
    "count_tokens": anthropic.read,
    "chat": openai.read_chat,
    "responses": openai.read_responses,
}


class Paged(NamedTuple):
    body: bytes
    """The bytes that came, where nothing is shorter."""
    reading: Reading
    plan: Plan
    forms: Mapping[str, bytes]
    """What stands in place of blocks, by their keys."""

    def handles(self) -> Mapping[str, Span]:
        """Where the request that came holds what a handle stands for: a fault needs no other place to read it from."""
        blocks = self.blocks()
        return {handle: blocks[handle] for handle in map(handle_of, self.forms)}

    def blocks(self) -> Mapping[str, Span]:
        """All blocks of the request that came, by their handles."""
        return blocks_of(self.reading)


class _Model(msgspec.Struct):
    model: str = ""


_MODEL = msgspec.json.Decoder(_Model)
_POLICY = Policy()


def blocks_of(found: Reading) -> Mapping[str, Span]:
    return {handle_of(block.key): (block.start, block.end) for block in found.blocks}


def read(endpoint: Endpoint, body: bytes) -> Reading:
    """Raises msgspec.MsgspecError for what is no request."""
    return reading(body, _READERS[endpoint](body))


def page(
    endpoint: Endpoint,
    body: bytes,
    known: Mapping[str, Standing],
    prices: Prices,
    planner: Planner = plan,
    policy: Policy = _POLICY,
) -> Paged:
    """`known` are the levels that the session's state holds. Raises msgspec.MsgspecError for what is no request."""
    is_anthropic = endpoint in _ANTHROPIC
    found = read(endpoint, body)
    price = prices.find(_MODEL.decode(body).model)
    cached = not is_anthropic or b'"cache_control"' in body
    rates = economy.rates_of(price, anthropic=is_anthropic, cached=cached)
    made = planner(found, known, rates, policy._replace(whole_prefix=not is_anthropic))
    forms: dict[str, bytes] = {}
    edits: dict[Span, bytes] = {}
    for block in found.blocks:
        level = made.levels.get(block.key, Level.FULL)
        form = None if level == Level.FULL else written(body, block, level)
        if form is not None:
            forms[block.key] = edits[block.start, block.end] = form
    return Paged(replace(body, edits) if edits else body, found, made, forms)
