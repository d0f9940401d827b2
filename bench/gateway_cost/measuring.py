"""One session through the plan: its bill, and what it would be unpaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from bench.gateway_cost.billing import Anthropic, OpenAI, Tokens, common
from bench.gateway_cost.demand import Demand
from bench.gateway_cost.host import Api, Request, requests
from bench.paging.events import Event
from services.context.gateway.paging import economy
from services.context.gateway.paging.blocks import Block
from services.context.gateway.paging.economy import Rates
from services.context.gateway.paging.paged import Endpoint, Planner, page
from services.context.gateway.paging.plan import Standing
from shared.spending.prices import bundled

MODELS: Mapping[Api, str] = {"anthropic": "claude-sonnet-4-5", "openai": "gpt-5"}
# Between two requests of an agent.
_SECONDS = 20.0
# What the model writes to ask for a block.
_FAULT_OUTPUT = 60
# Three tools of the gateway stand in every request that is paged.
_TOOLS = 450


class Bill(msgspec.Struct):
    usd: float = 0.0
    input: int = 0
    read: int = 0
    write: int = 0
    output: int = 0
    requests: int = 0
    batches: int = 0
    first_sights: int = 0
    faults: int = 0
    faults_lost: int = 0
    same: int = 0
    """Bytes of requests that the request before began with."""
    before: int = 0
    """Bytes of the requests before."""
    largest: int = 0


def rates_of(api: Api) -> Rates:
    return economy.rates_of(bundled().find(MODELS[api]), anthropic=api == "anthropic", cached=True)


class Replay:
    """`planner` None: unpaged."""

    def __init__(self, api: Api, planner: Planner | None) -> None:
        self.bill = Bill()
        self._planner, self._api = planner, api
        self._rates = rates_of(api)
        self._provider = Anthropic() if api == "anthropic" else OpenAI()
        self._prices = bundled()
        self._known: dict[str, Standing] = {}
        self._demand = Demand()
        self._last = b""
        self._now = 0.0

    def play(self, events: Sequence[Event], head_tokens: int) -> Bill:
        for request in requests(events, self._api, head_tokens):
            self._now += _SECONDS
            self._request(request)
        return self.bill

    def _request(self, request: Request) -> None:
        body, faults = (request.body, 0) if self._planner is None else self._paged(request, self._planner)
        tokens = self._provider.bill(body, self._now)
        output = len(request.answer) // 4
        extra = 0 if self._planner is None else _TOOLS
        self._add(tokens._replace(read=tokens.read + extra), output)
        if faults:
            # One more request: the conversation from the cache, and what it asked for.
            again = tokens.input + tokens.read + tokens.write + extra
            self._add(Tokens(faults, again, 0), _FAULT_OUTPUT)
        self._compare(body)

    def _paged(self, request: Request, planner: Planner) -> tuple[bytes, int]:
        endpoint: Endpoint = "messages" if self._api == "anthropic" else "chat"
        paged = page(endpoint, request.body, self._known, self._prices, planner)
        for block in paged.reading.blocks:
            self._demand.learn(request.body, block)
        moved = paged.plan.moved.keys()
        first = {block.key for block in paged.reading.blocks if block.age == 0 and block.key in moved}
        self._known.update(paged.plan.moved)
        self.bill.batches += paged.plan.batch
        self.bill.first_sights += len(first)
        return paged.body, self._faults(request, paged.reading.blocks, paged.forms, first)

    def _faults(
        self, request: Request, blocks: Sequence[Block], sent: Mapping[str, bytes], first: set[str]
    ) -> int:
        """Tokens of what is brought back: what the next answer quotes, and each file at its first sight."""
        wanted = self._demand.faults(request.answer, sent)
        wanted |= {
            block.key
            for block in blocks
            if block.key in first and block.call is not None and block.call.name == "Read"
        }
        of_request = {block.key: block.tokens for block in blocks}
        self.bill.faults += len(wanted)
        self.bill.faults_lost += len(wanted - of_request.keys())
        return sum(of_request[key] for key in wanted & of_request.keys())

    def _add(self, tokens: Tokens, output: int) -> None:
        bill, rates = self.bill, self._rates
        bill.requests += 1
        bill.input += tokens.input
        bill.read += tokens.read
        bill.write += tokens.write
        bill.output += output
        bill.largest = max(bill.largest, sum(tokens))
        usd = tokens.input * rates.input + tokens.read * rates.read + tokens.write * rates.write
        bill.usd += (usd + output * rates.output) / 1e6

    def _compare(self, body: bytes) -> None:
        self.bill.before += len(self._last)
        self.bill.same += common(self._last, body)
        self._last = body
