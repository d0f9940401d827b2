"""Writes down what calls of paid models take, and says when whoever pays has reached a ceiling.

A row is noted when a call ends, however it ends, and written soon after: nobody waits for it, and no call is held up by
a database that is away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal

import msgspec
import structlog
from prometheus_client import Counter

from shared.concurrency.tasks import end
from shared.costs.waiting import Waiting
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.spending.calls import Cost, Outcome, Tokens
from shared.spending.payer import Payer, current
from shared.spending.prices import Prices, text_of

log = structlog.get_logger()

CALLS = Counter("scrubjay_paid_calls_total", "Calls of paid models", ["service", "kind", "outcome"])
SPENT = Counter("scrubjay_paid_usd_total", "US dollars that calls of paid models cost", ["service", "kind"])
UNPRICED = Counter(
    "scrubjay_unpriced_calls_total", "Calls of models without a price, or of unknown tokens", ["service"]
)
REACHED = Counter("scrubjay_ceilings_reached_total", "Calls not made because of a ceiling", ["service"])
LOST = Counter("scrubjay_costs_lost_total", "Rows of calls that could not be written", ["service"])

# Of calls that nobody's request led to, such as a probe of the provider.
INSTALLATION = "default"
_MOST_WAITING = 10_000
_MOST_AT_ONCE = 100
# Calls that end one after the other are written together.
_GATHER_SECONDS = 0.1
_WRITE_SECONDS = 5.0
_AGAIN_SECONDS = 1.0
_CLOSING_SECONDS = 3.0
_LOOK_SECONDS = 1.0
# Longer than a call takes: a purge may have begun while it was under way.
_CALL_SECONDS = 60.0

RECORD = "select timeline.record_costs($1, $2, $3) as id"
CEILINGS = "select subject, period, limit_usd, spent_usd from timeline.ceilings_of($1, $2, $3)"


async def record(c: Connection, tenant: str, costs: Sequence[Cost], service: str, waited: float) -> list[int]:
    """The ids of the rows."""
    rows = [{**msgspec.to_builtins(cost), "service": service} for cost in costs]
    return [row["id"] for row in await c.fetch(RECORD, tenant, rows, waited)]


class Ledger:
    """The meter of a service's calls."""

    def __init__(self, database: Database, service: str, prices: Prices) -> None:
        self._database, self._service, self.prices = database, service, prices
        self._waiting = Waiting(_MOST_WAITING)
        self._writing: Sequence[Cost] = ()
        """What the database is asked to take now."""
        self._rung = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Once the database is open."""
        self._task = asyncio.create_task(self._write_forever())

    async def close(self) -> None:
        if self._task is not None:
            deadline = Deadline(_CLOSING_SECONDS)
            while self._unwritten() and deadline.left() and not self._task.done():
                await asyncio.sleep(0.01)
            await end(self._task)
        if left := self._unwritten():
            self._lose(left, "the service stops")

    def _unwritten(self) -> int:
        return len(self._waiting) + len(self._writing)

    def note(self, kind: str, model: str, tokens: Tokens | None, outcome: Outcome, sent: int = 0) -> None:
        payer = current() or Payer(INSTALLATION)
        cost = costed(self.prices, kind, model, tokens, outcome, sent)
        self.count(cost)
        charged = msgspec.structs.replace(
            cost,
            scope=payer.where,
            agent_name=payer.agent,
            mission_id=payer.mission,
            session_id=payer.session,
            key=payer.key,
        )
        self._wait(payer.tenant, [charged])

    def _wait(self, tenant: str, costs: Sequence[Cost]) -> None:
        if lost := self._waiting.add(tenant, costs):
            self._lose(lost, "too many wait")
        self._rung.set()

    async def write(self, tenant: str, cost: Cost) -> None:
        """At once. Raises AppError."""
        await self._database.run(
            tenant,
            lambda c: record(c, tenant, [cost], self._service, _CALL_SECONDS),
            Deadline(_WRITE_SECONDS),
        )

    async def reached(self) -> str | None:
        payer = current()
        return None if payer is None else await self.reached_by(payer)

    async def reached_by(self, payer: Payer) -> str | None:
        """The first ceiling that is reached, in words. Without an answer in time the call is not made, either."""
        try:
            rows = await self._database.call(
                lambda c: c.fetch(CEILINGS, payer.tenant, payer.key, payer.mission), Deadline(_LOOK_SECONDS)
            )
        except AppError as error:
            log.warning("the ceilings are unknown", error=error.detail)
            return "unknown"
        for row in rows:
            if row["spent_usd"] >= row["limit_usd"]:
                REACHED.labels(self._service).inc()
                return in_words(row["subject"], row["period"], row["limit_usd"])
        return None

    def count(self, cost: Cost) -> None:
        CALLS.labels(self._service, cost.kind, cost.outcome).inc()
        if cost.cost_usd is None:
            UNPRICED.labels(self._service).inc()
        else:
            SPENT.labels(self._service, cost.kind).inc(float(cost.cost_usd))

    async def _write_forever(self) -> None:
        while True:
            await self._rung.wait()
            self._rung.clear()
            left = len(self._waiting)
            while self._waiting and left > 0:
                try:
                    left -= await self._write_some()
                except AppError as error:
                    log.warning("costs wait for the database", error=error.detail, waiting=len(self._waiting))
                    await asyncio.sleep(_AGAIN_SECONDS)
            await asyncio.sleep(_GATHER_SECONDS)

    async def _write_some(self) -> int:
        """Rows of one tenant, and how many. They wait again when the database does not take them now."""
        tenant, costs = self._waiting.take(_MOST_AT_ONCE)
        self._writing = costs
        try:
            await self._database.run(
                tenant,
                lambda c: record(c, tenant, costs, self._service, _CALL_SECONDS),
                Deadline(_WRITE_SECONDS),
            )
        except AppError:
            self._writing = ()
            self._wait(tenant, costs)
            raise
        except Exception as error:
            log.error("costs were not written", exc_info=error)
            LOST.labels(self._service).inc(len(costs))
        self._writing = ()
        return len(costs)

    def _lose(self, rows: int, why: str) -> None:
        LOST.labels(self._service).inc(rows)
        log.error("costs are lost", rows=rows, why=why)


def costed(
    prices: Prices, kind: str, model: str, tokens: Tokens | None, outcome: Outcome, sent: int = 0
) -> Cost:
    """The row of a call, without who pays."""
    taken = tokens or Tokens(0, 0)
    known = tokens is not None or outcome == "failed"
    return Cost(
        kind=kind,
        model=model,
        outcome=outcome,
        input_tokens=taken.input,
        output_tokens=taken.output,
        cache_read_tokens=taken.cache_read,
        cache_write_tokens=taken.cache_write,
        cost_usd=text_of(prices.cost(model, taken)) if known else None,
        estimated_usd=None if known else text_of(prices.cost(model, Tokens(sent, 0))),
    )


def in_words(subject: str, period: str, limit: Decimal) -> str:
    """A ceiling as an answer names it."""
    span = {"day": " a day", "month": " a month"}.get(period, "")
    return f"{subject}: {text_of(limit)} US dollars{span}"
