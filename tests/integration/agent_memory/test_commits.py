"""One row a fact, user and agent, whatever the order, concurrency and embedder: by properties, on two replicas."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from functools import partial
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.database import Database
from services.agent_memory.app import Services
from services.agent_memory.memories.schemas import TaskContext
from shared.database.postgres import Connection
from shared.deadline import Deadline
from tests.support.agent_memory import MANY_SECONDS, commit, fake_embedding, replica, settled, who
from tests.support.fakes.embedding_api import words_vector
from tests.support.fakes.fake_openai import FakeOpenAI

APART = 0.3
FAULTS = ["500", "503", "429", "reset", "not_json", "nan", "wrong_count", "ok", "ok", "ok", "ok"]
WORDS = [
    f"{a}{b}" for a in ("lumo", "kari", "tesk", "vond", "pira", "zule") for b in ("dan", "mok", "rit", "sal")
]
_tenants = itertools.count(1)


@pytest.fixture(scope="module")
def api() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as api:
        yield api


@pytest.fixture(scope="module")
async def replicas(database: Database, redis_url: str, api: FakeOpenAI) -> AsyncIterator[list[Services]]:
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(replica(database, redis_url, fake_embedding(api)))
            for _ in range(2)
        ]


def distance(a: str, b: str) -> float:
    left, right = words_vector(a, 512), words_vector(b, 512)
    return 1 - float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)))


def far_apart(texts: list[str]) -> list[str]:
    kept: list[str] = []
    for text in texts:
        if all(distance(text, other) >= APART for other in kept):
            kept.append(text)
    return kept


def plural(fact: str) -> str:
    """Another wording within the dedup distance."""
    first, _, rest = fact.partition(" ")
    return f"{first}s {rest}"


facts = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=8, max_size=8, unique=True).map(" ".join),
    min_size=2,
    max_size=8,
).map(far_apart)
few = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@few
@given(
    facts,
    st.integers(1, 4),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from([[None], [None, "alice", "bob"]]),
    st.randoms(use_true_random=False),
)
async def test_one_row_a_fact_user_and_agent(
    replicas: list[Services],
    api: FakeOpenAI,
    sql: Connection,
    facts: list[str],
    agents: int,
    repeats: int,
    reworded: bool,
    users: list[str | None],
    random: Random,
) -> None:
    tenant = f"property-{next(_tenants)}"
    said = [
        (f"agent-{n}", users[turn % len(users)], fact, fact)
        for n in range(agents)
        for fact in facts
        for turn in range(repeats)
    ]
    if reworded:
        said += [(agent, user, fact, plural(fact)) for agent, user, fact, _ in said[::2]]
    random.shuffle(said)
    api.script.extend(random.choices(FAULTS, k=3 * len(said)))
    answers = await asyncio.gather(
        *(commit(random.choice(replicas), tenant, agent, text, user_id=user) for agent, user, _, text in said)
    )
    api.script.clear()
    await settled(sql, tenant)

    rows = await sql.fetch(
        "select id, agent_name, user_id, content, confirmed_count, pending from memory.agent_memory"
        " where tenant = $1",
        tenant,
    )
    fact_of = {wording: fact for fact in facts for wording in (fact, plural(fact))}
    times = Counter((agent, user, fact) for agent, user, fact, _ in said)
    held = {(row["agent_name"], row["user_id"], fact_of[row["content"]]): row for row in rows}
    assert len(rows) == len(held) == len(times), "one row a fact, user and agent, none lost"
    assert {key: row["confirmed_count"] + 1 for key, row in held.items()} == times
    assert not any(row["pending"] for row in rows)
    embedded = await sql.fetch("select item_id from memory.agent_memory_vec where tenant = $1", tenant)
    assert {row["item_id"] for row in embedded} == {row["id"] for row in rows}
    for (agent, user, fact, _), answer in zip(said, answers, strict=True):
        found = await replicas[0].reader.get(who(tenant), answer.memory_id, Deadline(MANY_SECONDS))
        assert found.memory.id == held[agent, user, fact]["id"], (
            "an absorbed memory's id leads to what absorbed it"
        )


async def test_a_late_vector_merges_and_keeps_where_it_came_from(
    replicas: list[Services], api: FakeOpenAI, sql: Connection
) -> None:
    tenant, fact = "late", "rollout of the billing api waits for signed approval"  # in nobody's cache
    api.mode = "503"
    first = await commit(replicas[0], tenant, "scout", fact, dispatch_id=7)
    second = await commit(replicas[1], tenant, "scout", plural(fact), dispatch_id=8, recalled_from=None)
    assert [first.status, second.status] == ["pending", "pending"]
    assert first.memory_id != second.memory_id
    replicas[0].accesses.count(tenant, [first.memory_id, second.memory_id, second.memory_id])
    await replicas[0].accesses.flush()
    api.mode = "ok"
    await settled(sql, tenant)
    answer = await replicas[0].reader.get(who(tenant), second.memory_id, Deadline(MANY_SECONDS))
    assert (answer.memory.id, answer.memory.content) == (first.memory_id, fact)
    assert (answer.memory.dispatch_id, answer.memory.confirmed_count) == (7, 1)
    assert answer.memory.access_count == 3, "those of both"
    assert [(one.dispatch_id, one.absorbed_id) for one in answer.confirmations] == [(8, second.memory_id)]


@pytest.mark.parametrize("other", ["key", "mission", "user", "scope"])
async def test_a_late_vector_merges_only_what_one_key_wrote_in_one_place(
    replicas: list[Services], api: FakeOpenAI, sql: Connection, other: str
) -> None:
    """A key of one mission would otherwise take the mission, the text or the count of a memory that it may not read."""
    tenant, fact = f"late, another {other}", f"the invoice run of {other} waits for a second signature"
    task = {"task_description": "t", "skills_used": [], "outcome": "success"}
    first: dict[str, dict[str, Any]] = {
        "mission": {"task_context": {**task, "mission_namespace": "apollo"}},
        "user": {"user_id": "ana"},
    }
    second: dict[str, dict[str, Any]] = {
        "key": {"key": "another"},
        "mission": {"task_context": {**task, "mission_namespace": "moria"}},
        "user": {"user_id": "bo"},
        "scope": {"private": True},
    }
    api.mode = "503"
    made = [
        await commit(replicas[0], tenant, "scout", text, **_converted(more))
        for text, more in ((fact, first.get(other, {})), (plural(fact), second[other]))
    ]
    assert [one.status for one in made] == ["pending", "pending"]
    api.mode = "ok"
    await settled(sql, tenant)
    rows = await sql.fetch(
        "select id, confirmed_count, pending from memory.agent_memory where tenant = $1 order by id", tenant
    )
    assert [tuple(row) for row in rows] == [(one.memory_id, 0, False) for one in made]


def _converted(more: dict[str, Any]) -> dict[str, Any]:
    task = more.get("task_context")
    return more if task is None else {**more, "task_context": msgspec.convert(task, TaskContext)}


async def test_a_fact_that_a_purge_erases_meanwhile_is_stated_anew(
    replicas: list[Services], sql: Connection
) -> None:
    tenant, fact = "erased meanwhile", "the warehouse closes its doors at nine"
    first = await commit(replicas[0], tenant, "scout", fact)
    async with sql.transaction():
        await sql.execute("delete from memory.agent_memory where tenant = $1", tenant)
        again = asyncio.ensure_future(commit(replicas[1], tenant, "scout", fact))
        await asyncio.sleep(0.5)
        assert not again.done()
    assert (await again).status == "created"
    rows = await sql.fetch("select id from memory.agent_memory where tenant = $1", tenant)
    assert [row["id"] for row in rows] == [(await again).memory_id] != [first.memory_id]


async def test_access_counts_wait_for_no_one(replicas: list[Services], sql: Connection) -> None:
    tenant, services = "counts", replicas[0]
    ids = [(await commit(services, tenant, "scout", " ".join(WORDS[n : n + 8]))).memory_id for n in (0, 9)]
    for table, key in (("agent_memory", "id"), ("accesses", "memory_id")):
        async with sql.transaction():
            await sql.execute(f"select from memory.{table} where {key} = $1 for update", ids[0])
            services.accesses.count(tenant, ids)
            assert not await services.accesses.flush(), "that of the locked row waits"
        assert await services.accesses.flush()
    assert await counts(sql, tenant) == dict.fromkeys(ids, 2)


async def test_accesses_of_what_is_erased_are_not_counted(replicas: list[Services], sql: Connection) -> None:
    tenant, services = "uncounted", replicas[0]
    gone, left = [
        (await commit(services, tenant, "scout", " ".join(WORDS[n : n + 8]))).memory_id for n in (0, 9)
    ]
    services.accesses.count(tenant, [gone, left])
    assert await services.accesses.flush()
    await sql.execute("delete from memory.agent_memory where id = $1", gone)
    services.accesses.count(tenant, [gone, left])
    assert await services.accesses.flush(), "nothing waits for a memory that is gone"
    assert await counts(sql, tenant) == {left: 2}


async def test_accesses_go_on_from_what_was_counted_before(replicas: list[Services], sql: Connection) -> None:
    """By the release before, or in an import: in the memory's row."""
    tenant, services = "counted on", replicas[0]
    memory_id = (await commit(services, tenant, "scout", " ".join(WORDS[:8]))).memory_id
    await sql.execute("update memory.agent_memory set access_count = 5 where id = $1", memory_id)
    read = partial(services.reader.get, who(tenant), memory_id, Deadline(MANY_SECONDS))
    assert (await read()).memory.access_count == 5
    services.accesses.count(tenant, [memory_id, memory_id])
    await services.accesses.flush()
    assert (await read()).memory.access_count == 7


async def test_replicas_count_the_same_memories_at_once(replicas: list[Services], sql: Connection) -> None:
    tenant = "at once"
    ids = [
        (await commit(replicas[0], tenant, "scout", f"{WORDS[n]} {WORDS[n + 7]} {WORDS[n + 13]}")).memory_id
        for n in range(10)
    ]
    for _ in range(20):
        replicas[0].accesses.count(tenant, ids)
        replicas[1].accesses.count(tenant, ids[::-1])
        await asyncio.gather(*(one.accesses.flush() for one in replicas))
    while not all([await one.accesses.flush() for one in replicas]):
        pass
    assert await counts(sql, tenant) == dict.fromkeys(ids, 40)


async def counts(sql: Connection, tenant: str) -> dict[int, int]:
    rows = await sql.fetch("select memory_id, access_count from memory.accesses where tenant = $1", tenant)
    return {row["memory_id"]: row["access_count"] for row in rows}
