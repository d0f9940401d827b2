"""Makes summaries of what was admitted, beside the requests: it leases objects from the cache's queue, oldest first,
a few of each tenant in turn.

The database's clock judges a lease, so another replica takes up what a killed one held. Nothing holds a connection
while a summary is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import asyncpg
import msgspec
import structlog

from services.cache.sessions.objects.parts import path_of
from services.cache.sessions.paging.parsing import WEIGHT, Author, parsing
from services.cache.sessions.paging.summaries import COMPACT, DETAILED, SHORTEST_COMPACT
from services.cache.sessions.summarizing import queries
from services.cache.sessions.summarizing.checking import checked
from services.cache.sessions.summarizing.making import Text, make
from services.cache.sessions.summarizing.queries import STORE, Kept, Made
from shared.concurrency.alarm import Alarm
from shared.concurrency.threads import in_worker
from shared.database.index_claims import Backlog
from shared.database.index_queue import QueueStatements
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.llm import Helper
from shared.telemetry import metrics

log = structlog.get_logger()

BATCH = 8
OF_A_TENANT = 4
LEASE_SECONDS = 120
MOST_ATTEMPTS = 5
"""An object that was claimed more often has ended those who tried: it stays without summaries."""
_POLL_SECONDS = 5.0
_FAILED_SECONDS = 2.0
_PATIENCE = 10.0
# While a session's writer holds the object.
_TRIES, _BETWEEN_SECONDS = 6, 0.05


class _Plain(NamedTuple):
    """A claimed row, and its summaries without a model, if it has any."""

    row: asyncpg.Record
    made: Made | None


class SummaryWorker:
    def __init__(self, database: Database, helper: Helper | None = None) -> None:
        """Without a helper model, and wherever it gives no true summary, summaries are lines of the text."""
        self._database, self._helper = database, helper
        self._claims = Backlog(QueueStatements("cache"), STORE, [STORE], most=BATCH, seconds=LEASE_SECONDS)
        self._alarm = Alarm()

    def wake(self) -> None:
        """Starts the next round at once, because something was admitted."""
        self._alarm.ring()

    async def run_forever(self) -> None:
        while True:
            try:
                busy = await self.round() > 0
            except AppError as error:
                log.warning("summaries put off", error=error.detail)
                busy = False
            except Exception as error:
                log.error("summaries failed", exc_info=error)
                await asyncio.sleep(_FAILED_SECONDS)
                busy = False
            if not busy:
                await self._alarm.sleep(_POLL_SECONDS)

    async def round(self) -> int:
        """Claims some objects and keeps their summaries. Answers how many it claimed."""
        claimed = await self._claims.claim(self._database, [], OF_A_TENANT)
        if claimed:
            rows = await self._database.run(
                EVERY_TENANT, lambda c: queries.texts(c, claimed), Deadline(_PATIENCE)
            )
            due = [row for row in rows if row["attempts"] <= MOST_ATTEMPTS and not row["superseded"]]
            found = await self._make(due)
            await self._finish([_Plain(row, made) for row, made in zip(due, found, strict=True)])
            for row in rows:
                if row not in due:
                    await self._give_up(row)
        return len(claimed)

    async def _make(self, rows: Sequence[asyncpg.Record]) -> list[Made | None]:
        texts = [Text(row["content_full"], path_of(row["object_type"], row["source_key"])) for row in rows]
        return [
            await parsing(Author(row["tenant"]), text.path, WEIGHT * len(text.content), make, text)
            for row, text in zip(rows, texts, strict=True)
        ]

    async def _finish(self, plain: Sequence[_Plain]) -> None:
        """What the helper model answers is kept at once, the others together."""
        asked = [each for each in plain if each.made is not None and self._is_asked(each.row)]
        rest = [each for each in plain if each not in asked]
        for each in rest:
            if each.made is None:
                log.error("an object cannot be summarized", object=each.row["number"])
                await self._give_up(each.row)
        made = [(each.row, each.made) for each in rest if each.made is not None]
        tenants = {row["tenant"] for row, _ in made}
        lines = [[(row, found) for row, found in made if row["tenant"] == tenant] for tenant in tenants]
        await asyncio.gather(*(self._keep(each, "extractive") for each in lines), *map(self._written, asked))

    async def _written(self, plain: _Plain) -> None:
        row, made = plain
        assert made is not None
        written = await self._ask(row, made)
        await self._keep([(row, written or made)], "extractive" if written is None else "helper")

    def _is_asked(self, row: asyncpg.Record) -> bool:
        return self._helper is not None and row["tokens_l0"] >= SHORTEST_COMPACT

    async def _ask(self, row: asyncpg.Record, plain: Made) -> Made | None:
        assert self._helper is not None
        written = await self._helper.summarize(
            row["content_full"],
            detailed=int(row["tokens_l0"] * DETAILED),
            compact=int(row["tokens_l0"] * COMPACT),
            tenant=row["tenant"],
            session_id=row["session_id"],
        )
        return None if written is None else await in_worker(checked, written, row["content_full"], plain)

    async def _keep(self, made: Sequence[tuple[asyncpg.Record, Made]], by: str) -> None:
        """Of one tenant."""
        tenant = made[0][0]["tenant"]
        left = {
            row["number"]: Kept(
                number=row["number"], attempts=row["attempts"], **msgspec.structs.asdict(found)
            )
            for row, found in made
        }
        for _ in range(_TRIES):
            kept = await self._kept(tenant, [*left.values()])
            metrics.SUMMARIES.labels(by).inc(len(kept))
            left = {number: each for number, each in left.items() if number not in kept}
            if not left:
                return
            await asyncio.sleep(_BETWEEN_SECONDS)

    async def _kept(self, tenant: str, found: Sequence[Kept]) -> set[int]:
        return await self._database.run(tenant, lambda c: queries.keep(c, tenant, found), Deadline(_PATIENCE))

    async def _give_up(self, row: asyncpg.Record) -> None:
        metrics.SUMMARIES.labels("none").inc()
        await self._database.run(
            row["tenant"],
            lambda c: queries.give_up(c, row["tenant"], row["number"]),
            Deadline(_PATIENCE),
        )
