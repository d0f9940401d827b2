"""Questions, and their answers beside bare SQL."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import asyncpg
import msgspec
import numpy as np
from pgvector import HalfVector

from bench.recall.data import DIMENSIONS, MODEL, SEED, Held, Random
from services.agent_memory.memories import queries_search as queries
from shared.search.counts import EXACT_UP_TO, HNSW_SETTINGS, Common, CommonWords, SampledWords
from shared.search.evidence import DEPTH, candidate_from_row, store_result
from shared.search.relevance import Question, score
from shared.search.sql import scope_key, search
from shared.search.store import Scope, StoreQuery

QUESTIONS = 200
K = 10

T = TypeVar("T")
Rows = list[asyncpg.Record]


_SAMPLE = """
select v.embedding, m.content from memory.agent_memory_vec v
join memory.agent_memory m on m.tenant = v.tenant and m.id = v.item_id
where v.tenant = $1 and v.scope = $2 order by hashint8(v.item_id) limit 5
"""
_EXACT = """
select item_id from memory.agent_memory_vec v
where tenant = $1 and model = $2 and {narrow} order by (embedding <=> $4) + 0.0 limit 10
"""
_BARE = """
with by_vector as materialized (
    select v.item_id from memory.agent_memory_vec v
    where v.tenant = $1 and v.model = $2 and {narrow} order by {nearest} limit $5
), by_text as materialized (
    select m.item_id from memory.agent_memory_chunks m
    where memory.scoped_words(m.tenant, m.scope, m.private, m.tsv) @@ $6::tsquery and m.tenant = $1 and {narrow_text}
    order by ts_rank(m.tsv, $7::tsquery) desc limit $5
)
select i.* from memory.agent_memory i
where i.tenant = $1 and i.id in (select item_id from by_vector union select item_id from by_text)
"""
_OWN, _PEERS = "{0}.scope = $3", "{0}.scope <> $3 and not {0}.private"
EXACT_OWN, EXACT_PEERS = (_EXACT.format(narrow=one.format("v")) for one in (_OWN, _PEERS))
# Without "+ 0.0" the planner may take HNSW for one agent's few rows.
BARE_OWN = _BARE.format(
    narrow=_OWN.format("v"), narrow_text=_OWN.format("m"), nearest="(v.embedding <=> $4) + 0.0"
)
BARE_PEERS, BARE_PEERS_APPROXIMATE = (
    _BARE.format(narrow=_PEERS.format("v") + indexed, narrow_text=_PEERS.format("m"), nearest=nearest)
    for indexed, nearest in (("", "(v.embedding <=> $4) + 0.0"), (" and v.large", "v.embedding <=> $4"))
)
_LEXEMES = "select tsvector_to_array(to_tsvector('english', $1))"


class Arm(msgspec.Struct):
    recall: list[float] = msgspec.field(default_factory=list)
    ms: list[float] = msgspec.field(default_factory=list)
    bare_ms: list[float] = msgspec.field(default_factory=list)

    def row(self) -> dict[str, float]:
        p50, p95 = (float(np.percentile(self.ms, q)) for q in (50, 95))
        bare50, bare95 = (float(np.percentile(self.bare_ms, q)) for q in (50, 95))
        return {
            "recall_at_10": round(float(np.mean(self.recall)), 4),
            "least": round(min(self.recall), 2),
            "p50_over_bare": round(p50 / bare50, 2),
            "p95_over_bare": round(p95 / bare95, 2),
            "p50_ms": round(p50, 2),
            "p95_ms": round(p95, 2),
            "bare_p50_ms": round(bare50, 2),
            "bare_p95_ms": round(bare95, 2),
            "questions": len(self.recall),
        }


@dataclass(frozen=True)
class Asked:
    """What one agent asks: near one of the memories of another of its tenant, with some of its words."""

    tenant: str
    agent: str
    text: str
    vector: HalfVector

    @property
    def scope(self) -> str:
        return f"agent:{self.agent}"

    @property
    def query(self) -> StoreQuery:
        return StoreQuery(query=self.text, vector=self.vector, model=MODEL)


async def questions(connection: asyncpg.Connection[Any], held: Sequence[Held], count: int) -> list[Asked]:
    """Half of them near something that the agent itself holds, which peers' search must then pass over."""
    random = np.random.default_rng(SEED + 2)
    made = []
    for number in range(count):
        asking = held[_by_size(random, held)]
        peers = [one for one in held if one.tenant == asking.tenant]
        near = asking if number % 2 else peers[_by_size(random, peers)]
        sample = await connection.fetch(_SAMPLE, near.tenant, near.scope)
        target = sample[int(random.integers(len(sample)))]
        noise = np.zeros(512, np.float32)
        noise[:DIMENSIONS] = 0.3 * random.normal(size=DIMENSIONS) / np.sqrt(DIMENSIONS)
        vector = np.asarray(target["embedding"].to_numpy(), np.float32) + noise
        words = target["content"].split()
        text = " ".join(random.choice(words, size=min(5, len(words)), replace=False))
        made.append(Asked(asking.tenant, asking.agent, text, HalfVector(vector)))
    return made


def _by_size(random: Random, held: Sequence[Held]) -> int:
    share = np.array([one.rows for one in held], float)
    return int(random.choice(len(held), p=share / share.sum()))


def _any_of(lexemes: list[str], key: str = "") -> str:
    return " | ".join(f"'{key}{word}'" for word in lexemes)


class Measured:
    """Both ways of asking, in turns: as the service's role and, with bare SQL, as the owner."""

    def __init__(
        self,
        service: asyncpg.Connection[Any],
        owner: asyncpg.Connection[Any],
        held: Sequence[Held],
        exact_up_to: int = EXACT_UP_TO,
    ) -> None:
        self._service, self._owner = service, owner
        self._documents: Counter[str] = Counter()
        for one in held:
            self._documents[one.tenant] += one.rows
        self._exact_up_to = exact_up_to
        self._common = CommonWords()
        self._sampled = SampledWords()
        self.own, self.peers = Arm(), Arm()

    async def ask(self, asked: Asked) -> None:
        c, tenant = self._owner, asked.tenant
        lexemes = await c.fetchval(_LEXEMES, asked.text)
        fixed = (tenant, MODEL, asked.scope, asked.vector)
        texts = (_any_of(lexemes, scope_key(tenant, asked.scope) + ":"), _any_of(lexemes))
        await _timed(lambda: _inside(c, tenant, c.fetch(BARE_OWN, *fixed, DEPTH, *texts)), self.own.bare_ms)
        found = await self.search_own(asked)
        self.own.recall.append(_share(found, await c.fetch(EXACT_OWN, *fixed)))
        texts = (_any_of(lexemes, scope_key(tenant, queries.EVERY_AGENT) + ":"), texts[1])
        bare = BARE_PEERS_APPROXIMATE if self._approximate(tenant) else BARE_PEERS
        await _timed(
            lambda: _inside(c, tenant, c.fetch(bare, *fixed, DEPTH, *texts), HNSW_SETTINGS),
            self.peers.bare_ms,
        )
        found = await self.search_peers(asked)
        self.peers.recall.append(_share(found, await c.fetch(EXACT_PEERS, *fixed)))

    def _approximate(self, tenant: str) -> bool:
        return self._documents[tenant] > self._exact_up_to

    async def search_own(self, asked: Asked) -> Rows:
        return await _timed(lambda: self._search_own(asked), self.own.ms)

    async def search_peers(self, asked: Asked) -> Rows:
        return await _timed(lambda: self._search_peers(asked), self.peers.ms)

    async def _search_own(self, asked: Asked) -> Rows:
        query = asked.query
        scope = queries.own_scope(asked.tenant, asked.agent)
        values = query.values(scope, common=self._common.get(scope.name))
        rows = await _inside(self._service, asked.tenant, search(self._service, queries.SEARCH_OWN, values))
        return self._as_served(scope, rows, query)

    async def _search_peers(self, asked: Asked) -> Rows:
        query = asked.query
        scope = queries.peers_scope(asked.tenant, asked.agent)
        documents, approximate = self._documents[asked.tenant], self._approximate(asked.tenant)
        common = await self._sample(scope) if approximate else self._common.get(scope.name)
        values = query.values(scope, documents=documents, common=common)
        call = search(self._service, queries.SEARCH_PEERS, values, approximate=approximate)
        rows = await _inside(self._service, asked.tenant, call, HNSW_SETTINGS if approximate else {})
        return self._as_served(scope, rows, query)

    async def _sample(self, scope: Scope) -> Common:
        c, documents = self._service, self._documents[scope.tenant]
        return await self._sampled.get(
            scope.name, lambda: _inside(c, scope.tenant, queries.common_among_peers(c, scope, documents))
        )

    def _as_served(self, scope: Scope, rows: Rows, query: StoreQuery) -> Rows:
        found = store_result("memories", rows, lambda row: candidate_from_row(row, row["content"]))
        self._common.put(
            scope.name, found.stores["memories"].documents, found.lexemes, found.stores["memories"].df
        )
        score(Question(query.query, query.model), [found])
        return rows


async def _inside(
    connection: asyncpg.Connection[Any],
    tenant: str,
    search: Awaitable[T],
    settings: Mapping[str, str] = MappingProxyType({}),
) -> T:
    """As the service does: a transaction that sets its tenant, and the settings of an HNSW scan."""
    more = "".join(f"; set local {name} = {value}" for name, value in settings.items())
    await connection.execute(f"begin; set local scrubjay.tenant = '{tenant}'{more}")
    try:
        return await search
    finally:
        await connection.execute("commit")


async def _timed(call: Callable[[], Awaitable[Rows]], into: list[float]) -> Rows:
    started = time.perf_counter()
    answer = await call()
    into.append((time.perf_counter() - started) * 1000)
    return answer


def _share(rows: Rows, exact: Rows) -> float:
    found = [row for row in rows if row["item_id"] is not None and row["cosine"] is not None]
    top = {row["item_id"] for row in sorted(found, key=lambda row: -row["cosine"])[:K]}
    wanted = {row["item_id"] for row in exact}
    return len(top & wanted) / len(wanted) if wanted else 1.0


async def measure(
    service: asyncpg.Connection[Any],
    owner: asyncpg.Connection[Any],
    held: Sequence[Held],
    *,
    count: int = QUESTIONS,
    exact_up_to: int = EXACT_UP_TO,
) -> dict[str, dict[str, float]]:
    measured = Measured(service, owner, held, exact_up_to)
    asked = await questions(owner, held, count)
    for one in asked:
        await measured.ask(one)  # plans, caches, and which words are common
    measured.own, measured.peers = Arm(), Arm()
    for one in asked:
        await measured.ask(one)
    return {"own": measured.own.row(), "peers": measured.peers.row()}
