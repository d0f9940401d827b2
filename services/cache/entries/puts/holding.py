"""Keeps entries whose mission or agent has a rule that its writes wait for a reviewer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg

from services.cache.entries.queries_write import Put, standing
from services.cache.entries.search import STORE
from services.cache.missions.queries import DefaultLimits, MissionKey
from shared.auth import Principal
from shared.concurrency import clock
from shared.database.postgres import Connection
from shared.review.reviews import Reviews, scopes_of, under_review
from shared.review.schemas import Waiting

Row: TypeAlias = asyncpg.Record | Mapping[str, Any]
"""What became of an entry, with the columns of `cache.put_entries`. The id of one that waits is negative."""


class Holding:
    def __init__(self, put_entries: Callable[..., Any], limits: DefaultLimits) -> None:
        self._put_entries = put_entries
        self._limits = limits
        self._reviews = Reviews("cache")

    async def put_or_wait(self, c: Connection, mission: MissionKey, puts: Sequence[Put]) -> list[Row]:
        """Those of no rule are put. Call it in a transaction."""
        scopes = {scope for put in puts for scope in scopes_of(mission.mission_id, put.agent_name)}
        ruled = await under_review(c, mission.tenant, scopes)
        rows: list[Row] = []
        for put in puts:
            rules = sorted(ruled.intersection(scopes_of(mission.mission_id, put.agent_name)))
            if rules:
                rows.append(await self._wait(c, mission, put, rules))
            else:
                rows += await self._put_entries(c, mission, [put], reviewed=True)
        return rows

    async def _wait(self, c: Connection, mission: MissionKey, put: Put, rules: list[str]) -> Row:
        """It takes nothing of the mission's budget, and no older entry leaves because of it."""
        holds = await standing(c, mission, self._limits)
        refused = "larger" if put.token_count > holds.token_budget else None
        hours = put.ttl_hours or holds.ttl_hours
        return {
            "entry_id": None if refused else await self._keep(c, mission, put, rules),
            "total_tokens": holds.tokens,
            "evicted": 0,
            "expires_at": clock.now() + timedelta(hours=hours),
            "refused": refused,
            "token_budget": holds.token_budget,
        }

    async def _keep(self, c: Connection, mission: MissionKey, put: Put, rules: list[str]) -> int:
        bound = None if put.bound_missions is None else frozenset(put.bound_missions)
        writer = Principal(mission.tenant, put.written_by, frozenset(["write"]), put.bound_agent, bound)
        write = Waiting(
            store=STORE,
            scope=mission.scope,
            mission_id=mission.mission_id,
            agent_name=put.agent_name,
            user_id=put.user_id,
            session_id=put.session_id,
            rules=rules,
            content=put.content,
            body=put,
            source_kind=put.source_kind,
            source_claim=put.source_claim,
        )
        return await self._reviews.wait(c, writer, write)
