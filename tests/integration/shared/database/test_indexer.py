"""Vectors follow writes: through dead embedders, killed replicas, deletions, and texts that no model takes."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg
import pytest
from aiohttp import ClientSession
from prometheus_client import REGISTRY

from local.database import Database
from services.cache.entries import queries
from services.cache.entries.indexing import ENTRIES
from services.cache.missions.schemas import CacheStats
from services.cache.service import CacheService
from services.cache.settings import Settings
from shared.concurrency import clock
from shared.database import index_worker, indexer
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.index_claims import LEASE_SECONDS
from shared.database.index_queue import IndexedStore, StoreStatements
from shared.database.index_turns import MOST_ITEMS, Item
from shared.database.index_worker import IndexWorker
from shared.database.indexer import Indexer
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder, EmbeddingSettings, open_embedder
from shared.search.hot.scopes import HotScopes
from tests.integration.conftest import Tenant, embedder_settings
from tests.support.cache_services import intel, principal
from tests.support.calls import note, until
from tests.support.cluster import Cluster
from tests.support.clusters import spare
from tests.support.fakes.embedding_api import Request
from tests.support.fakes.fake_openai import FakeOpenAI

PATIENCE = 60.0
_LONG_BEFORE_A_LEASE_ENDS = 30.0
_numbers = itertools.count(1)


class Picky(FakeOpenAI):
    """Waits at its gate, and refuses a batch that holds a text with the word poison."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()

    def respond(self, request: Request, mode: str) -> tuple[int, bytes]:
        self.gate.wait(PATIENCE)
        if any("poison" in text for text in request.body["input"]):
            mode = "400"
        return super().respond(request, mode)


@pytest.fixture
def api() -> Iterator[Picky]:
    with Picky() as api:
        yield api
        api.gate.set()


class Replica:
    """A cache service in this process, with a model of the test's own: nobody else takes from its queue."""

    def __init__(self, service: CacheService, tenant: str, model: str) -> None:
        self.service, self.tenant, self.model = service, tenant, model

    async def write(self, *contents: str, mission: str = "m", **more: Any) -> list[int]:
        done = await asyncio.gather(
            *(
                self.service.writer.write(
                    principal(self.tenant), intel(mission, content, **more), None, Deadline(PATIENCE)
                )
                for content in contents
            )
        )
        return [one.id for one in done]


@asynccontextmanager
async def replicas(
    database: Database, redis_url: str, api: FakeOpenAI, tenant: str, count: int = 1
) -> AsyncIterator[list[Replica]]:
    embedding = EmbeddingSettings(
        provider="openai",
        model=f"model-{next(_numbers)}",
        api_key=api.key,
        base_url=api.url,
        query_timeout=1.0,
        document_timeout=PATIENCE,
    )
    settings = Settings(
        database_url=database.services["cache"],
        redis_url=redis_url,
        identity_secrets=("none",),
        embedding=embedding,
    )
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(count):
            pool = Pool(settings.database_url, connections=4)
            await pool.open()
            stack.push_async_callback(pool.close)
            embedder = CachedEmbedder(await open_embedder(embedding))
            stack.push_async_callback(embedder.close)
            doorbell = Doorbell(connect_redis(redis_url))
            stack.push_async_callback(doorbell.stop)
            service = CacheService(settings, pool, embedder, doorbell, HotScopes(0))
            stack.push_async_callback(service.stop)
            made.append(Replica(service, tenant, embedder.model))
        yield made


@pytest.fixture
async def replica(database: Database, redis_url: str, api: Picky, tenant: Tenant) -> AsyncIterator[Replica]:
    async with replicas(database, redis_url, api, tenant.name) as (one,):
        api.requests.clear()
        yield one


async def waiting(sql: Connection, tenant: str) -> set[int]:
    rows = await sql.fetch("select item_id from cache.index_queue where tenant = $1", tenant)
    return {row["item_id"] for row in rows}


async def indexed(sql: Connection, tenant: str) -> Counter[int]:
    """Vectors of each item."""
    rows = await sql.fetch("select item_id from cache.psychic_vec where tenant = $1", tenant)
    return Counter(row["item_id"] for row in rows)


async def until_indexed(sql: Connection, tenant: str, ids: list[int]) -> None:
    async def check() -> None:
        assert set(await indexed(sql, tenant)) >= set(ids)
        assert not await waiting(sql, tenant) & set(ids)

    await until(check, PATIENCE)


async def due_now(sql: Connection, tenant: str) -> None:
    """As if time had passed."""
    await sql.execute("update cache.index_queue set due_at = clock_timestamp() where tenant = $1", tenant)


async def test_each_chunk_has_one_vector(replica: Replica, sql: Connection) -> None:
    long = "The heron stands in the reeds and waits. " * 100
    ids = await replica.write("short", long)
    replica.service.start()
    await until_indexed(sql, replica.tenant, ids)
    chunks = await sql.fetch(
        "select item_id, count(*) as n from cache.psychic_chunks where tenant = $1 group by 1", replica.tenant
    )
    assert await indexed(sql, replica.tenant) == {row["item_id"]: row["n"] for row in chunks}
    assert max(row["n"] for row in chunks) > 3


async def test_a_vector_expires_with_its_entry(replica: Replica, sql: Connection) -> None:
    ids = await replica.write("short lived", ttl_hours=0.5)
    replica.service.start()
    await until_indexed(sql, replica.tenant, ids)
    rows = await sql.fetch(
        """select v.expires_at = e.expires_at as same, v.scope = e.scope as scoped
           from cache.psychic_vec v join cache.psychic_cache e on e.tenant = v.tenant and e.id = v.item_id
           where v.tenant = $1""",
        replica.tenant,
    )
    assert [tuple(row) for row in rows] == [(True, True)]


async def test_two_indexers_share_the_work(
    database: Database, redis_url: str, api: Picky, tenant: Tenant, sql: Connection
) -> None:
    async with replicas(database, redis_url, api, tenant.name, 2) as both:
        api.requests.clear()
        texts = [f"fact number {n}" for n in range(150)]
        ids = await both[0].write(*texts)
        for one in both:
            one.service.start()
        await until_indexed(sql, tenant.name, ids)
    embedded = Counter(api.texts())
    assert set(embedded.values()) == {1}
    assert len(embedded) == 150
    assert set((await indexed(sql, tenant.name)).values()) == {1}


async def test_a_dead_embedder_comes_back(replica: Replica, api: Picky, sql: Connection) -> None:
    api.mode = "reset"
    ids = await replica.write("The bittern booms at night.", "Another note.")
    replica.service.start()

    async def tried() -> None:
        attempts = await sql.fetch("select attempts from cache.index_queue where tenant = $1", replica.tenant)
        assert len(attempts) == 2
        assert min(row["attempts"] for row in attempts) >= 1

    await until(tried, PATIENCE)
    assert await indexed(sql, replica.tenant) == {}
    api.mode = "ok"
    await until_indexed(sql, replica.tenant, ids)


async def test_the_backlog_is_counted_while_writes_go_on(replica: Replica, api: Picky) -> None:
    api.mode = "reset"
    replica.service.start()

    async def counted() -> None:
        await replica.write("The bittern booms at night.")
        assert (REGISTRY.get_sample_value("scrubjay_index_backlog", {"store": "psychic_cache"}) or 0) >= 3

    await until(counted, PATIENCE)


async def test_what_a_killed_replica_had_leased_is_taken_up_by_another(
    cluster: Cluster, tenant: Tenant, api: Picky, sql: Connection
) -> None:
    """The first waits for the model when it is killed; nobody gives its leases back."""
    own = embedder_settings(api) | {"SCRUBJAY_EMBEDDING_MODEL": f"model-{next(_numbers)}"}
    async with spare(cluster, "cache", **own) as doomed:
        api.requests.clear()
        api.gate.clear()
        async with _straight(cluster, doomed.url, tenant) as client:
            ids = [await _write(client, f"fact {n}") for n in range(3)]
            await until(lambda: _asked(api, 1), PATIENCE)
            doomed.kill()
    api.gate.set()
    api.requests.clear()
    leased = await sql.fetch(
        "select due_at > clock_timestamp() as leased from cache.index_queue where tenant = $1", tenant.name
    )
    assert any(row["leased"] for row in leased)
    async with spare(cluster, "cache", **own):
        await until(lambda: _asked(api, 1), PATIENCE)
        assert await waiting(sql, tenant.name)
        await due_now(sql, tenant.name)
        await until_indexed(sql, tenant.name, ids)


async def _asked(api: Picky, count: int) -> None:
    assert len(api.requests) >= count


@asynccontextmanager
async def _straight(cluster: Cluster, url: str, tenant: Tenant) -> AsyncIterator[Any]:
    """A client of one replica, with the identity that the context service would give."""
    headers = cluster.tokens.identity("cache", principal(tenant.name))
    async with ClientSession(url, headers=headers) as session:
        yield session


async def _write(client: Any, content: str) -> int:
    async with client.post("/api/psychic-cache/write", json=note("m", content)) as response:
        assert response.status == 201
        return int((await response.json())["data"]["id"])


async def test_a_lease_is_kept_while_it_lasts(replica: Replica, api: Picky, sql: Connection) -> None:
    (id_,) = await replica.write("held by somebody")
    await sql.execute(
        "update cache.index_queue set due_at = clock_timestamp() + interval '1 hour' where tenant = $1",
        replica.tenant,
    )
    other = await replica.write("free")
    replica.service.start()
    await until_indexed(sql, replica.tenant, other)
    assert await waiting(sql, replica.tenant) == {id_}
    assert api.texts() == ["free"]
    await due_now(sql, replica.tenant)
    await until_indexed(sql, replica.tenant, [id_])


async def test_what_is_deleted_meanwhile_is_passed_over(
    replica: Replica, api: Picky, sql: Connection
) -> None:
    ids = await replica.write(*(f"fact number {n}" for n in range(6)))
    api.gate.clear()
    replica.service.start()
    await until(lambda: _asked(api, 1), PATIENCE)
    for id_ in ids[::2]:
        await queries.delete_entry(sql, replica.tenant, id_, None)
    api.gate.set()
    await until_indexed(sql, replica.tenant, ids[1::2])
    assert set(await indexed(sql, replica.tenant)) == set(ids[1::2])
    assert await waiting(sql, replica.tenant) == set()
    more = await replica.write("still at work")
    await until_indexed(sql, replica.tenant, more)


async def test_what_is_being_deleted_is_not_waited_for(
    replica: Replica, api: Picky, sql: Connection, database: Database
) -> None:
    ids = await replica.write("going", "staying")
    async with sql.transaction():
        await sql.execute(
            "delete from cache.psychic_cache where tenant = $1 and id = $2", replica.tenant, ids[0]
        )
        replica.service.start()
        look = Pool(database.admin, connections=1)
        await look.open()
        try:

            async def stored() -> None:
                rows = await look.call(
                    lambda c: c.fetch(
                        "select item_id from cache.psychic_vec where tenant = $1", replica.tenant
                    ),
                    Deadline(PATIENCE),
                )
                assert [row["item_id"] for row in rows] == ids[1:]

            await until(stored, PATIENCE)
        finally:
            await look.close()
        await sql.execute(
            "delete from cache.index_queue where tenant = $1 and item_id = $2", replica.tenant, ids[0]
        )
    assert await waiting(sql, replica.tenant) == set()


async def test_what_another_transaction_held_is_not_left_until_its_lease_ends(
    replica: Replica, sql: Connection, database: Database
) -> None:
    ids = await replica.write("held", "free")
    look = Pool(database.admin, connections=1)
    await look.open()
    try:
        async with sql.transaction():
            await sql.execute(
                "select from cache.psychic_cache where tenant = $1 and id = $2 for update",
                replica.tenant,
                ids[0],
            )
            replica.service.start()
            await until(partial(_soon_again, look, replica.tenant, ids[0]), _LONG_BEFORE_A_LEASE_ENDS)
    finally:
        await look.close()
    await until_indexed(sql, replica.tenant, ids)


async def _soon_again(look: Pool, tenant: str, id_: int) -> None:
    left = await look.call(
        lambda c: c.fetchval(
            "select due_at - clock_timestamp() from cache.index_queue"
            " where tenant = $1 and item_id = $2 and attempts > 0",
            tenant,
            id_,
        ),
        Deadline(PATIENCE),
    )
    assert left is not None
    assert left < timedelta(seconds=LEASE_SECONDS / 4)


async def test_large_items_that_wait_are_not_read_in_each_round(
    replica: Replica, sql: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back = Counter[int]()
    give_back = IndexWorker._give_back

    async def counted(worker: IndexWorker, item: Item, seconds: float) -> None:
        given_back[item.row["item_id"]] += 1
        await give_back(worker, item, seconds)

    monkeypatch.setattr(IndexWorker, "_give_back", counted)
    # Each takes some rounds, and all that its mission may hold.
    text = "The heron stands in the reeds and waits. " * 800
    ids = [id_ for n in range(20) for id_ in await replica.write(f"{n}. {text}", mission=f"m-{n}")]
    replica.service.start()
    await until_indexed(sql, replica.tenant, ids)
    assert given_back
    # Each time that one is done, a few of the others are leased to find the next.
    assert given_back.total() <= MOST_ITEMS * len(ids)


async def test_what_waits_for_nothing_is_dropped(replica: Replica, sql: Connection) -> None:
    """More than one batch of it, and then something to do."""
    ids = await replica.write(*(f"gone {n}" for n in range(40)))
    await sql.execute("delete from cache.psychic_cache where tenant = $1", replica.tenant)
    assert await waiting(sql, replica.tenant) == set(ids)
    more = await replica.write("still here")
    replica.service.start()
    await until_indexed(sql, replica.tenant, more)

    async def nothing_waits() -> None:
        assert await waiting(sql, replica.tenant) == set()

    # Another batch may have held the last of it.
    await until(nothing_waits, PATIENCE)


async def test_a_text_that_no_model_takes_keeps_nobody_else_waiting(
    replica: Replica, api: Picky, sql: Connection
) -> None:
    ids = await replica.write("good one", "the poison one", "good two", "good three")
    replica.service.start()
    await until_indexed(sql, replica.tenant, [ids[0], *ids[2:]])
    assert await waiting(sql, replica.tenant) == {ids[1]}
    more = await replica.write("good four")
    await until_indexed(sql, replica.tenant, more)


async def test_a_text_that_was_refused_for_days_is_still_postponed(replica: Replica, sql: Connection) -> None:
    ids = await replica.write("good one", "the poison one")
    await sql.execute("update cache.index_queue set attempts = 5000 where tenant = $1", replica.tenant)
    replica.service.start()
    await until_indexed(sql, replica.tenant, ids[:1])

    async def postponed() -> None:
        left = await sql.fetchval(
            "select due_at - clock_timestamp() from cache.index_queue where tenant = $1", replica.tenant
        )
        assert timedelta(seconds=LEASE_SECONDS) < left <= timedelta(minutes=5)

    await until(postponed, PATIENCE)


async def test_waiting_for_an_index_ends_at_the_deadline(replica: Replica, api: Picky) -> None:
    api.gate.clear()
    replica.service.start()
    result = await replica.service.writer.write(
        principal(replica.tenant), intel("m", "slow"), None, Deadline(5.0), wait_indexed=True
    )
    assert not result.indexed
    api.gate.set()
    assert await replica.service.indexer.wait_indexed(
        ENTRIES.name, replica.tenant, result.id, Deadline(PATIENCE)
    )


async def test_who_waits_for_an_index_is_told(
    replica: Replica, api: Picky, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "_LOOK_SECONDS", 10 * PATIENCE)
    api.gate.clear()
    replica.service.start()
    (id_,) = await replica.write("told")
    looks = asyncio.ensure_future(
        replica.service.indexer.wait_indexed(ENTRIES.name, replica.tenant, id_, Deadline(PATIENCE))
    )

    async def asked() -> None:
        assert api.requests

    await until(asked, PATIENCE)
    assert not looks.done()
    api.gate.set()
    assert await looks


async def test_what_is_written_one_after_the_other_shares_rounds(
    database: Database, redis_url: str, api: Picky, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_worker, "_GATHER_SECONDS", 1.0)
    async with replicas(database, redis_url, api, tenant.name) as (replica,):
        api.requests.clear()
        replica.service.start()
        began = time.monotonic()
        for number in range(60):
            await replica.write(f"one of many {number}")
        assert len(api.requests) <= time.monotonic() - began + 2


async def test_what_somebody_waits_for_is_not_gathered(
    database: Database, redis_url: str, api: Picky, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_worker, "_GATHER_SECONDS", 10 * PATIENCE)
    async with replicas(database, redis_url, api, tenant.name) as (replica,):
        replica.service.start()
        for content in ("the first", "the second", "the third"):
            (id_,) = await replica.write(content)
            assert await replica.service.indexer.wait_indexed(
                ENTRIES.name, tenant.name, id_, Deadline(PATIENCE)
            )


async def test_who_waits_for_an_index_sees_what_another_replica_stored(
    database: Database, redis_url: str, api: Picky, tenant: Tenant
) -> None:
    async with replicas(database, redis_url, api, tenant.name, count=2) as (writing, indexing):
        (id_,) = await writing.write("stored elsewhere")
        indexing.service.start()
        assert await writing.service.indexer.wait_indexed(ENTRIES.name, tenant.name, id_, Deadline(PATIENCE))


async def test_the_statistics_of_a_mission_tell_when_its_vectors_are_expected(replica: Replica) -> None:
    async def stats() -> CacheStats:
        return await replica.service.missions.stats(principal(replica.tenant), "m", Deadline(PATIENCE))

    ids = await replica.write("one", "two")
    assert [(await stats()).unindexed_count, (await stats()).vectors_expected_at] == [len(ids), None]
    pace = replica.service.indexer._paces[ENTRIES.name]
    pace.note(0.0, 0, 3_600)
    pace.note(60.0, 60, 3_600)
    before, expected, after = clock.now(), (await stats()).vectors_expected_at, clock.now()
    assert expected is not None
    assert before <= expected - timedelta(hours=1) <= after


@pytest.fixture
async def facts(fresh_database: Database, sql: Connection) -> AsyncIterator[Connection]:
    """A second store in the schema of the cache, with tables of its own."""
    connection = await asyncpg.connect(fresh_database.owner)
    await connection.execute(FACTS)
    yield connection
    await connection.close()


FACTS = """
create table cache.facts (tenant text, id bigint, content text, primary key (tenant, id));
create table cache.fact_chunks (
    tenant text, scope text, item_id bigint, chunk smallint, expires_at timestamptz default 'infinity');
create table cache.fact_vec (
    tenant text, scope text, item_id bigint, chunk smallint, model text, expires_at timestamptz,
    embedding halfvec(512), primary key (tenant, item_id, chunk, model));
grant all on cache.facts, cache.fact_chunks, cache.fact_vec to scrubjay_cache;
"""
ADD_FACT = """
with fact as (insert into cache.facts values ($1, $2, $3)),
     chunk as (insert into cache.fact_chunks values ($1, 'mission:m', $2, 0))
insert into cache.index_queue (tenant, store, item_id, scope, model) values ($1, 'facts', $2, 'mission:m', $4)
"""
QUEUED = "select store, item_id from cache.index_queue where tenant = 't' order by store, item_id"


def _facts(texts: Callable[[asyncpg.Record], list[str]]) -> IndexedStore:
    statements = StoreStatements(
        schema="cache",
        items="facts",
        chunks="fact_chunks",
        vectors="fact_vec",
        reads=["content"],
        parts={"chunks": "chunk"},
    )
    return IndexedStore(name="facts", statements=statements, texts=texts)


async def _queued(connection: Connection) -> list[tuple[str, int]]:
    return [(row["store"], row["item_id"]) for row in await connection.fetch(QUEUED)]


async def _both(
    replica: Replica, facts: Connection, *, texts: Callable[..., list[str]]
) -> tuple[Indexer, int]:
    """An entry and a fact with one id wait for the worker, which is not started."""
    (id_,) = await replica.write("an entry")
    await facts.execute(ADD_FACT, "t", id_, "a fact", replica.model)
    assert await _queued(facts) == [("facts", id_), ("psychic_cache", id_)]
    own = replica.service.indexer
    return Indexer(own._database, own._embedder, "cache", [ENTRIES, _facts(texts)]), id_


async def _vectors(facts: Connection, table: str) -> list[int]:
    return [row["item_id"] for row in await facts.fetch(f"select item_id from cache.{table}")]


async def test_two_stores_share_an_id_and_a_worker(
    fresh_database: Database, redis_url: str, api: Picky, facts: Connection
) -> None:
    async with replicas(fresh_database, redis_url, api, "t") as (replica,):
        indexer, id_ = await _both(replica, facts, texts=lambda row: [row["content"]])
        indexer.start()
        assert await indexer.wait_indexed("facts", "t", id_, Deadline(PATIENCE))
        assert await indexer.wait_indexed("psychic_cache", "t", id_, Deadline(PATIENCE))
        await indexer.stop()
        assert sorted(api.texts())[:2] == ["a fact", "an entry"]
        assert await _vectors(facts, "fact_vec") == await _vectors(facts, "psychic_vec") == [id_]
        assert await _queued(facts) == []


async def test_deleting_from_one_store_leaves_the_other(
    fresh_database: Database, redis_url: str, api: Picky, facts: Connection
) -> None:
    async with replicas(fresh_database, redis_url, api, "t") as (replica,):
        indexer, id_ = await _both(replica, facts, texts=lambda row: [row["content"]])
        await queries.delete_entry(facts, "t", id_, None)
        assert await _queued(facts) == [("facts", id_)]
        await facts.execute("delete from cache.facts")
        other = await replica.write("another entry")
        indexer.start()
        assert await indexer.wait_indexed("psychic_cache", "t", other[0], Deadline(PATIENCE))
        assert await indexer.wait_indexed("facts", "t", id_, Deadline(PATIENCE))
        await indexer.stop()
        assert await _vectors(facts, "fact_vec") == []
        assert await _vectors(facts, "psychic_vec") == other


async def test_a_store_that_fails_keeps_no_other_waiting(
    fresh_database: Database, redis_url: str, api: Picky, facts: Connection
) -> None:
    def fail(row: asyncpg.Record) -> list[str]:
        raise LookupError(row["content"])

    async with replicas(fresh_database, redis_url, api, "t") as (replica,):
        indexer, id_ = await _both(replica, facts, texts=fail)
        indexer.start()
        assert await indexer.wait_indexed("psychic_cache", "t", id_, Deadline(PATIENCE))
        await indexer.stop()
        assert await _queued(facts) == [("facts", id_)]


async def test_a_worker_leaves_what_it_has_no_store_for(
    fresh_database: Database, redis_url: str, api: Picky, facts: Connection
) -> None:
    """A newer release has a store that this one does not know."""
    async with replicas(fresh_database, redis_url, api, "t") as (replica,):
        _, id_ = await _both(replica, facts, texts=lambda row: [row["content"]])
        replica.service.start()
        assert await replica.service.indexer.wait_indexed("psychic_cache", "t", id_, Deadline(PATIENCE))
        assert await facts.fetchval("select attempts from cache.index_queue where store = 'facts'") == 0


async def test_the_backlog_is_counted_for_each_store(
    fresh_database: Database, redis_url: str, api: Picky, facts: Connection
) -> None:
    api.mode = "reset"
    async with replicas(fresh_database, redis_url, api, "t") as (replica,):
        indexer, id_ = await _both(replica, facts, texts=lambda row: [row["content"]])
        await facts.execute(ADD_FACT, "t", id_ + 1, "another fact", replica.model)
        indexer.start()

        async def counted() -> None:
            backlog = [
                REGISTRY.get_sample_value("scrubjay_index_backlog", {"store": store})
                for store in ("psychic_cache", "facts")
            ]
            assert backlog == [1, 2]

        await until(counted, PATIENCE)
        await indexer.stop()


async def test_another_model_has_a_queue_of_its_own(
    database: Database, redis_url: str, api: Picky, tenant: Tenant, sql: Connection
) -> None:
    async with (
        replicas(database, redis_url, api, tenant.name) as (old,),
        replicas(database, redis_url, api, tenant.name) as (new,),
    ):
        before = await old.write("written under the old model")
        new.service.start()
        after = await new.write("written under the new model")
        await until_indexed(sql, tenant.name, after)
        assert await waiting(sql, tenant.name) == set(before)
        old.service.start()
        await until_indexed(sql, tenant.name, before)
    models = await sql.fetch("select distinct model from cache.psychic_vec where tenant = $1", tenant.name)
    assert {row["model"] for row in models} == {old.model, new.model}
