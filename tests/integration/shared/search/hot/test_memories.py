"""A copy of memories finds what its search statement finds: for their agent, for one peer's, and for all peers'."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from local.database import Database
from services.agent_memory.app import Services
from services.agent_memory.chunk_words import text_of
from services.agent_memory.memories.queries_search import (
    HOT_OWN,
    HOT_PEER,
    HOT_PEERS,
    SEARCH_OWN,
    SEARCH_PEER,
    SEARCH_PEERS,
    own_scope,
    peers_scope,
)
from services.agent_memory.memories.schemas import EditAgentMemoryInput
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.embeddings.settings import EmbeddingSettings
from shared.search.evidence import candidate_from_row
from shared.search.hot.kept import KeptRows
from shared.search.store import StoreQuery
from tests.support.agent_memory import commit, fake_embedding, replica, settled, who
from tests.support.fakes.fake_openai import FakeOpenAI
from tests.support.hot import Replica, vector

WORDS = [
    "deploy",
    "flag",
    "queue",
    "retry",
    "index",
    "cache",
    "token",
    "shard",
    "lease",
    "probe",
    "batch",
    "drain",
]
# Words of a text of several chunks.
OF_CHUNKS = 400
AGENT, PEERS = "scout", ["guide", "pilot"]
LIVING = "select array_agg(id order by id) from memory.agent_memory where tenant = $1"


class Experience:
    """The memories of an agent and its peers, which change at random."""

    def __init__(self, services: Services, pool: Pool, model: str, seed: int) -> None:
        self.services, self.pool, self.model = services, pool, model
        self.tenant = f"hot-{uuid4().hex[:8]}"
        self.random = random.Random(seed)
        self.begun = datetime.now(UTC)
        own, peers = own_scope(self.tenant, AGENT), peers_scope(self.tenant, AGENT)
        of_all: dict[str, Any] = {"most_coded": 1_000, "excludes": True}
        replica = partial(Replica, pool, candidate=lambda row: candidate_from_row(row, text_of(row)))
        kept = KeptRows()
        self.replicas = [
            (replica(SEARCH_OWN, HOT_OWN, kept=kept, most_coded=1_000), own),
            (replica(SEARCH_PEER, HOT_PEER, kept=kept), own),
            (replica(SEARCH_PEERS, HOT_PEERS, kept=kept, **of_all), peers),
            (replica(SEARCH_OWN, HOT_OWN), own),
            (replica(SEARCH_PEERS, HOT_PEERS, **of_all), peers),
        ]

    async def run(self, work: Callable[[Connection], Awaitable[Any]]) -> Any:
        return await self.pool.run(self.tenant, work, Deadline(60))

    def text(self) -> str:
        words = self.random.choice([self.random.randint(4, 40)] * 7 + [OF_CHUNKS])
        return " ".join(self.random.choices(WORDS, k=words)).capitalize() + "."

    def query(self) -> StoreQuery:
        return StoreQuery(
            query=" ".join(self.random.sample(WORDS, 4)) + "?",
            vector=vector(self.random.randint(1, 1_000)),
            model=self.model,
            users=self.random.choice([None, None, ["alice"]]),
            as_of=self.random.choice([None, None, self.begun, datetime.now(UTC)]),
        )

    async def commit(self) -> None:
        about: dict[str, Any] = {
            "private": self.random.random() < 0.3,
            "user_id": self.random.choice([None, "alice", "bob"]),
        }
        agent = self.random.choice([AGENT, AGENT, *PEERS])
        await commit(self.services, self.tenant, agent, self.text(), **about)

    async def _edit(self, change: EditAgentMemoryInput) -> None:
        if memory := await self._one():
            await self.services.commits.edit(who(self.tenant), memory, change, Deadline(60))

    async def reword(self) -> None:
        await self._edit(EditAgentMemoryInput(content=self.text()))

    async def hide(self) -> None:
        await self._edit(EditAgentMemoryInput(private=self.random.random() < 0.5))

    async def delete(self) -> None:
        if memory := await self._one():
            await self.services.commits.delete(who(self.tenant), memory, Deadline(60))

    async def forget_user(self) -> None:
        await self.services.purge.erase(who(self.tenant), "shared", "bob", Deadline(60))

    async def forget(self) -> None:
        await self.services.purge.forget(who(self.tenant), AGENT, None, Deadline(60))

    async def _one(self) -> int | None:
        ids = await self.run(lambda c: c.fetchval(LIVING, self.tenant))
        return self.random.choice(ids) if ids else None

    async def warm(self) -> None:
        for each, scope in self.replicas:
            await each.warm(self.query(), scope, self.run)

    async def agree(self) -> None:
        for each, scope in self.replicas:
            if self.random.random() < 0.7:
                await self.run(partial(each.agree, query=self.query(), scope=scope))


@pytest.fixture
def embedding(embedding_api: FakeOpenAI) -> EmbeddingSettings:
    return fake_embedding(embedding_api)


@pytest.fixture
async def services(
    database: Database, redis_url: str, embedding: EmbeddingSettings
) -> AsyncIterator[Services]:
    async with replica(database, redis_url, embedding) as services:
        yield services


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["agent_memory"])
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture(params=[False, True], ids=["vectors", "codes"])
def coded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With codes, the shortlist is longer than what is held, so that both find the same."""
    if request.param:
        monkeypatch.setattr("shared.search.hot.loading.EXACT_UP_TO", 0)
        monkeypatch.setattr("shared.search.hot.loading.CODED_ROWS", 4)


@pytest.mark.usefixtures("coded")
@pytest.mark.parametrize("seed", range(2))
async def test_a_copy_answers_as_the_statement_after_each_change(
    services: Services, pool: Pool, sql: Connection, seed: int
) -> None:
    experience = Experience(services, pool, "openai:text-embedding-3-small", seed)
    for _ in range(6):
        await experience.commit()
    await experience.warm()
    often = [experience.commit, experience.commit, experience.reword, experience.hide, experience.delete]
    seldom = [experience.forget_user, experience.forget]
    for step in range(30):
        change = experience.random.choice(seldom if step % 8 == 7 else often)
        await change()
        await experience.agree()
        if step % 6 == 5:
            await settled(sql, experience.tenant)
            await experience.agree()


@pytest.mark.usefixtures("coded")
async def test_what_is_deleted_between_two_counts_takes_no_place(services: Services, pool: Pool) -> None:
    """The chunks of a large tenant are counted twice a minute. Until then, a copy may hold what is gone."""
    experience = Experience(services, pool, "openai:text-embedding-3-small", 1)
    ids = [
        (await commit(services, experience.tenant, PEERS[0], f"The queue drains {'slowly ' * n}.")).memory_id
        for n in range(1, 7)
    ]
    each, scope = experience.replicas[2]
    query = StoreQuery(query="What drains slowly?", vector=None, model=experience.model, depth=2)
    await each.warm(query, scope, experience.run)
    assert each.hot._hot is not None
    search = partial(
        each.hot._hot.search, values=query.values(scope, documents=len(ids)), names=scope.indexed_as
    )
    for _ in range(4):
        first, second = await experience.run(search)
        assert {first["documents"], second["documents"]} == {len(ids)}
        await services.commits.delete(who(experience.tenant), first["item_id"], Deadline(60))
        ids.remove(first["item_id"])
        rows = await experience.run(search)
        assert len(rows) == 2
        assert {row["item_id"] for row in rows} <= {*ids}


async def test_the_only_agent_of_a_tenant_costs_no_second_query_for_peers(
    services: Services, pool: Pool
) -> None:
    """Nothing of what a copy holds is its peers', so no rows are asked for. With a peer, they are."""
    experience = Experience(services, pool, "openai:text-embedding-3-small", 1)
    await commit(services, experience.tenant, AGENT, "The queue drains slowly.")
    each, scope = experience.replicas[2]
    query = StoreQuery(query="What drains slowly?", vector=vector(1), model=experience.model)
    await each.warm(query, scope, experience.run)
    await experience.run(partial(each.agree, query=query, scope=scope))

    async def statements(c: Connection) -> list[str]:
        asked = list[str]()
        with c.query_logger(lambda logged: asked.append(logged.query)):
            await each.hot.find(c, query, scope)
        return asked

    changes, chosen = HOT_PEERS.changes.sql, HOT_PEERS.chosen.sql
    assert await experience.run(statements) == [changes]
    await commit(services, experience.tenant, PEERS[0], "The queue drains at night.")
    assert chosen in await experience.run(statements)
    await experience.run(partial(each.agree, query=query, scope=scope))
