"""A batch of commits leaves what the same commits leave one by one, and takes fewer statements."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import asyncpg
import numpy as np
import pytest
from pgvector import HalfVector

from local.database import Database
from services.agent_memory.app import Services
from services.agent_memory.memories.commits.content import MemoryContent
from services.agent_memory.memories.commits.prepared import prepare
from services.agent_memory.memories.commits.queries import ADD_EVENTS, CONFIRM, HOLD_ALL
from services.agent_memory.memories.commits.queries_repeats import FIND_REPEATS, Commit
from services.agent_memory.memories.commits.queries_write import COMMIT_NEW
from services.agent_memory.memories.commits.rows import hashes
from services.agent_memory.memories.commits.rules import CommitRules
from services.agent_memory.memories.schemas import CommitAgentMemoryInput, CommitResult, TaskContext
from services.context.table_statistics import analyze_grown
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder, open_embedder
from tests.support.agent_memory import MANY_SECONDS, fake_embedding, replica, settled
from tests.support.calls import until
from tests.support.fakes.fake_openai import FakeOpenAI

FACTS = [
    "the gateway of the billing team restarts every night",
    "invoices above the limit need a second signature",
    "the warehouse in the harbour closes at nine",
    "never deploy the ledger before the audit ends",
]
DATES = [datetime(2024, month, 1, tzinfo=UTC) for month in range(1, 6)]
LONG = "a long report about the harbour and its cranes " * 60
_numbers = itertools.count(1)

MEMORIES = """
select dense_rank() over (order by m.id) as place, m.agent_name, m.content, encode(m.content_hash, 'hex') as fact,
       m.memory_type, m.task_description, m.skills_used, m.outcome, m.mission_namespace, m.private, m.token_count,
       m.chunks, m.access_count, m.confirmed_count, m.pending, m.session_id, m.seq, m.speaker, m.written_by,
       m.source_kind, m.source_claim, m.dispatch_id, m.user_id, m.paths, m.symbols, m.step, m.language,
       m.confirmed_at is not null as confirmed,
       case when m.confirmed_at < '2025-01-01' then m.confirmed_at end as confirmed_at,
       (select count(*) from memory.agent_memory o
           where o.tenant = $1 and o.id <= m.superseded_by) as superseded_by
from memory.agent_memory m where m.tenant = $1
"""
OF_MEMORIES = (
    "(select tenant, id, dense_rank() over (order by id) as place from memory.agent_memory where tenant = $1)"
)
LEFT = {
    "memories": f"select to_jsonb(m)::text from ({MEMORIES}) m order by m.place",
    "chunks": "select to_jsonb(x)::text from (select p.place, c.chunk, c.chunks, c.start, c.stop, c.words, c.private,"
    f" c.tsv::text from memory.agent_memory_chunks c join {OF_MEMORIES} p on p.id = c.item_id) x"
    " order by x.place, x.chunk",
    "vectors": "select to_jsonb(x)::text from (select p.place, v.chunk, v.private, v.scope, v.embedding::text"
    f" from memory.agent_memory_vec v join {OF_MEMORIES} p on p.id = v.item_id) x order by x.place, x.chunk",
    "confirmations": "select to_jsonb(x)::text from (select p.place, c.written_by, c.source_kind, c.mission_namespace,"
    f" c.dispatch_id, c.recalled_from, c.count from memory.confirmations c join {OF_MEMORIES} p on p.id = c.memory_id"
    " order by c.id) x order by x.place",
    "events": "select (to_jsonb(x) - 'id')::text from (select e.id, e.scope, e.kind, e.mission_id, e.agent_name,"
    " e.session_id, e.dispatch_id, e.payload - 'id', p.place from timeline.events e"
    f" join {OF_MEMORIES} p on p.id = (e.payload->>'id')::bigint where e.tenant = $1) x order by x.id",
}


@pytest.fixture(scope="module", params=["ok", "503"], ids=["with vectors", "without vectors"])
async def services(
    request: pytest.FixtureRequest, database: Database, redis_url: str
) -> AsyncIterator[tuple[Services, bool]]:
    """A replica, and whether its embedder answers. Nobody else's indexer takes what waits for this one's model."""
    with FakeOpenAI() as api:
        api.mode = request.param
        embedding = replace(fake_embedding(api), model=f"model-{request.param}")
        async with replica(database, redis_url, embedding) as services:
            yield services, api.mode == "ok"


def worded(random: Random, fact: str) -> str:
    """The fact in one of several wordings, or another fact that is near."""
    return random.choice(
        [
            fact,
            fact.upper(),
            f"{fact}!",
            fact.replace("the ", "the new ", 1),
            fact.replace(" the ", " a ", 1),
            fact.replace("s ", " ", 1),
            f"{fact} {random.choice('234')}",
        ]
    )


def drawn(random: Random) -> dict[str, Any]:
    """The arguments of a commit."""
    turn = random.random() < 0.4
    mission = random.choice([None, "apollo", "moria"])
    task = TaskContext(
        task_description="t", skills_used=["sql"], outcome="success", mission_namespace=mission
    )
    return {
        "agent_name": random.choice(["scout", "smith"]),
        "content": LONG if random.random() < 0.1 else worded(random, random.choice(FACTS)),
        "memory_type": random.choice(["lesson_learned", "domain_pattern"]),
        "task_context": task if random.random() < 0.5 else None,
        "private": random.random() < 0.2,
        "source_kind": random.choice(["user", "agent", "tool", "document"]),
        "speaker": random.choice([None, None, "Ana"]),
        "user_id": random.choice([None, None, "alice"]),
        "session_id": "s" if turn else None,
        "seq": random.randrange(10**9) if turn else None,
        "dispatch_id": random.choice([None, 7]),
        "recalled_from": random.choice([None, None, 3]),
        "occurred_at": random.choice([None, *DATES]),
        "paths": random.choice([[], ["src/gate.py"]]),
    }


def repeated(random: Random) -> dict[str, Any]:
    """The arguments of a commit that mostly repeats another, and changes nothing but what that says of its task."""
    task = TaskContext(
        task_description="t", skills_used=["sql"], outcome=random.choice(["success", "failed"])
    )
    return drawn(random) | {
        "content": random.choice(FACTS),
        "memory_type": "lesson_learned",
        "task_context": task if random.random() < 0.2 else None,
        "private": False,
        "speaker": None,
        "user_id": None,
        "paths": [],
    }


class Writer:
    """Commits to a tenant of its own, in batches of `size` at most."""

    def __init__(self, services: Services, size: int) -> None:
        self._services, self._size = services, size
        self.tenant = f"batches-{next(_numbers)}"
        self.results: list[CommitResult] = []

    async def commit(
        self, key: str, missions: frozenset[str] | None, drawn: Sequence[dict[str, Any]]
    ) -> None:
        principal = Principal(self.tenant, key, frozenset(["read", "write"]), missions=missions)
        memories = [CommitAgentMemoryInput(**one) for one in drawn]
        for place in range(0, len(memories), self._size):
            some = memories[place : place + self._size]
            done = await self._services.commits.commit(principal, some, None, Deadline(MANY_SECONDS))
            self.results += done.results

    def outcomes(self) -> list[tuple[int, bool, str]]:
        places = {id_: place for place, id_ in enumerate(sorted({one.memory_id for one in self.results}))}
        return [(places[one.memory_id], one.duplicate_detected, one.status) for one in self.results]


async def left(sql: Connection, tenant: str) -> dict[str, list[str]]:
    return {name: [row[0] for row in await sql.fetch(query, tenant)] for name, query in LEFT.items()}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("draw", [drawn, repeated])
async def test_a_batch_leaves_what_its_commits_leave_one_by_one(
    services: tuple[Services, bool], sql: Connection, seed: int, draw: Callable[[Random], dict[str, Any]]
) -> None:
    random, (running, embedding) = Random(seed), services
    together, apart = Writer(running, 100), Writer(running, 1)
    for _ in range(4):
        key, missions = random.choice([("k1", None), ("k2", None), ("k3", frozenset(["apollo"]))])
        commits = [draw(random) for _ in range(random.randint(8, 20))]
        for commit in commits if missions is not None else ():
            commit["task_context"] = None
        for writer in (together, apart):
            await writer.commit(key, missions, commits)
    assert together.outcomes() == apart.outcomes()
    assert embedding or "pending" in {result.status for result in together.results}
    assert any(result.duplicate_detected for result in together.results)
    for writer in (together, apart) if embedding else ():
        await settled(sql, writer.tenant)
    first, second = [await left(sql, writer.tenant) for writer in (together, apart)]
    for name in LEFT:
        assert first[name] == second[name], name
    await sql.execute(
        "delete from memory.index_queue where tenant = any($1)", [together.tenant, apart.tenant]
    )


async def test_only_a_source_that_is_trusted_as_much_says_when_a_memory_was_stated(
    services: tuple[Services, bool], sql: Connection
) -> None:
    writer = Writer(services[0], 100)
    said = {"agent_name": "scout", "content": FACTS[0], "memory_type": "lesson_learned"}
    stated = [
        ("user", DATES[0]),
        ("tool", DATES[3]),
        ("user", DATES[2]),
        ("tool", DATES[4]),
        ("user", DATES[1]),
    ]
    await writer.commit("k", None, [said | {"source_kind": kind, "occurred_at": at} for kind, at in stated])
    (row,) = await sql.fetch(
        "select source_kind, confirmed_at, confirmed_count from memory.agent_memory where tenant = $1",
        writer.tenant,
    )
    assert tuple(row) == ("user", DATES[2], 4)
    await sql.execute("delete from memory.index_queue where tenant = $1", writer.tenant)


def _with_vectors(contents: Sequence[str], agent: str = "scout") -> list[Commit]:
    vectors = (
        np.random.default_rng([*"".join(contents).encode()])
        .normal(size=(len(contents), 512))
        .astype(np.float32)
    )
    return [
        Commit(agent, memory, own.content, own.stated, HalfVector(vector))
        for content, vector in zip(contents, vectors, strict=True)
        for own in [hashes(content, None)]
        for memory in [MemoryContent(content=content, memory_type="lesson_learned", written_by="k")]
    ]


@asynccontextmanager
async def _rules(database: Database) -> AsyncIterator[tuple[CommitRules, Pool]]:
    pool = Pool(database.services["agent_memory"], connections=1)
    with FakeOpenAI() as api:
        embedder = CachedEmbedder(await open_embedder(fake_embedding(api)))
        await pool.open()
        try:
            yield CommitRules(embedder), pool
        finally:
            await pool.close()
            await embedder.close()


@pytest.mark.parametrize("size", [1, 40])
async def test_new_memories_take_one_statement_however_many(database: Database, size: int) -> None:
    tenant, statements = f"counted-{size}", list[str]()

    def note(query: asyncpg.connection.LoggedQuery) -> None:
        if "memory." in query.query:  # the driver asks for types of its own accord
            statements.append(query.query)

    async with _rules(database) as (rules, pool):
        given = await prepare(tenant, _with_vectors([f"fact {n}" for n in range(size)]))

        async def work(c: Connection) -> list[CommitResult] | None:
            with c.query_logger(note):
                return await rules.commit_new(c, given)

        results = await pool.call(work, Deadline(MANY_SECONDS))
    assert results is not None
    assert [result.status for result in results] == ["created"] * size
    assert len({result.memory_id for result in results}) == size
    assert statements == [COMMIT_NEW]


@pytest.mark.parametrize("size", [2, 40])
async def test_repeats_take_as_many_statements_however_many(database: Database, size: int) -> None:
    tenant, statements = f"repeated-{size}", list[str]()
    principal = Principal(tenant, "k", frozenset(["read", "write"]))

    def note(query: asyncpg.connection.LoggedQuery) -> None:
        if "memory." in query.query or "timeline." in query.query:
            statements.append(query.query)

    async with _rules(database) as (rules, pool):
        given = await prepare(tenant, _with_vectors([f"fact {n}" for n in range(size)]))
        assert await pool.call(lambda c: rules.commit_new(c, given), Deadline(MANY_SECONDS))

        async def work(c: Connection) -> list[CommitResult]:
            with c.query_logger(note):
                return await rules.commit(c, principal, given.commits)

        results = await pool.transaction(tenant, work, Deadline(MANY_SECONDS))
    assert [result.duplicate_detected for result in results] == [True] * size
    assert statements == [FIND_REPEATS, HOLD_ALL, CONFIRM, ADD_EVENTS]


@pytest.mark.parametrize("contents", [["same", "same"], ["known", "new"], ["new", "known"]])
async def test_a_batch_with_a_repeat_is_not_written_as_new(
    database: Database, sql: Connection, contents: list[str]
) -> None:
    tenant = f"repeats-{'-'.join(contents)}"
    async with _rules(database) as (rules, pool):
        known = await prepare(tenant, _with_vectors(["known"]))
        assert await pool.call(lambda c: rules.commit_new(c, known), Deadline(MANY_SECONDS))
        given = await prepare(tenant, _with_vectors(contents))
        assert await pool.call(lambda c: rules.commit_new(c, given), Deadline(MANY_SECONDS)) is None
    stored = "select content from memory.agent_memory where tenant = $1"
    assert [row["content"] for row in await sql.fetch(stored, tenant)] == ["known"]


ROWS_READ = """
select coalesce(sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)), 0)::bigint
from pg_class where relnamespace = 'memory'::regnamespace
"""


@pytest.mark.parametrize("other", ["crowd", "scout"], ids=["other agents", "its own agent"])
async def test_a_commit_reads_no_more_when_much_has_been_written(database: Database, other: str) -> None:
    """Plans are kept, and these were made while the table was so small that reading all of it seemed cheapest."""
    tenant = f"grown-{other}"
    async with _rules(database) as (rules, pool):

        async def commit(agent: str, contents: Sequence[str]) -> int:
            given = await prepare(tenant, _with_vectors(contents, agent))

            async def work(c: Connection) -> int:
                before: int = await c.fetchval(ROWS_READ)
                assert await rules.commit_new(c, given)
                after: int = await c.fetchval(ROWS_READ)
                return after - before

            return await pool.transaction(tenant, work, Deadline(MANY_SECONDS))

        for batch in range(3):
            await commit(other, [f"a fact {batch} {n}" for n in range(100)])
        await commit("scout", ["the first"])
        owner = await asyncpg.connect(database.owner)
        for table in ("agent_memory", "agent_memory_vec"):
            await owner.execute(f"analyze memory.{table}")
        await owner.close()
        before = await commit("scout", ["the second one"])
        for batch in range(5):
            await commit(other, [f"another fact {batch} {n}" for n in range(100)])
        after = await commit("scout", ["and the third one"])
    print(f"{before} rows before, {after} after")
    assert after <= before + 20


async def test_a_commit_reads_no_more_when_a_new_installation_has_grown(fresh_database: Database) -> None:
    """Its first plans are those of empty tables, for which any index that begins with the tenant is as good as the
    key."""
    context = Pool(fresh_database.services["context"], connections=1)
    await context.open()
    async with _rules(fresh_database) as (rules, pool):

        async def commit(contents: Sequence[str]) -> int:
            given = await prepare("new", _with_vectors(contents))

            async def work(c: Connection) -> int:
                before: int = await c.fetchval(ROWS_READ)
                assert await rules.commit_new(c, given)
                after: int = await c.fetchval(ROWS_READ)
                return after - before

            return await pool.transaction("new", work, Deadline(MANY_SECONDS))

        async def analyzed() -> None:
            assert "memory.agent_memory" in await analyze_grown(context)

        first = await commit(["the first"])
        for batch in range(4):
            await commit([f"a fact {batch} {n}" for n in range(100)])
        await until(analyzed)
        after = await commit(["the second"])
    await context.close()
    print(f"{first} rows at first, {after} after")
    assert after <= first + 20


@pytest.mark.parametrize("known", [True, False], ids=["hashed", "from before"])
async def test_a_rewording_is_a_repeat_also_of_what_was_committed_by_an_earlier_release(
    database: Database, sql: Connection, known: bool
) -> None:
    tenant = f"reworded-{known}"
    async with _rules(database) as (rules, pool):

        async def commit(content: str, vector_of: str) -> list[CommitResult] | None:
            (one,), (other,) = _with_vectors([content]), _with_vectors([vector_of])
            given = await prepare(tenant, [one._replace(vector=other.vector)])
            return await pool.call(lambda c: rules.commit_new(c, given), Deadline(MANY_SECONDS))

        fact, reworded, other = "check the migrations", "always check migrations", "always check invoices"
        assert await commit(fact, fact)
        if not known:
            await sql.execute("update memory.agent_memory set stated_hash = null where tenant = $1", tenant)
        assert await commit(reworded, fact) is None
        assert await commit(reworded, "far away")
        assert (await commit(other, fact) is None) is not known
