"""The cache against a model of it in plain Python: any sequence of writes, reads, clears and jumps in time."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, NamedTuple, TypeVar

import asyncpg
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from local.database import Database
from services.cache.entries.queries import EntryFilter
from services.cache.entries.schemas import QueryCacheInput, WriteResult
from services.cache.service import CacheService
from shared.deadline import Deadline
from shared.errors import AppError
from tests.support.cache_services import cache_service, checkpoint, intel, principal

T = TypeVar("T")
TOKENS, ENTRIES, TTL = 60, 6, 24
STEPS = 2_000

SECONDS = 60
TENANTS = st.sampled_from(["red", "blue"])
MISSIONS = st.sampled_from(["one", "two"])
SIZES = st.one_of(st.integers(8, 25), st.sampled_from([TOKENS - 1, TOKENS, TOKENS + 1]))
TTLS = st.one_of(st.none(), st.integers(1, 48))
SHIFT = """
with given as (select $1::text[] as tenants, $2 * interval '1 hour' as by), entries as (
    update cache.psychic_cache set created_at = created_at - by, expires_at = expires_at - by
    from given where tenant = any (tenants)
), chunks as (
    update cache.psychic_chunks set expires_at = expires_at - by from given where tenant = any (tenants)
)
update cache.missions set next_expiry = next_expiry - by from given where tenant = any (tenants)
"""
# In a checkpoint, besides its content and its mission's name: the session, the turn and the prose.
OTHER_CHARACTERS = len("s") + len("1") + len("half way")
_numbers = itertools.count(1)


class Held(NamedTuple):
    id: int
    tokens: int
    session: str | None  # a checkpoint's
    until: int
    word: str


class Mission:
    """What the seed says of a mission, written as plainly as it can be."""

    def __init__(self) -> None:
        self.held: list[Held] = []
        self.counts: Counter[str] = Counter()

    def expire(self, now: int) -> None:
        live = [entry for entry in self.held if entry.until > now]
        self.counts["expired"] += len(self.held) - len(live)
        self.held = live

    def protected(self, entry: Held, new: str | None) -> bool:
        newest = max((e.id for e in self.held if e.session == entry.session), default=0)
        return entry.session is not None and entry.session != new and entry.id == newest

    def room_for(self, tokens: int, session: str | None) -> list[Held] | None:
        """Who has to go; None when it cannot fit."""
        held, gone = list(self.held), []
        while sum(e.tokens for e in held) + tokens > TOKENS or len(held) + 1 > ENTRIES:
            oldest = next((e for e in held if not self.protected(e, session)), None)
            if oldest is None:
                return None
            held.remove(oldest)
            gone.append(oldest)
        return gone


class Bench:
    """What all machines of one run share."""

    runner: asyncio.Runner
    service: CacheService
    sql: Any
    steps = 0


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        number = next(_numbers)
        self.names = {name: f"model-{number}-{name}" for name in ("red", "blue")}
        self.missions = {(t, m): Mission() for t in ("red", "blue") for m in ("one", "two")}
        self.now = 0

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        Bench.steps += 1
        return Bench.runner.run(work)

    def mission(self, tenant: str, name: str) -> Mission:
        mission = self.missions[tenant, name]
        mission.expire(self.now)
        return mission

    @rule(
        tenant=TENANTS, name=MISSIONS, tokens=SIZES, ttl=TTLS, session=st.sampled_from([None, None, "s", "t"])
    )
    def write(self, tenant: str, name: str, tokens: int, ttl: int | None, session: str | None) -> None:
        mission = self.mission(tenant, name)
        word = f"word{next(_numbers)}q"
        others = OTHER_CHARACTERS + len(name) if session else len("test")
        content = f"{word} ".ljust(tokens * 4 - others, "x")
        more = {} if ttl is None else {"ttl_hours": float(ttl)}
        entry = checkpoint(name, content, session, **more) if session else intel(name, content, **more)
        answer = self.do(self._write(tenant, entry))
        gone = mission.room_for(tokens, session)
        if tokens > TOKENS:
            assert answer == 422
        elif gone is None:
            assert answer == 409
        else:
            assert isinstance(answer, WriteResult)
            mission.held = [e for e in mission.held if e not in gone]
            mission.held.append(Held(answer.id, tokens, session, self.now + (ttl or TTL), word))
            mission.counts["written"] += 1
            mission.counts["evicted"] += len(gone)
            assert answer.evicted_count == len(gone)
            assert answer.cache_total_tokens == sum(e.tokens for e in mission.held)
        self.agree(tenant, name)

    async def _write(self, tenant: str, entry: Any) -> WriteResult | int:
        try:
            return await Bench.service.writer.write(
                principal(self.names[tenant]), entry, None, Deadline(SECONDS)
            )
        except AppError as error:
            return error.status

    @rule(tenant=TENANTS, name=MISSIONS, data=st.data())
    def query(self, tenant: str, name: str, data: st.DataObject) -> None:
        held = self.mission(tenant, name).held
        sought = data.draw(st.sampled_from([None, *held]))
        query = QueryCacheInput(mission_id=name, query=sought.word if sought else "nothing holds this")
        found = self.do(Bench.service.search.query(principal(self.names[tenant]), query, Deadline(SECONDS)))
        assert [e.id for e in found.entries] == ([sought.id] if sought else [])
        assert found.cache_size == len(held)

    @rule(tenant=TENANTS)
    def everywhere(self, tenant: str) -> None:
        ids = {e.id for m in ("one", "two") for e in self.mission(tenant, m).held}
        who = principal(self.names[tenant])
        page = Bench.service.entries.of_all_missions(who, EntryFilter(), None, 1_000, Deadline(SECONDS))
        assert {e.id for e in self.do(page).data} == ids

    @rule(tenant=TENANTS, session=st.sampled_from(["s", "t"]))
    def latest_checkpoint(self, tenant: str, session: str) -> None:
        ids = [e.id for m in ("one", "two") for e in self.mission(tenant, m).held if e.session == session]

        async def look() -> int | None:
            try:
                who = principal(self.names[tenant])
                return (await Bench.service.entries.checkpoint(who, session, Deadline(SECONDS))).id
            except AppError:
                return None

        assert self.do(look()) == max(ids, default=None)

    @rule(tenant=TENANTS, name=MISSIONS, data=st.data())
    def delete(self, tenant: str, name: str, data: st.DataObject) -> None:
        mission = self.mission(tenant, name)
        if not mission.held:
            return
        gone = data.draw(st.sampled_from(mission.held))
        done = self.do(
            Bench.service.entries.delete(principal(self.names[tenant]), gone.id, Deadline(SECONDS))
        )
        assert done.freed_tokens == gone.tokens
        mission.held.remove(gone)
        mission.counts["cleared"] += 1
        self.agree(tenant, name)

    @rule(tenant=TENANTS, name=MISSIONS)
    def clear(self, tenant: str, name: str) -> None:
        mission = self.mission(tenant, name)
        who = principal(self.names[tenant])
        done = self.do(Bench.service.missions.clear(who, name, "operator", Deadline(SECONDS)))
        assert (done.deleted_count, done.freed_tokens) == (
            len(mission.held),
            sum(e.tokens for e in mission.held),
        )
        mission.counts["cleared"] += len(mission.held)
        mission.held = []

    @rule(hours=st.integers(1, 20))
    def time_passes(self, hours: int) -> None:
        self.now += hours
        self.do(Bench.sql.execute(SHIFT, list(self.names.values()), hours))

    @rule()
    def sweep(self) -> None:
        self.do(Bench.service.sweep.sweep())

    def agree(self, tenant: str, name: str) -> None:
        """What lists and stats say is what the model holds."""
        mission, who = self.mission(tenant, name), principal(self.names[tenant])
        page = Bench.service.entries.of_mission(who, name, EntryFilter(), None, 1_000, Deadline(SECONDS))
        assert [e.id for e in Bench.runner.run(page).data] == [e.id for e in reversed(mission.held)]
        if not mission.counts["written"]:
            return
        stats = Bench.runner.run(Bench.service.missions.stats(who, name, Deadline(SECONDS)))
        assert (stats.entry_count, stats.total_tokens) == (
            len(mission.held),
            sum(e.tokens for e in mission.held),
        )
        assert mission.counts == Counter(
            written=stats.written_count,
            evicted=stats.evicted_count,
            expired=stats.expired_count,
            cleared=stats.cleared_count,
        )

    def teardown(self) -> None:
        for tenant, name in self.missions:
            self.agree(tenant, name)


def test_the_cache_does_what_its_model_does(database: Database, redis_url: str) -> None:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        Bench.runner = runner
        limits = {"token_budget": TOKENS, "entry_budget": ENTRIES, "ttl_hours": float(TTL)}
        Bench.service = runner.run(stack.enter_async_context(cache_service(database, redis_url, **limits)))
        Bench.sql = runner.run(asyncpg.connect(database.admin))
        try:
            while Bench.steps < STEPS:
                run_state_machine_as_test(
                    Machine,
                    settings=settings(
                        max_examples=20,
                        stateful_step_count=60,
                        deadline=None,
                        database=None,
                        suppress_health_check=list(HealthCheck),
                    ),
                )
        finally:
            runner.run(Bench.sql.close())
            runner.run(stack.aclose())
    print(f"{Bench.steps} steps")
