"""Entries that one call puts are put as by a call for each: the same rows, words, events, evictions and refusals."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from local.database import Database
from services.cache.entries.puts.making import put_of
from services.cache.entries.queries_write import Put, put_entries
from services.cache.entries.schemas import ThreadCheckpoint
from services.cache.missions.queries import DefaultLimits, MissionKey
from shared.database.postgres import Connection, _prepare
from tests.support.cache_services import intel, principal

TENANT, MODEL = "together", "m"
WHO = principal(TENANT)
ROOMY = DefaultLimits(token_budget=100_000, entry_budget=1_000, ttl_hours=24.0)
NARROW = DefaultLimits(token_budget=150, entry_budget=7, ttl_hours=24.0)
HELD = """
select context_type, content, agent_name, session_id, seq, user_id, token_count, dispatch_id, tags, metadata,
       extract(epoch from expires_at - created_at)::int as seconds
from cache.psychic_cache where tenant = $1 and mission_id = $2 order by id
"""
WORDS = """
select e.content, c.chunk, c.chunks, c.start, c.stop, c.words, c.tsv::text, c.expires_at = e.expires_at as expire
from cache.psychic_chunks c join cache.psychic_cache e on e.tenant = c.tenant and e.id = c.item_id
where e.tenant = $1 and e.mission_id = $2 order by e.id, c.chunk
"""
EVENTS = """
select kind, agent_name, session_id, dispatch_id, payload - 'id' as payload,
       dense_rank() over (order by (payload ->> 'id')::bigint) as nth
from timeline.events where tenant = $1 and mission_id = $2 and kind = 'cache_write' order by id
"""
QUEUED = """
select e.content, q.store, q.scope = e.scope as scope, q.model
from cache.index_queue q join cache.psychic_cache e on e.tenant = q.tenant and e.id = q.item_id
where e.tenant = $1 and e.mission_id = $2 order by e.id
"""
SUMS = """
select tokens, entries, written_count, evicted_count,
       next_expiry <= all (select expires_at from cache.psychic_cache e
                           where e.tenant = m.tenant and e.mission_id = m.mission_id) as in_time
from cache.missions m where tenant = $1 and mission_id = $2
"""
DISPATCH = """
insert into cache.agent_dispatch (tenant, mission_id, agent_name, task, written_by, last_heartbeat)
values ($1, $2, $3, 'a task', 'test', clock_timestamp() - interval '1 minute') returning id
"""
TICKED = "select outputs, last_heartbeat > created_at as ticked from cache.agent_dispatch where tenant = $1 and id = $2"


@pytest.fixture
async def service(database: Database) -> AsyncIterator[Connection]:
    """A connection as the cache service has it."""
    connection = await asyncpg.connect(
        database.services["cache"], server_settings={"scrubjay.tenant": TENANT}
    )
    await _prepare(connection)
    yield connection
    await connection.close()


def entry(random: random.Random, number: int, *, checkpoints: bool) -> Put:
    agent, session = random.choice(["a", "b"]), random.choice(["s", "t"])
    if checkpoints and random.random() < 0.3:
        checkpoint = ThreadCheckpoint(
            mission_id="m",
            content=f"checkpoint {number}",
            agent_name=agent,
            session_id=session,
            turn_count=number,
            active_dispatches=[],
            open_decisions=[],
            pending_directives=[],
            current_mission_namespaces=["m"],
            working_state_prose="half way",
        )
        put = put_of(WHO, checkpoint)
    else:
        # In no order, and none twice.
        more: dict[str, Any] = {"agent_name": agent, "tags": ["x"] * random.randrange(2)}
        if random.random() < 0.7:
            more |= {"session_id": session, "seq": 1_000 * random.randrange(50) + number, "speaker": "Ann"}
        if random.random() < 0.3:
            more["user_id"] = random.choice(["u", "v"])
        if random.random() < 0.3:
            more["ttl_hours"] = random.choice([1.0, 48.0])
        long = random.choice([1, 4, 300]) if random.random() < 0.5 else 2
        put = put_of(WHO, intel("m", f"note {number} says it " + "again and again " * long, **more))
    # As large as a share of what the narrow mission holds, or larger than that.
    put.token_count = random.choice([5, 10, 30, 60, 60, 200])
    return put


async def state(sql: Connection, mission: str) -> dict[str, list[dict[str, Any]]]:
    asked = {"held": HELD, "words": WORDS, "events": EVENTS, "queued": QUEUED, "sums": SUMS}
    return {
        name: [dict(row) for row in await sql.fetch(query, TENANT, mission)] for name, query in asked.items()
    }


def answers(rows: list[asyncpg.Record]) -> list[tuple[Any, ...]]:
    return [
        (row["total_tokens"], row["evicted"], row["refused"], row["token_budget"], row["entry_id"] is None)
        for row in rows
    ]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("limits", [ROOMY, NARROW])
async def test_a_call_for_all_is_as_a_call_for_each(
    service: Connection, sql: Connection, seed: int, limits: DefaultLimits
) -> None:
    chosen = random.Random(seed)
    together, alone = (MissionKey(TENANT, f"{limits.entry_budget}-{seed}-{how}") for how in ("all", "each"))
    number = 0
    for _ in range(4):
        checkpoints = chosen.random() < 0.4
        puts = [
            entry(chosen, number + place, checkpoints=checkpoints) for place in range(chosen.randint(2, 12))
        ]
        number += len(puts)
        all_at_once = await put_entries(service, together, puts, model=MODEL, limits=limits)
        one_by_one = [
            (await put_entries(service, alone, [put], model=MODEL, limits=limits))[0] for put in puts
        ]
        assert answers(all_at_once) == answers(one_by_one)
        assert await state(sql, together.mission_id) == await state(sql, alone.mission_id)
        ids = [row["entry_id"] for row in all_at_once if row["entry_id"] is not None]
        assert ids == sorted(ids)


async def test_dispatches_are_ticked(service: Connection) -> None:
    """Each once for each output; those that a key's bounds exclude are not."""
    mission = MissionKey(TENANT, "ticking")
    own, other = [await service.fetchval(DISPATCH, TENANT, "ticking", agent) for agent in ("a", "b")]
    puts = [put_of(WHO, intel("ticking", f"note {place}", agent_name="a")) for place in range(4)]
    for put, dispatch in zip(puts, [own, own, other, None], strict=True):
        put.dispatch_id, put.bound_agent, put.context_type = dispatch, "a", "output"
    await put_entries(service, mission, puts, model=MODEL, limits=ROOMY)
    ticked = [dict(await service.fetchrow(TICKED, TENANT, dispatch) or {}) for dispatch in (own, other)]
    assert ticked == [{"outputs": 2, "ticked": True}, {"outputs": 0, "ticked": False}]


async def test_what_is_refused_makes_no_mission(service: Connection) -> None:
    mission = MissionKey(TENANT, "refused")
    puts = [put_of(WHO, intel("refused", f"note {place}")) for place in range(2)]
    for put in puts:
        put.token_count = NARROW.token_budget + 1
    rows = await put_entries(service, mission, puts, model=MODEL, limits=NARROW)
    assert [row["refused"] for row in rows] == ["larger", "larger"]
    assert not await service.fetch(
        "select from cache.missions where tenant = $1 and mission_id = 'refused'", TENANT
    )
