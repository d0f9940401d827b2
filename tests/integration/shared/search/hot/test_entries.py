"""A mission's copy in memory finds what its search statement finds, whatever was written since it was made."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from local.database import Database
from services.cache.entries.queries_search import HOT, SEARCH, missions_scope
from services.cache.entries.schemas import BatchInput
from services.cache.missions.schemas import MissionLimits
from services.cache.service import CacheService
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.search.hot.kept import KeptRows
from shared.search.hot.statements import MOST_CHANGED, ChosenValues, chosen
from shared.search.hot.words import hashed, words
from shared.search.store import StoreQuery
from tests.support.cache_services import cache_service, intel, principal
from tests.support.calls import until
from tests.support.hot import Replica, vector

WORDS = [
    "harbour",
    "crane",
    "pilot",
    "tide",
    "ledger",
    "beacon",
    "port",
    "storm",
    "anchor",
    "quay",
    "rope",
    "lantern",
]
USERS = [None, None, "alice", "bob"]
MISSION = "m"
SHORT_TTL = 1.1 / 3600
LIVES = "select exists (select from cache.psychic_cache where tenant = $1 and id = $2 and expires_at > now())"
# A chunk whose transaction is still open when the copy is made.
ADD_LATE = """
insert into cache.psychic_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
select tenant, scope, item_id, 9, 10, 0, 4, 1, to_tsvector('english', 'comet')
from cache.psychic_chunks where tenant = $1 and item_id = $2 and chunk = 0
"""
ADD_MANY = """
insert into cache.psychic_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
select tenant, scope, item_id, n, 1, 0, 4, 1, to_tsvector('english', 'comet')
from cache.psychic_chunks, generate_series(1, $3) n where tenant = $1 and item_id = $2 and chunk = 0
"""
RANKS = """
with text as (
    select setweight(to_tsvector('english', $1), 'A') || setweight(to_tsvector('english', left($1, 40)), 'B')
        || setweight(to_tsvector('english', right($1, 60)), 'C') || to_tsvector('english', left($1, 20)) as tsv
), word as (
    select w.lexeme, ts_rank('{0.2, 0.4, 1, 1}', text.tsv, w.lexeme::tsquery) as rank
    from text, unnest(tsvector_to_array(text.tsv)) w(lexeme)
)
select (select tsvectorsend(tsv) from text) as sent, array_agg(lexeme) as words, array_agg(rank) as ranks from word
"""
PUT_VECTORS = """
insert into cache.psychic_vec (tenant, scope, item_id, chunk, model, expires_at, embedding)
select c.tenant, c.scope, c.item_id, c.chunk, $2, c.expires_at, v.embedding
from cache.psychic_chunks c join unnest($3::bigint[], $4::halfvec[]) v(item_id, embedding) on v.item_id = c.item_id
where c.tenant = $1
on conflict do nothing
"""


class Harbour:
    """A mission whose entries change at random, and two replicas that copy it."""

    def __init__(self, service: CacheService, pool: Pool, seed: int) -> None:
        self.service, self.pool = service, pool
        self.who: Principal = principal(f"hot-{uuid4().hex[:8]}")
        self.scope = missions_scope(self.who.tenant, [f"mission:{MISSION}"])
        self.random = random.Random(seed)
        self.entries: list[int] = []
        self.begun = datetime.now(UTC)
        self.replicas = [Replica(pool, SEARCH, HOT, kept=kept) for kept in (KeptRows(), None)]

    async def run(self, work: Callable[[Connection], Awaitable[Any]]) -> Any:
        return await self.pool.run(self.who.tenant, work, Deadline(60))

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(2, 60)))

    def query(self, **more: Any) -> StoreQuery:
        asked = {
            "query": " ".join(self.random.sample(WORDS, 4)) + "?",
            "vector": vector(self.random.randint(1, 1_000)),
            "model": "first",
            "users": self.random.choice([None, None, ["alice"]]),
            "only": self.random.choice(
                [None, None, self.random.sample(self.entries, len(self.entries) // 2)]
            ),
            "as_of": self.random.choice([None, None, self.begun, datetime.now(UTC)]),
            **more,
        }
        return StoreQuery(**asked)

    async def write(self, **more: Any) -> None:
        entry = intel(MISSION, self.text(), user_id=self.random.choice(USERS), tags=["dock"], **more)
        result = await self.service.writer.write(self.who, entry, None, Deadline(60))
        self.entries.append(result.id)

    async def write_several(self) -> None:
        batch = BatchInput(
            entries=[msgspec.Raw(msgspec.json.encode(intel(MISSION, self.text()))) for _ in range(5)]
        )
        answer = await self.service.writer.write_batch(self.who, batch, None, Deadline(60))
        self.entries += [item.data.id for item in answer.entries if item.data is not None]

    async def retag(self) -> None:
        if entry := await self._living():
            tags = self.random.sample(WORDS, 2)
            await self.service.entries.set_tags(self.who, entry, tags, Deadline(60))

    async def delete(self) -> None:
        if entry := await self._living():
            await self.service.entries.delete(self.who, entry, Deadline(60))

    async def expire(self) -> None:
        """With a time to live so short that it ends here."""
        await self.write(ttl_hours=SHORT_TTL)

        async def gone() -> None:
            assert not await self.run(lambda c: c.fetchval(LIVES, self.who.tenant, self.entries[-1]))

        await until(gone, 60)

    async def shrink(self) -> None:
        """The limit evicts the oldest entries."""
        limits = MissionLimits(entry_budget=self.random.randint(3, 30))
        await self.service.missions.set_limits(self.who, MISSION, limits, Deadline(60))

    async def clear(self) -> None:
        await self.service.missions.clear(self.who, MISSION, "contaminated", Deadline(60))

    async def purge(self) -> None:
        await self.service.purge.purge(self.who, "shared", None, "bob", Deadline(60))

    async def purge_all(self) -> None:
        await self.service.purge.purge(self.who, f"mission:{MISSION}", None, None, Deadline(60))

    async def embed(self, model: str = "first") -> None:
        some = self.random.sample(self.entries, len(self.entries) // 2)
        vectors = [vector(entry) for entry in some]
        await self.run(lambda c: c.execute(PUT_VECTORS, self.who.tenant, model, some, vectors))

    async def embed_anew(self) -> None:
        await self.embed("second")

    async def _living(self) -> int | None:
        live = "select array_agg(id) from cache.psychic_cache where tenant = $1 and expires_at > now()"
        ids = await self.run(lambda c: c.fetchval(live, self.who.tenant))
        return self.random.choice(ids) if ids else None

    async def agree(self) -> None:
        for replica in self.replicas:
            if self.random.random() < 0.7:
                # The second question of a model finds the copy as it is.
                for model in ("first", "second") * 2:
                    await self.run(partial(replica.agree, query=self.query(model=model), scope=self.scope))


@pytest.fixture
async def service(database: Database, redis_url: str) -> AsyncIterator[CacheService]:
    async with cache_service(database, redis_url) as service:
        yield service


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["cache"])
    await pool.open()
    yield pool
    await pool.close()


@pytest.mark.parametrize("seed", range(4))
async def test_a_copy_answers_as_the_statement_after_each_change(
    service: CacheService, pool: Pool, seed: int
) -> None:
    harbour = Harbour(service, pool, seed)
    for _ in range(8):
        await harbour.write()
    await harbour.embed()
    for replica in harbour.replicas:
        for model in ("first", "second"):
            await replica.warm(harbour.query(model=model), harbour.scope, harbour.run)
    often = [
        harbour.write,
        harbour.write,
        harbour.write_several,
        harbour.embed,
        harbour.retag,
        harbour.delete,
    ]
    seldom = [
        harbour.expire,
        harbour.shrink,
        harbour.clear,
        harbour.purge,
        harbour.purge_all,
        harbour.embed_anew,
    ]
    for step in range(40):
        change = harbour.random.choice(seldom if step % 5 == 4 else often)
        await change()
        await harbour.agree()


async def warm(harbour: Harbour) -> Replica:
    for _ in range(3):
        await harbour.write()
    await harbour.embed()
    replica = harbour.replicas[0]
    await replica.warm(harbour.query(model="first"), harbour.scope, harbour.run)
    return replica


async def test_what_began_before_a_copy_and_commits_after_it_is_found(
    service: CacheService, pool: Pool, database: Database
) -> None:
    """Without the lock that orders the writers of a mission."""
    harbour = Harbour(service, pool, 1)
    for _ in range(3):
        await harbour.write()
    other = await asyncpg.connect(database.admin)
    transaction = other.transaction()
    await transaction.start()
    await other.execute(ADD_LATE, harbour.who.tenant, harbour.entries[0])
    replica = await warm(harbour)
    query = harbour.query(query="a comet", model="first", users=None, only=None, as_of=None)
    before = await harbour.run(partial(replica.agree, query=query, scope=harbour.scope))
    await transaction.commit()
    await other.close()
    after = await harbour.run(partial(replica.agree, query=query, scope=harbour.scope))
    late = (harbour.entries[0], 9)
    assert late not in {(each.id, each.chunk) for each in before.evidence.stores["store"].candidates}
    assert late in {(each.id, each.chunk) for each in after.evidence.stores["store"].candidates}


async def test_a_copy_that_lacks_too_much_is_read_anew(
    service: CacheService, pool: Pool, database: Database
) -> None:
    harbour = Harbour(service, pool, 6)
    replica = await warm(harbour)
    (key,) = replica.scopes._entries
    owner = await asyncpg.connect(database.admin)
    await owner.execute(ADD_MANY, harbour.who.tenant, harbour.entries[0], MOST_CHANGED + 1)
    await owner.close()
    await harbour.run(lambda c: replica.hot.find(c, harbour.query(model="first"), harbour.scope))
    assert replica.scopes.get(key) is None
    await replica.warm(harbour.query(model="first"), harbour.scope, harbour.run)
    query = harbour.query(query="a comet", model="first", users=None, only=None, as_of=None)
    found = await harbour.run(partial(replica.hot.find, query=query, scope=harbour.scope))
    assert found.evidence.stores["store"].documents == MOST_CHANGED + 4
    assert MOST_CHANGED + 1 in found.evidence.stores["store"].df


async def test_postgres_shows_nothing_of_a_choice_that_it_would_not_find(
    service: CacheService, pool: Pool
) -> None:
    """Whatever a copy chooses: what is of another tenant or mission, of another user, expired or gone."""
    harbour, others = Harbour(service, pool, 2), Harbour(service, pool, 3)
    await others.write()
    for user in (None, "alice", "bob"):
        result = await service.writer.write(
            harbour.who, intel(MISSION, "A crane.", user_id=user), None, Deadline(60)
        )
        harbour.entries.append(result.id)
    elsewhere = await service.writer.write(harbour.who, intel("n", "A crane."), None, Deadline(60))
    await harbour.expire()
    everyones, alices, _, expired = harbour.entries
    items = [*harbour.entries, elsewhere.id, *others.entries, 2**40]
    values = ChosenValues(
        tenant=harbour.who.tenant,
        scope=[f"mission:{MISSION}"],
        items=items,
        numbers=[0] * len(items),
        users=["alice"],
    )
    rows = await harbour.run(lambda c: chosen(c, HOT, values))
    assert sorted(row["item_id"] for row in rows) == [everyones, alices]
    assert expired not in {row["item_id"] for row in rows}
    theirs = msgspec.structs.replace(values, tenant=others.who.tenant)
    assert await harbour.run(lambda c: chosen(c, HOT, theirs)) == []


async def test_a_copy_of_another_server_is_not_used(service: CacheService, pool: Pool) -> None:
    harbour = Harbour(service, pool, 4)
    replica = await warm(harbour)
    (key,) = replica.scopes._entries
    copy = replica.scopes.get(key)
    assert copy is not None
    earlier = msgspec.structs.replace(copy, server=copy.server - timedelta(days=1))
    replica.scopes.replace(key, copy, earlier)
    await harbour.run(lambda c: replica.hot.find(c, harbour.query(model="first"), harbour.scope))
    assert replica.scopes.get(key) is None


async def test_words_rank_as_in_postgres(pool: Pool) -> None:
    chance = random.Random(5)
    for _ in range(40):
        text = " ".join(chance.choices(WORDS, k=chance.randint(1, 80)))
        row = await pool.run("t", partial(ranks, text=text), Deadline(60))
        ranked = dict(zip(*words(row["sent"]), strict=True))
        assert ranked == {hashed(word): rank for word, rank in zip(row["words"], row["ranks"], strict=True)}


async def ranks(connection: Connection, text: str) -> Any:
    return await connection.fetchrow(RANKS, text)
