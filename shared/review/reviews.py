"""An owner's reviews: the SQL over its table, and the rules that it enforces on every write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import asyncpg
import msgspec
import msgspec.inspect as mi

from shared.auth import Principal
from shared.database.postgres import Connection
from shared.errors import Conflict, Invalid, TooMany
from shared.review.schemas import MOST_SHOWN, Candidate, State, Waiting
from shared.text import Name
from shared.validation.values import errors_of

T = TypeVar("T", bound=msgspec.Struct)

UNDER_REVIEW = "select timeline.under_review($1, $2)"
NOT_CHANGED = "what cannot wait, such as a change, is for a reviewer's key"
_OUTDATED = "what waits was taken once, and is not any more: edit it or forget it"
NOTHING_UNDER_REVIEW = "cardinality(timeline.under_review({tenant}, {scopes})) = 0"


def scopes_of(mission: str | None, agent: str | None) -> list[str]:
    """Those whose rule makes a write wait."""
    named = {"mission": mission, "agent": agent}
    return [f"{kind}:{name}" for kind, name in named.items() if name is not None]


async def under_review(c: Connection, tenant: str, scopes: Iterable[str]) -> frozenset[str]:
    """Which of the scopes have a rule that writes wait."""
    return frozenset(await c.fetchval(UNDER_REVIEW, tenant, sorted(set(scopes))))


class About(NamedTuple):
    """Where an item is and whom it concerns."""

    scope: str
    mission_id: str | None = None
    agent_name: str | None = None
    user_id: str | None = None

    @property
    def subjects(self) -> list[str]:
        user = [] if self.user_id is None else [f"user:{self.user_id}"]
        return sorted({self.scope, *scopes_of(self.mission_id, self.agent_name), *user})

    @property
    def ruling(self) -> list[str]:
        """The scopes whose rule makes a write of it wait."""
        own = [self.scope] if self.scope.startswith(("mission:", "agent:")) else []
        return sorted({*own, *scopes_of(self.mission_id, self.agent_name)})


async def require_unreviewed(c: Connection, principal: Principal, about: About) -> None:
    """Changes do not wait. Raises Conflict where writes do, but not for a reviewer."""
    if "admin" in principal.access:
        return
    if ruled := await under_review(c, principal.tenant, about.ruling):
        raise Conflict(f"writes of {', '.join(sorted(ruled))} wait for a reviewer: {NOT_CHANGED}")


# What waits takes nothing of a mission's budget, so it is bounded by itself, in each owner.
MOST_WAITING_OF_AGENT, MOST_WAITING = 1_000, 10_000
_FULL_SECONDS = 60.0


class Seen(NamedTuple):
    """The users, agent and missions whose waiting writes a key sees; None means all."""

    users: list[str] | None
    agent: str | None
    missions: list[str] | None

    @classmethod
    def by(cls, principal: Principal) -> Seen | None:
        """A reviewer sees what lies within the bounds of its key; any other key, what its own agent wrote."""
        if "admin" not in principal.access and principal.agent is None:
            return None
        return cls(principal.seen_users(), principal.agent, principal.seen_missions())


_SEEN = """
    ({users}::text[] is null or user_id is null or user_id = any({users}))
    and ({agent}::text is null or agent_name = {agent})
    and ({missions}::text[] is null or mission_id = any({missions}))
"""


class Reviews:
    """One owner's table of reviews."""

    def __init__(self, schema: str) -> None:
        table = f"{schema}.reviews"
        self.wait_sql = f"""
            with kept as (
                insert into {table} (tenant, store, state, scope, mission_id, agent_name, user_id, subjects, rules,
                                     content, body, writer, written_by, source_kind, source_claim)
                values ($1, $2, 'waiting', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) returning id
            ), told as (
                insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
                select $1, $3, 'review_wait', $4, $5, $15, jsonb_build_object('store', $2::text, 'id', -id) from kept
            )
            select id from kept"""
        self.room_sql = f"""
            select count(*) as every, count(*) filter (where agent_name is not distinct from $2) as own
            from (select agent_name from {table} where tenant = $1 and state = 'waiting' limit {MOST_WAITING}) w"""
        self.list_sql = f"""
            select store, -id as id, left(content, {MOST_SHOWN}) as content,
                   length(content) > {MOST_SHOWN} as cut, scope, agent_name, mission_id, user_id, written_by,
                   source_kind, source_claim, created_at, rules
            from {table} w
            where tenant = $1 and state = 'waiting' and {_SEEN.format(users="$2", agent="$3", missions="$4")}
              and ($5::text is null or agent_name = $5) and ($6::text is null or mission_id = $6)
              and id < coalesce(-$7::bigint, 9223372036854775807)
            order by w.id desc limit $8"""
        self.find_sql = f"""
            select id, store, state, item_id, scope, mission_id, agent_name, user_id, body, writer, decided_by,
                   decided_at
            from {table} where tenant = $1 and id = $2 and {_SEEN.format(users="$3", agent="$4", missions="$5")}"""
        self.hold_sql = (
            f"select 1 from {table} where tenant = $1 and id = $2 and state = 'waiting' for update"
        )
        self.settle_sql = f"""
            with done as (
                update {table} set state = $3, item_id = $4, decided_by = $5, decided_at = now(),
                                   content = null, body = null, writer = null
                where tenant = $1 and id = $2
                returning id, store, state, item_id, scope, mission_id, agent_name, decided_by, decided_at
            ), told as (
                insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
                select $1, scope, 'review_decide', mission_id, agent_name,
                       jsonb_build_object('store', store, 'id', -id, 'state', state, 'item_id', item_id)
                from done
            )
            select state, item_id, decided_by, decided_at from done"""
        self.marked_sql = f"""
            select state, item_id, decided_by, decided_at, scope, mission_id, agent_name, user_id from {table}
            where tenant = $1 and store = $2 and marked = $3 and {_SEEN.format(users="$4", agent="$5", missions="$6")}
            """
        self.mark_sql = f"""
            with done as (
                insert into {table} (tenant, store, state, marked, item_id, scope, mission_id, agent_name, user_id,
                                     subjects, decided_by, decided_at)
                values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now())
                on conflict (tenant, store, marked) do update
                    set state = excluded.state, item_id = excluded.item_id, decided_by = excluded.decided_by,
                        decided_at = excluded.decided_at
                returning state, item_id, decided_by, decided_at
            ), told as (
                insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
                select $1, $6, 'review_decide', $7, $8,
                       jsonb_build_object('store', $2::text, 'id', $4::bigint, 'state', state, 'item_id', item_id)
                from done
            )
            select state, item_id, decided_by, decided_at from done"""
        self.purge_sql = f"""
            with gone as (
                delete from {table} where tenant = $1 and (scope = $2 or subjects @> array[$2]) returning 1
            )
            select count(*) from gone"""

    async def wait(self, c: Connection, principal: Principal, write: Waiting) -> int:
        """Keeps a write until it is decided. Returns its id, which is negative: no item has it.

        Raises TooMany where so much waits already, of the agent or in all, that nobody would come to it.
        """
        (room,) = await c.fetch(self.room_sql, principal.tenant, write.agent_name)
        if room["own"] >= MOST_WAITING_OF_AGENT or room["every"] >= MOST_WAITING:
            raise TooMany("too many writes wait for a reviewer already", retry_after=_FULL_SECONDS)
        about = About(write.scope, write.mission_id, write.agent_name, write.user_id)
        kept: int = await c.fetchval(
            self.wait_sql,
            principal.tenant,
            write.store,
            *about,
            about.subjects,
            write.rules,
            write.content,
            msgspec.to_builtins(write.body),
            msgspec.to_builtins(principal),
            principal.key,
            write.source_kind,
            write.source_claim,
            write.session_id,
        )
        return -kept

    async def held(
        self,
        c: Connection,
        principal: Principal,
        abouts: Sequence[About],
        write_of: Callable[[int, list[str]], Waiting],
    ) -> dict[int, int]:
        """Keeps those of some writes that must wait: their ids by their places. `write_of` takes the place and the
        rules."""
        ruled = await under_review(c, principal.tenant, [scope for one in abouts for scope in one.ruling])
        waiting: dict[int, int] = {}
        for place, about in enumerate(abouts):
            if rules := sorted(ruled.intersection(about.ruling)):
                waiting[place] = await self.wait(c, principal, write_of(place, rules))
        return waiting

    async def waiting(
        self,
        c: Connection,
        principal: Principal,
        agent: Name | None,
        mission: Name | None,
        before: int | None,
        limit: int,
    ) -> list[Candidate]:
        """Newest first."""
        seen = Seen.by(principal)
        if seen is None:
            return []
        rows = await c.fetch(self.list_sql, principal.tenant, *seen, agent, mission, before, limit)
        return [Candidate(**dict(row)) for row in rows]

    async def find(self, c: Connection, principal: Principal, waiting_id: int) -> asyncpg.Record | None:
        """A write that waits or waited, within the bounds of a reviewer's key."""
        seen = Seen.by(principal)
        return None if seen is None else await c.fetchrow(self.find_sql, principal.tenant, -waiting_id, *seen)

    async def hold(self, c: Connection, tenant: str, waiting_id: int) -> bool:
        """Until the transaction ends. False when it no longer waits."""
        return await c.fetchval(self.hold_sql, tenant, -waiting_id) is not None

    async def settle(
        self, c: Connection, principal: Principal, waiting_id: int, state: State, item_id: int | None
    ) -> asyncpg.Record:
        """Hold it first."""
        row = await c.fetchrow(self.settle_sql, principal.tenant, -waiting_id, state, item_id, principal.key)
        assert row is not None
        return row

    async def marked(
        self, c: Connection, principal: Principal, store: str, item_id: int
    ) -> asyncpg.Record | None:
        """What was decided of a stored item."""
        seen = Seen.by(principal)
        if seen is None:
            return None
        return await c.fetchrow(self.marked_sql, principal.tenant, store, item_id, *seen)

    async def mark(
        self,
        c: Connection,
        principal: Principal,
        store: str,
        marked: int,
        about: About,
        state: State,
        item_id: int | None,
    ) -> asyncpg.Record:
        row = await c.fetchrow(
            self.mark_sql,
            principal.tenant,
            store,
            state,
            marked,
            item_id,
            *about,
            about.subjects,
            principal.key,
        )
        assert row is not None
        return row

    async def purge(self, c: Connection, tenant: str, scopes: Sequence[str]) -> int:
        """Before anything else of these scopes: who approves a write holds it until the item is there."""
        return sum([await c.fetchval(self.purge_sql, tenant, scope) for scope in scopes])


def write_of(body: Any, kind: type[T], content: str | None = None) -> T:
    """What waits, as its store takes it, with another text if `content` is given.

    Raises Conflict where an earlier release took what this one does not.
    """
    if content is not None:
        body = {**body, "content": content}
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        refused = Invalid.of(errors_of(mi.type_info(kind), body))
        raise Conflict(f"{_OUTDATED} ({refused.detail})") from error


def writer_of(row: Any) -> Principal:
    """The key that wrote what waits, as it was then."""
    return msgspec.convert(row["writer"], Principal)
