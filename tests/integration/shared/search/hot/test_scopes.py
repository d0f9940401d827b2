"""Copies of several scopes find what one search statement finds: of long-term memory, and of the vault's folders."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from local.database import Database
from services.agent_memory.app import Services
from services.agent_memory.long_term import queries_search as long_term
from services.agent_memory.long_term.schemas import EditMemoryInput, WriteMemoryInput
from services.agent_memory.vault import queries_search as vault
from services.agent_memory.vault.schemas import PutFileInput
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.search.evidence import Candidate, candidate_from_row
from shared.search.store import StoreQuery
from tests.support.agent_memory import fake_embedding, replica, settled, who
from tests.support.fakes.fake_openai import FakeOpenAI
from tests.support.hot import Replica, vector

WORDS = "deploy flag queue retry index cache token shard lease probe batch drain".split()  # noqa: SIM905
SCOPES = ["shared", "agent:scout", "user:alice"]
FOLDERS = {"shared": "shared", "agent:scout": "agents/scout", "user:alice": "users/alice"}
MEMORIES = "select array_agg(id order by id) from memory.long_term where tenant = $1"
PATHS = "select array_agg(distinct path) from memory.files where tenant = $1"


def passage(row: Any) -> Candidate:
    return candidate_from_row(row, row["body"])


class Shelf:
    """Long-term memories and files in three scopes, which change at random, and one that is asked for no more."""

    def __init__(self, services: Services, pool: Pool, seed: int) -> None:
        self.services, self.pool = services, pool
        self.tenant = f"hot-{uuid4().hex[:8]}"
        self.random = random.Random(seed)
        self.deadline = partial(Deadline, 60)
        memories, folders = (each(self.tenant, SCOPES) for each in (long_term.scope_of, vault.folders_scope))
        coded: dict[str, Any] = {"most_coded": 1_000}
        self.replicas = [
            (Replica(pool, long_term.SEARCH, long_term.HOT, **coded), memories),
            (Replica(pool, vault.SEARCH, vault.HOT, candidate=passage, **coded), folders),
            # Its copies are shared with questions to fewer scopes.
            (Replica(pool, long_term.SEARCH, long_term.HOT, **coded), memories),
        ]
        self.few = long_term.scope_of(self.tenant, SCOPES[:2])

    async def run(self, work: Callable[[Connection], Awaitable[Any]]) -> Any:
        return await self.pool.run(self.tenant, work, self.deadline())

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(4, 40))).capitalize() + "."

    def query(self) -> StoreQuery:
        return StoreQuery(
            query=" ".join(self.random.sample(WORDS, 4)) + "?",
            vector=vector(self.random.randint(1, 1_000)),
            model="openai:text-embedding-3-small",
            users=self.random.choice([None, ["alice"], ["bob"]]),
        )

    async def write(self) -> None:
        memory = WriteMemoryInput(
            kind="knowledge", content=self.text(), scope=self.random.choice([*SCOPES, "agent:guide"])
        )
        await self.services.long_term.write(who(self.tenant), [memory], None, self.deadline())

    async def upload(self) -> None:
        folder = FOLDERS[self.random.choice(SCOPES)]
        text = "\n\n".join(self.text() for _ in range(3))
        file = PutFileInput(path=f"{folder}/note-{self.random.randint(1, 4)}.md", text=text)
        await self.services.uploads.put(who(self.tenant), file, None, self.deadline())

    async def reword(self) -> None:
        if ids := await self.run(lambda c: c.fetchval(MEMORIES, self.tenant)):
            change = EditMemoryInput(content=self.text())
            await self.services.long_term.edit(
                who(self.tenant), self.random.choice(ids), change, self.deadline()
            )

    async def delete(self) -> None:
        if ids := await self.run(lambda c: c.fetchval(MEMORIES, self.tenant)):
            await self.services.long_term.delete(who(self.tenant), self.random.choice(ids), self.deadline())

    async def remove(self) -> None:
        if paths := await self.run(lambda c: c.fetchval(PATHS, self.tenant)):
            await self.services.vault.remove(
                who(self.tenant), self.random.choice(paths), None, self.deadline()
            )

    async def forget_user(self) -> None:
        await self.services.purge.erase(who(self.tenant), "shared", "alice", self.deadline())

    async def warm(self) -> None:
        for each, scope in self.replicas:
            await each.warm(self.query(), scope, self.run)

    async def agree(self) -> None:
        for each, scope in self.replicas:
            if self.random.random() < 0.7:
                await self.run(partial(each.agree, query=self.query(), scope=scope))
        await self.run(partial(self.replicas[-1][0].agree, query=self.query(), scope=self.few))


@pytest.fixture
async def services(database: Database, redis_url: str, embedding_api: FakeOpenAI) -> AsyncIterator[Services]:
    async with replica(database, redis_url, fake_embedding(embedding_api)) as services:
        yield services


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["agent_memory"])
    await pool.open()
    yield pool
    await pool.close()


@pytest.mark.parametrize("coded", [False, True], ids=["vectors", "codes"])
async def test_copies_of_several_scopes_answer_as_one_statement_after_each_change(
    services: Services, pool: Pool, sql: Connection, monkeypatch: pytest.MonkeyPatch, coded: bool
) -> None:
    if coded:
        # The shortlist is longer than what is held, so that both find the same.
        monkeypatch.setattr("shared.search.hot.loading.EXACT_UP_TO", 0)
        monkeypatch.setattr("shared.search.hot.loading.CODED_ROWS", 4)
    shelf = Shelf(services, pool, seed=1)
    for _ in range(4):
        await shelf.write()
        await shelf.upload()
    await shelf.warm()
    often = [shelf.write, shelf.write, shelf.upload, shelf.reword, shelf.delete, shelf.remove]
    for step in range(24):
        await (shelf.forget_user if step % 12 == 11 else shelf.random.choice(often))()
        await shelf.agree()
        if step % 6 == 5:
            await settled(sql, shelf.tenant)
            await shelf.agree()
