"""What a session works towards: what it holds about the goal comes up, and stays."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from services.cache.sessions import queries as session_queries
from services.cache.sessions.asking import queries
from services.cache.sessions.asking.schemas import GoalInput, GoalSet
from services.cache.sessions.objects import queries_write
from services.cache.sessions.objects.paging import PREFETCH_SHARE, fitting
from services.cache.sessions.objects.queries_write import Move
from services.cache.sessions.objects.reading import pressure_of
from services.cache.sessions.paging.fidelity import Level
from services.cache.sessions.paging.passages import words_of
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection
from shared.deadline import Deadline

# An object that holds less of the goal's words, by how rare they are, is not about it.
_LEAST_SHARE = 0.5
_MOST = 20


class Goals:
    def __init__(self, transactions: SessionTransactions) -> None:
        self._transactions = transactions

    async def set(
        self, principal: Principal, session: str, wanted: GoalInput, key: Key | None, deadline: Deadline
    ) -> GoalSet:
        async def work(c: Connection, held: Held) -> GoalSet:
            await queries_write.set_goal(c, held.tenant, held.id, wanted.goal)
            about = GoalSet(None, [], []) if wanted.goal is None else await _bring_up(c, held, wanted.goal)
            payload = {"raised": len(about.raised), "kept": len(about.kept)}
            await session_queries.tell(c, held.tenant, held.id, "session_goal", payload)
            return about

        return await self._transactions.write(principal, session, GoalSet, work, key, deadline)


async def _bring_up(c: Connection, held: Held, goal: str) -> GoalSet:
    """What rises stands behind everything else until the next batch, so that nothing that was sent changes."""
    rows = await queries.best(c, held.tenant, held.id, words_of(goal), limit=_MOST)
    about = [row for row in rows if row["share"] >= _LEAST_SHARE]
    before = await pressure_of(c, held)
    taken = max(before.total_context_tokens, before.block_tokens)
    room = int(PREFETCH_SHARE * held.config.token_budget) - taken
    shrunk = [(row["id"], row["tokens_l0"]) for row in about if row["current_fidelity"] != Level.FULL]
    raised: Sequence[UUID] = fitting(shrunk, room)
    kept = [row["id"] for row in about if row["current_fidelity"] == Level.FULL]
    await queries_write.move(
        c,
        held.tenant,
        held.id,
        [Move(each, Level.FULL, "goal_change", rises=True) for each in raised],
        turn=held.turn,
        zone=before.zone,
        tokens=before.total_context_tokens,
        last_place=held.last_place,
    )
    if used := [*raised, *kept]:
        await queries_write.touch(c, held.tenant, held.id, used, held.turn)
    return GoalSet(goal, [*raised], kept)
