"""Who may report and read costs, and what happens at a ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import asyncpg
import msgspec

from services.context.costs import queries
from services.context.costs.queries import CostFilter
from services.context.costs.savings import savings
from services.context.costs.schemas import (
    Allowance,
    By,
    CeilingCursor,
    CeilingInput,
    Ceilings,
    CeilingState,
    CostCursor,
    CostInput,
    CostRow,
    CostRows,
    Costs,
    GroupCursor,
    Period,
    RecordedCost,
    Savings,
    subject_of,
)
from services.context.keys import queries as key_queries
from shared import costs
from shared.auth import Principal
from shared.concurrency import clock
from shared.database import audit
from shared.database.audit import Action, Deed
from shared.database.idempotency import Key, Records
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, NotFound, TooMany
from shared.paging.pages import page_of
from shared.spending import Cost, Payer, Prices, Tokens
from shared.spending.prices import text_of

_SERVICE = "caller"


class _Kept(msgspec.Struct):
    """The record of a call with an Idempotency-Key."""

    id: int
    cost_usd: str | None


class CostService:
    def __init__(self, database: Database, records: Records, prices: Prices) -> None:
        self._database, self._records, self._prices = database, records, prices

    async def record(
        self, principal: Principal, given: CostInput, key: Key | None, deadline: Deadline
    ) -> RecordedCost:
        """A call that was made is always recorded, beyond a ceiling too. Raises Forbidden."""
        principal.require_agent(given.agent_name)
        if given.mission_id is not None:
            principal.require_mission(given.mission_id)
        cost = costed(self._prices, given, principal)

        about = None if key is None else key.about([given.agent_name], (), [given.mission_id])

        async def work(c: Connection) -> RecordedCost:
            async def write() -> _Kept:
                made = await costs.record(c, principal.tenant, [cost], _SERVICE, 0)
                if not made:
                    raise Conflict("a purge of the tenant began meanwhile")
                return _Kept(made[0], cost.cost_usd)

            if about is None:
                kept = await write()
            else:
                kept = await self._records.once(c, principal.tenant, cost.scope, about, _Kept, write)
            rows = await queries.ceilings_of_call(c, principal.tenant, principal.key, given.mission_id)
            return RecordedCost(kept.id, kept.cost_usd, _told(principal, rows))

        return await self._database.transaction(principal.tenant, work, deadline)

    async def allowance(
        self, principal: Principal, agent: str | None, mission: str | None, deadline: Deadline
    ) -> Allowance:
        """Raises TooMany at a ceiling."""
        principal.require_agent(agent)
        if mission is not None:
            principal.require_mission(mission)
        wanted = mission or principal.mission
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.ceilings_of_call(c, principal.tenant, principal.key, wanted),
            deadline,
        )
        for row in rows:
            if row["reached"]:
                raise _refusal(row)
        return Allowance(_told(principal, rows))

    async def totals(
        self,
        principal: Principal,
        wanted: CostFilter,
        by: By | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Costs:
        _require_seen(principal, wanted)
        position = GroupCursor.read(cursor)
        after = None if position is None else position.name
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.totals(c, principal, wanted, by, after, limit + 1),
            deadline,
        )
        everything = rows[0]
        page = page_of(rows[1:], limit, lambda row: GroupCursor(name=row["name"]))
        return msgspec.convert(
            {
                **_spans(everything),
                "data": [{"name": row["name"] or None, **_spans(row)} for row in page.rows],
                "next": page.next,
                "unpriced_models": everything["unpriced_models"] or [],
                "prices_as_of": self._prices.as_of,
            },
            Costs,
        )

    async def savings(
        self, principal: Principal, wanted: CostFilter, days: int, deadline: Deadline
    ) -> Savings:
        _require_seen(principal, wanted)
        rows = await self._database.run(
            principal.tenant, lambda c: queries.savings(c, principal, wanted, days), deadline
        )
        return savings(rows)

    async def list(
        self,
        principal: Principal,
        wanted: CostFilter,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> CostRows:
        _require_seen(principal, wanted)
        position = CostCursor.read(cursor)
        before, before_id = (None, None) if position is None else (position.at, position.id)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.list_costs(
                c, principal, wanted, before=before, before_id=before_id, limit=limit + 1
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: CostCursor(at=row["created_at"], id=row["id"]))
        return CostRows([CostRow(**dict(row)) for row in page.rows], page.next)

    async def ceilings(
        self, principal: Principal, cursor: str | None, limit: int, deadline: Deadline
    ) -> Ceilings:
        principal.require_unbounded()
        position = CeilingCursor.read(cursor)
        after = None if position is None else (position.subject, position.period)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.ceilings(c, principal.tenant, after=after, limit=limit + 1),
            deadline,
        )
        page = page_of(rows, limit, lambda row: CeilingCursor(subject=row["subject"], period=row["period"]))
        return Ceilings([_state(row) for row in page.rows], page.next)

    async def set_ceiling(
        self, principal: Principal, given: CeilingInput, deadline: Deadline
    ) -> CeilingState:
        """Raises Forbidden for a key that is bound, and NotFound for a key of another tenant."""
        principal.require_unbounded()
        subject = subject_of(given.key_id, given.mission_id)

        async def work(c: Connection) -> CeilingState:
            if given.key_id is not None and not await key_queries.lock_key(c, principal, given.key_id):
                raise NotFound(f"no key {given.key_id}")
            before = await queries.ceilings(c, principal.tenant, subject=subject, period=given.period)
            await queries.set_ceiling(c, principal, subject, given.period, given.limit_usd)
            (row,) = await queries.ceilings(c, principal.tenant, subject=subject, period=given.period)
            await _audit(c, principal, "ceiling_set", subject, before, [row])
            return _state(row)

        return await self._database.transaction(principal.tenant, work, deadline)

    async def reset_ceiling(
        self,
        principal: Principal,
        key_id: int | None,
        mission: str | None,
        period: Period,
        deadline: Deadline,
    ) -> None:
        """To remove what is not there changes nothing, and is recorded."""
        principal.require_unbounded()
        subject = subject_of(key_id, mission)

        async def work(c: Connection) -> None:
            before = await queries.ceilings(c, principal.tenant, subject=subject, period=period)
            await queries.reset_ceiling(c, principal.tenant, subject, period)
            await _audit(c, principal, "ceiling_reset", subject, before, [])

        await self._database.transaction(principal.tenant, work, deadline)


def costed(prices: Prices, given: CostInput, principal: Principal) -> Cost:
    """The row of a caller's call. Pure."""
    tokens = Tokens(
        given.input_tokens, given.output_tokens, given.cache_read_tokens, given.cache_write_tokens
    )
    known = any(tokens) or given.outcome != "abandoned"
    usd = text_of(Decimal(given.cost_usd)) if given.cost_usd is not None else None
    if usd is None and known:
        usd = text_of(prices.cost(given.model, tokens))
    payer = Payer(principal.tenant, agent=given.agent_name, mission=given.mission_id)
    return Cost(
        kind=given.kind,
        model=given.model,
        outcome=given.outcome,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        cost_usd=usd,
        scope=payer.where,
        agent_name=given.agent_name,
        mission_id=given.mission_id,
        session_id=given.session_id,
        key=principal.key,
    )


def _require_seen(principal: Principal, wanted: CostFilter) -> None:
    principal.require_agent(wanted.agent)
    if wanted.mission is not None:
        principal.require_mission(wanted.mission)


def _spans(row: asyncpg.Record) -> dict[str, Any]:
    return {name: row[name] for name in ("today", "week", "all")}


def _state(row: asyncpg.Record) -> CeilingState:
    return CeilingState(**dict(row))


def _told(principal: Principal, rows: Sequence[asyncpg.Record]) -> list[CeilingState]:
    """A bound key learns nothing of what others spend."""
    return [_state(row) for row in rows if not principal.bound or _is_own(principal, row["subject"])]


def _is_own(principal: Principal, subject: str) -> bool:
    return subject == principal.key or subject.startswith("mission:")


def _refusal(row: asyncpg.Record) -> TooMany:
    subject, period = row["subject"], row["period"]
    ceiling = costs.in_words(subject, period, Decimal(row["limit_usd"]))
    return TooMany(
        f"a ceiling is reached: {ceiling}",
        retry_after=seconds_left(period, clock.now()),
        limit=f"ceiling {subject} {period}",
    )


def seconds_left(period: str, now: datetime) -> float | None:
    """Until a ceiling counts anew. None: it never does."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return (midnight + timedelta(days=1) - now).total_seconds()
    if period == "month":
        return ((midnight.replace(day=1) + timedelta(days=32)).replace(day=1) - now).total_seconds()
    return None


async def _audit(
    c: Connection,
    principal: Principal,
    action: Action,
    subject: str,
    before: Sequence[asyncpg.Record],
    after: Sequence[asyncpg.Record],
) -> None:
    was, is_ = (_settings(rows[0]) if rows else None for rows in (before, after))
    await audit.record(c, principal, Deed(action=action, target=subject, before=was, after=is_))


def _settings(row: asyncpg.Record) -> dict[str, str]:
    return {"period": row["period"], "limit_usd": row["limit_usd"]}
