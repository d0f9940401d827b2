"""Vectors follow writes: through dead embedders, killed replicas, deletions, and texts that no model takes."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession
from prometheus_client import REGISTRY

from local.database import Database
from services.cache.entries import queries
from services.cache.service import CacheService
from services.cache.settings import Settings
from shared.auth import IDENTITY_HEADER, to_header
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.embeddings import EmbeddingSettings, open_embedder
from tests.integration.conftest import Tenant, embedder_settings
from tests.support.cache_services import intel, principal
from tests.support.calls import note, until
from tests.support.cluster import Cluster
from tests.support.clusters import spare
from tests.support.fakes.embedding_api import Request
from tests.support.fakes.fake_openai import FakeOpenAI

PATIENCE = 60.0
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

    async def write(self, *contents: str, **more: Any) -> list[int]:
        done = await asyncio.gather(
            *(
                self.service.writer.write(
                    principal(self.tenant), intel("m", content, **more), None, Deadline(PATIENCE)
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
        service_token="none",
        embedding=embedding,
    )
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(count):
            pool = Pool(settings.database_url, connections=4)
            await pool.open()
            stack.push_async_callback(pool.close)
            embedder = await open_embedder(embedding)
            stack.push_async_callback(embedder.close)
            doorbell = Doorbell(connect_redis(redis_url))
            stack.push_async_callback(doorbell.stop)
            service = CacheService(settings, pool, embedder, doorbell)
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
    headers = {
        "Authorization": f"Bearer {cluster.tokens.service}",
        IDENTITY_HEADER: to_header(principal(tenant.name)),
    }
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
                rows = await look.run(
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


async def test_what_waits_for_nothing_is_dropped(replica: Replica, sql: Connection) -> None:
    """More than one batch of it, and then something to do."""
    ids = await replica.write(*(f"gone {n}" for n in range(40)))
    await sql.execute("delete from cache.psychic_cache where tenant = $1", replica.tenant)
    assert await waiting(sql, replica.tenant) == set(ids)
    more = await replica.write("still here")
    replica.service.start()
    await until_indexed(sql, replica.tenant, more)
    assert await waiting(sql, replica.tenant) == set()


async def test_a_text_that_no_model_takes_keeps_nobody_else_waiting(
    replica: Replica, api: Picky, sql: Connection
) -> None:
    ids = await replica.write("good one", "the poison one", "good two", "good three")
    replica.service.start()
    await until_indexed(sql, replica.tenant, [ids[0], *ids[2:]])
    assert await waiting(sql, replica.tenant) == {ids[1]}
    more = await replica.write("good four")
    await until_indexed(sql, replica.tenant, more)


async def test_waiting_for_an_index_ends_at_the_deadline(replica: Replica, api: Picky) -> None:
    api.gate.clear()
    replica.service.start()
    result = await replica.service.writer.write(
        principal(replica.tenant), intel("m", "slow"), None, Deadline(0.5), wait_indexed=True
    )
    assert not result.indexed
    api.gate.set()
    assert await replica.service.indexer.wait_indexed(replica.tenant, result.id, Deadline(PATIENCE))


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
