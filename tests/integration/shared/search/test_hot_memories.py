"""A copy of an agent's memories finds what its search statement finds, for the agent and for its peers."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from local.database import Database
from services.agent_memory.app import Services
from services.agent_memory.memories.queries_search import (
    HOT_OWN,
    HOT_PEER,
    SEARCH_OWN,
    SEARCH_PEER,
    own_scope,
)
from services.agent_memory.memories.schemas import EditAgentMemoryInput
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.embeddings.settings import EmbeddingSettings
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
AGENT = "scout"
LIVING = "select array_agg(id order by id) from memory.agent_memory where tenant = $1"


class Experience:
    """The memories of an agent, which change at random."""

    def __init__(self, services: Services, pool: Pool, model: str, seed: int) -> None:
        self.services, self.pool, self.model = services, pool, model
        self.tenant = f"hot-{uuid4().hex[:8]}"
        self.scope = own_scope(self.tenant, AGENT)
        self.random = random.Random(seed)
        self.replicas = [
            Replica(pool, forms, hot)
            for forms, hot in ((SEARCH_OWN, HOT_OWN), (SEARCH_PEER, HOT_PEER), (SEARCH_OWN, HOT_OWN))
        ]

    async def run(self, work: Callable[[Connection], Awaitable[Any]]) -> Any:
        return await self.pool.run(self.tenant, work, Deadline(60))

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(4, 40))).capitalize() + "."

    def query(self) -> StoreQuery:
        return StoreQuery(
            query=" ".join(self.random.sample(WORDS, 4)) + "?",
            vector=vector(self.random.randint(1, 1_000)),
            model=self.model,
            users=self.random.choice([None, None, ["alice"]]),
        )

    async def commit(self) -> None:
        about: dict[str, Any] = {
            "private": self.random.random() < 0.3,
            "user_id": self.random.choice([None, "alice", "bob"]),
        }
        await commit(self.services, self.tenant, AGENT, self.text(), **about)

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

    async def agree(self) -> None:
        for each in self.replicas:
            if self.random.random() < 0.7:
                await self.run(partial(each.agree, query=self.query(), scope=self.scope))


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


@pytest.mark.parametrize("seed", range(3))
async def test_a_copy_answers_as_the_statement_after_each_change(
    services: Services, pool: Pool, sql: Connection, seed: int
) -> None:
    experience = Experience(services, pool, "openai:text-embedding-3-small", seed)
    for _ in range(6):
        await experience.commit()
    for each in experience.replicas:
        await each.warm(experience.query(), experience.scope, experience.run)
    often = [experience.commit, experience.commit, experience.reword, experience.hide, experience.delete]
    seldom = [experience.forget_user, experience.forget]
    for step in range(30):
        change = experience.random.choice(seldom if step % 8 == 7 else often)
        await change()
        await experience.agree()
        if step % 6 == 5:
            await settled(sql, experience.tenant)
            await experience.agree()
