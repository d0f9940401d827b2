"""What operators ask and set: why an agent saw what it saw, weights, budgets, and the cycle that learns them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

import asyncpg
import msgspec
import structlog

from services.context import stores
from services.context.forwarding.owners import Failed, Owner
from services.context.learning import queries as queries_weights
from services.context.learning.evaluation import LEAST_BUDGET, in_force
from services.context.learning.queries import PutBudget, PutWeight
from services.context.learning.schemas import (
    BudgetInput,
    CallerBudget,
    SourceWeight,
    WeightChange,
    WeightInput,
)
from services.context.log import queries as queries_log
from services.context.log.journal import Journal
from services.context.log.replay import LoggedCandidate, Replayed, replay
from services.context.log.schemas import (
    Explained,
    ExplainedCandidate,
    LogEntry,
    Replay,
    ReplayInput,
    SourceItem,
)
from services.context.settings import Settings
from services.context.stores import Store
from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Invalid, NotFound, Unavailable

log = structlog.get_logger()


Row = TypeVar("Row", SourceWeight, WeightChange)


class Operators:
    def __init__(
        self, settings: Settings, database: Database, journal: Journal, owners: Mapping[str, Owner]
    ) -> None:
        self._settings = settings
        self._database = database
        self._journal = journal
        self._owners = owners

    async def assemblies(
        self,
        principal: Principal,
        caller: str | None,
        mission_namespace: str | None,
        limit: int,
        offset: int,
        deadline: Deadline,
    ) -> list[LogEntry]:
        """Newest first; a key with grants or an agent sees its own."""
        rows = await self._database.run(
            lambda c: queries_log.list_assemblies(c, principal, caller, mission_namespace, limit, offset),
            deadline,
        )
        return [msgspec.convert(dict(row), LogEntry) for row in rows]

    async def callers(self, principal: Principal, deadline: Deadline) -> list[str]:
        return await self._database.run(lambda c: queries_log.callers(c, principal), deadline)

    async def explain(self, principal: Principal, assembly_id: int, deadline: Deadline) -> Explained:
        row = await self._find(principal, assembly_id, deadline)
        logged = msgspec.convert(row["candidates"], list[LoggedCandidate])
        below = [
            ExplainedCandidate(handle, stores.name_of(handle), "floor", 0) for handle in row["below_floor"]
        ]
        entry = {key: value for key, value in row.items() if key not in ("candidates", "below_floor")}
        candidates = [*map(_explained, logged), *below]
        return msgspec.convert({**entry, "candidates": candidates}, Explained, from_attributes=True)

    async def replay(
        self, principal: Principal, assembly_id: int, changes: ReplayInput, deadline: Deadline
    ) -> Replay:
        """A logged assembly under other weights, shares or another budget, from sizes and factors alone."""
        row = await self._find(principal, assembly_id, deadline)
        logged = msgspec.convert(row["candidates"], list[LoggedCandidate])
        tokens = changes.token_budget or row["token_budget"]
        shares: dict[str, float] = {**row["token_shares"], **dict(changes.token_shares.items())}
        weights: dict[str, float] = dict(changes.weights.items())
        replayed: Replayed = await asyncio.to_thread(replay, logged, tokens, shares, weights)
        before = {one.handle for one in logged if one.taken}
        after = {one.handle for one in replayed.candidates if one.taken}
        return Replay(
            assembly_id=assembly_id,
            token_budget=tokens,
            total_tokens=replayed.total_tokens,
            added=sorted(after - before),
            removed=sorted(before - after),
            candidates=list(map(_explained, replayed.candidates)),
        )

    async def _find(self, principal: Principal, assembly_id: int, deadline: Deadline) -> asyncpg.Record:
        return await self._journal.find(
            lambda: self._database.run(lambda c: queries_log.find(c, principal, assembly_id), deadline),
            assembly_id,
            deadline,
        )

    async def source(
        self, principal: Principal, handle: str, deadline: Deadline, request_id: str
    ) -> SourceItem:
        """The item behind a handle, whole, as its owner gives it to this key."""
        store, rest = stores.source_of(handle), handle.partition(":")[2]
        if store is stores.LINKS:
            return await self._linked(principal, handle, rest, deadline, request_id)
        name, _, chunk = rest.partition("#")
        if not isinstance(store, Store) or not _is_id(name) or (chunk and not _is_id(chunk)):
            raise NotFound(f"no source {handle!r}")
        path = store.item_path.format(id=name)
        item = await self._owners[store.owner].ask("GET", path, principal, deadline, request_id)
        if isinstance(item, dict) and len(item) == 1:
            # The owner's envelope.
            (item,) = item.values()
        return SourceItem(handle, store.name, item, int(chunk) if chunk else None)

    async def _linked(
        self, principal: Principal, handle: str, path: str, deadline: Deadline, request_id: str
    ) -> SourceItem:
        try:
            files = await self._owners[stores.LINKS.owner].links(
                [unquote(path)], 1_000_000, principal, deadline, request_id
            )
        except Failed as error:
            raise Unavailable(stores.LINKS.owner, f"{stores.LINKS.owner}: {error.reason}") from error
        if files[0].refused is not None:
            raise NotFound(f"no source {handle!r}: {files[0].refused}")
        return SourceItem(handle, stores.LINKS.name, files[0])

    async def weights(
        self, principal: Principal, caller: str | None, deadline: Deadline
    ) -> list[SourceWeight]:
        rows = await self._database.run(
            lambda c: queries_weights.list_weights(c, principal.tenant, principal.agent or caller), deadline
        )
        return [_rounded(SourceWeight(**dict(row))) for row in rows]

    async def history(
        self, principal: Principal, caller: str | None, limit: int, deadline: Deadline
    ) -> list[WeightChange]:
        rows = await self._database.run(
            lambda c: queries_weights.list_history(c, principal.tenant, principal.agent or caller, limit),
            deadline,
        )
        return [_rounded(WeightChange(**dict(row))) for row in rows]

    async def budgets(
        self, principal: Principal, caller: str | None, deadline: Deadline
    ) -> list[CallerBudget]:
        rows = await self._database.run(
            lambda c: queries_weights.list_budgets(c, principal.tenant, principal.agent or caller), deadline
        )
        return [CallerBudget(**dict(row)) for row in rows]

    async def set_weight(self, principal: Principal, given: WeightInput, deadline: Deadline) -> SourceWeight:
        tenant = principal.tenant
        principal.require_agent(given.caller)

        async def work(connection: Connection) -> asyncpg.Record:
            await queries_weights.lock(connection, tenant, given.caller)
            old = in_force(await queries_weights.weights_of(connection, tenant, given.caller))[given.source]
            share = old.token_share if given.token_share is None else given.token_share
            return await queries_weights.put_weight(
                connection,
                tenant,
                PutWeight(
                    caller=given.caller,
                    source=given.source,
                    weight=given.weight,
                    token_share=share,
                    manual=given.manual,
                    old_weight=old.weight,
                    old_token_share=old.token_share,
                    cause="operator",
                ),
            )

        return _rounded(SourceWeight(**dict(await self._database.transaction(work, deadline))))

    async def reset_weight(self, principal: Principal, caller: str, source: str, deadline: Deadline) -> None:
        """Back to the tenant's `*`, or to the start value."""
        principal.require_agent(caller)
        await self._database.run(
            lambda c: queries_weights.reset_weight(c, principal.tenant, caller, source), deadline
        )

    async def set_budget(self, principal: Principal, given: BudgetInput, deadline: Deadline) -> CallerBudget:
        principal.require_agent(given.caller)
        most = self._settings.max_budget
        if given.default_budget > most:
            raise Invalid.field("default_budget", f"this installation allows {most} tokens")
        put = PutBudget(
            caller=given.caller,
            default_budget=given.default_budget,
            min_budget=given.min_budget or min(LEAST_BUDGET, given.default_budget),
            max_budget=min(given.max_budget or most, most),
            ceiling=given.ceiling,
            manual=given.manual,
        )
        row = await self._database.run(
            lambda c: queries_weights.put_budget(c, principal.tenant, put), deadline
        )
        return CallerBudget(**dict(row))

    async def reset_budget(self, principal: Principal, caller: str, deadline: Deadline) -> None:
        principal.require_agent(caller)
        await self._database.run(
            lambda c: queries_weights.reset_budget(c, principal.tenant, caller), deadline
        )


def _explained(one: LoggedCandidate) -> ExplainedCandidate:
    values: dict[str, Any] = msgspec.structs.asdict(one)
    return ExplainedCandidate(store=one.store, **values)


def _rounded(row: Row) -> Row:
    """REAL columns, as they were written."""
    for name in row.__struct_fields__:
        if isinstance(value := getattr(row, name), float):
            setattr(row, name, round(value, 4))
    return row


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
