"""What we write down is what the providers count, to the token, through their own clients and whatever goes wrong."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from local.database import Database
from shared.costs import Ledger, costed
from shared.costs import ledger as ledgers
from shared.costs.waiting import Waiting
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.embeddings import CachedEmbedder, EmbedderUnavailable, open_embedder
from shared.llm import Helper, HelperSettings, Spent, open_helper
from shared.spending import Payer, Tokens, charged_to
from shared.spending.prices import Price, Prices, bundled
from tests.integration.shared.test_embeddings import settings_for
from tests.support.calls import until
from tests.support.fakes.embedding_api import FakeApi
from tests.support.fakes.fake_helper import FakeHelper
from tests.support.fakes.fake_openai import FakeOpenAI
from tests.support.fakes.fake_voyage import FakeVoyage

TENANT = "payer"
CALLS = 200
FAULTS = ("400", "429", "500", "503", "reset", "cut", "hang", "not_json")
ROWS = "select * from timeline.costs where tenant = $1 and kind <> 'probe' order by id"
PRICES = Prices(
    "2026-01-01", {**bundled().models, "small": Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal(4))}
)


@pytest.fixture
async def ledger(fresh_database: Database) -> AsyncIterator[Ledger]:
    pool = Pool(fresh_database.services["cache"])
    await pool.open()
    ledger = Ledger(pool, "cache", PRICES)
    ledger.start()
    yield ledger
    await ledger.close()
    await pool.close()


@pytest.fixture
async def rows(fresh_database: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(fresh_database.admin)
    yield connection
    await connection.close()


def helper_of(api: FakeHelper, kind: Any, ledger: Ledger) -> Helper:
    async def record(spent: Spent) -> None:
        cost = costed(ledger.prices, spent.purpose, spent.model, spent.tokens, spent.outcome, spent.sent)
        await ledger.write(spent.tenant, cost)

    async def reached(tenant: str, _: UUID | None) -> str | None:
        return await ledger.reached_by(Payer(tenant))

    url = api.url.removesuffix("/v1") if kind == "anthropic" else api.url
    settings = HelperSettings(
        kind=kind, model="small", api_key=api.key, base_url=url, timeout=2.0, concurrency=8
    )
    helper = open_helper(settings, record, reached)
    assert helper is not None
    return helper


def planned(seed: int) -> list[str]:
    """Mostly what works, and every fault, never so many in a row that a breaker opens."""
    chance = random.Random(seed)
    modes = [*FAULTS, *("ok" for _ in range(CALLS // 4 - len(FAULTS)))]
    chance.shuffle(modes)
    return modes


# Voyage's client logs an answer that breaks off by a deprecated method.
@pytest.mark.filterwarnings("ignore:The 'warn' method:DeprecationWarning")
async def test_200_mixed_calls_add_up_to_the_providers_own_ledgers(ledger: Ledger, rows: Connection) -> None:
    with (
        FakeHelper() as anthropic,
        FakeHelper() as openai,
        FakeVoyage() as voyage,
        FakeOpenAI() as embeddings,
    ):
        apis: Sequence[FakeApi] = (anthropic, openai, voyage, embeddings)
        anthropic.varied = openai.varied = True
        helpers = [helper_of(anthropic, "anthropic", ledger), helper_of(openai, "openai", ledger)]
        embedders = []
        for remote in (voyage, embeddings):
            settings = settings_for(remote, SCRUBJAY_EMBEDDING_QUERY_TIMEOUT="2")
            embedders.append(CachedEmbedder(await open_embedder(settings, meter=ledger)))
        for api in apis:
            api.requests.clear()
            api.ledger.clear()

        async def ask(place: int, number: int) -> None:
            if place < 2:
                await helpers[place].answer(f"who is {number}?", ["a line"], tenant=TENANT)
                return
            with contextlib.suppress(EmbedderUnavailable):
                await embedders[place - 2].embed(
                    [f"text number {number}" * (1 + number % 3)], "query", TENANT
                )

        for number, modes in enumerate(zip(*(planned(seed) for seed in range(4)), strict=True)):
            for api, mode in zip(apis, modes, strict=True):
                api.script.append(mode)
            await asyncio.gather(*(ask(place, number) for place in range(4)))
        for api in apis:
            api.release()
        await asyncio.gather(*(helper.close() for helper in helpers))
        await asyncio.gather(*(embedder.close() for embedder in embedders))

        sent = sum(len([one for one in api.requests if one.body]) for api in apis)

        async def written() -> list[asyncpg.Record]:
            found = await rows.fetch(ROWS, TENANT)
            probes = await rows.fetchval("select count(*) from timeline.costs where kind = 'probe'")
            # Each embedder asked once at its start, before the count.
            assert len(found) + probes - len(embedders) == sent, (len(found), probes, sent)
            return list(found)

        found = await until(written)
        ours, theirs = of_rows(found), of_ledgers(apis)
        outcomes = Counter(row["outcome"] for row in found)
        print(f"{sent} requests, {len(found)} rows {dict(outcomes)}; tokens {dict(ours)}")
        assert sent >= CALLS
        assert ours == theirs
        assert outcomes["failed"] >= 16 - 4
        assert outcomes["abandoned"] >= 12
        assert all((row["cost_usd"] is None) == (row["outcome"] == "abandoned") for row in found)
        spent = await rows.fetchrow("select * from timeline.spending where tenant = $1", TENANT)
        assert spent is not None
        assert spent["usd"] == sum(map(counted, found), Decimal(0))
        assert spent["calls"] == len(found)


def counted(row: asyncpg.Record) -> Decimal:
    """What ceilings count."""
    cost = row["estimated_usd"] if row["cost_usd"] is None else row["cost_usd"]
    assert isinstance(cost, Decimal)
    return cost


def of_rows(found: Sequence[asyncpg.Record]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in found:
        kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        counts.update({f"{row['model']} {kind}": row[kind] for kind in kinds if row[kind]})
    return counts


def of_ledgers(apis: Sequence[FakeApi]) -> Counter[str]:
    anthropic, openai, voyage, embeddings = apis
    counts: Counter[str] = Counter()
    for usage in anthropic.ledger:
        counts["anthropic:small input_tokens"] += usage["input_tokens"]
        counts["anthropic:small output_tokens"] += usage["output_tokens"]
        counts["anthropic:small cache_read_tokens"] += usage["cache_read_input_tokens"]
        counts["anthropic:small cache_write_tokens"] += usage["cache_creation_input_tokens"]
    for usage in openai.ledger:
        cached = usage["prompt_tokens_details"]["cached_tokens"]
        counts["openai:small input_tokens"] += usage["prompt_tokens"] - cached
        counts["openai:small cache_read_tokens"] += cached
        counts["openai:small output_tokens"] += usage["completion_tokens"]
    counts["voyage:voyage-4 input_tokens"] = sum(usage["total_tokens"] for usage in voyage.ledger)
    counts["openai:text-embedding-3-small input_tokens"] = sum(
        usage["prompt_tokens"] for usage in embeddings.ledger
    )
    return counts


async def test_a_call_that_is_left_is_written_down(ledger: Ledger, rows: Connection) -> None:
    with FakeOpenAI() as api:
        embedder = CachedEmbedder(await open_embedder(settings_for(api), meter=ledger))
        api.mode = "hang"
        with charged_to(Payer(TENANT, "key:7", agent="scout", mission="orders", session="s")):
            asking = asyncio.create_task(embedder.embed(["what nobody waits for"], "query", TENANT))
        await asyncio.sleep(0.3)
        await embedder.close()
        api.release()
        with contextlib.suppress(EmbedderUnavailable):
            await asking

        async def written() -> asyncpg.Record:
            found = await rows.fetch(ROWS, TENANT)
            assert len(found) == 1
            return found[0]

        row = await until(written)
    assert (row["outcome"], row["cost_usd"], row["input_tokens"]) == ("abandoned", None, 0)
    assert row["estimated_usd"] > 0
    named = (row["key"], row["agent_name"], row["mission_id"], row["session_id"], row["scope"])
    assert named == ("key:7", "scout", "orders", "s", "mission:orders")


async def test_calls_that_end_one_after_the_other_are_written_together(
    ledger: Ledger, rows: Connection
) -> None:
    began = time.monotonic()
    with charged_to(Payer(TENANT)):
        for _ in range(100):
            ledger.note("query", "openai:text-embedding-3-small", Tokens(3, 0), "ok", 30)
            await asyncio.sleep(0.002)

    async def written() -> None:
        assert len(await rows.fetch(ROWS, TENANT)) == 100

    await until(written)
    together = await rows.fetchval(
        "select count(distinct created_at) from timeline.costs where tenant = $1", TENANT
    )
    assert together <= (time.monotonic() - began) / ledgers._GATHER_SECONDS + 2


async def test_what_was_erased_meanwhile_leaves_no_name(ledger: Ledger, rows: Connection) -> None:
    await rows.execute("select timeline.mark_erased($1, array['mission:orders'])", TENANT)
    with charged_to(Payer(TENANT, "key:7", agent="scout", mission="orders", session="s")):
        ledger.note("query", "openai:text-embedding-3-small", None, "abandoned", 30)

    async def written() -> asyncpg.Record:
        found = await rows.fetch(ROWS, TENANT)
        assert len(found) == 1
        return found[0]

    row = await until(written)
    assert (row["agent_name"], row["mission_id"], row["session_id"], row["scope"]) == (
        None,
        None,
        None,
        "shared",
    )
    subjects = await rows.fetch("select subject from timeline.spending where tenant = $1", TENANT)
    assert [each["subject"] for each in subjects] == ["tenant"]
    await rows.execute("select timeline.mark_erased($1, array[''])", TENANT)
    ledger.note("query", "openai:text-embedding-3-small", None, "abandoned", 30)
    with charged_to(Payer(TENANT)):
        ledger.note("query", "openai:text-embedding-3-small", None, "abandoned", 30)
    await asyncio.sleep(0.5)
    assert len(await rows.fetch(ROWS, TENANT)) == 1


async def test_rows_that_too_many_crowd_out_do_not_end_the_writing(
    ledger: Ledger, rows: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest row is being written when there is no room for another."""
    monkeypatch.setattr("shared.costs.ledger._MOST_AT_ONCE", 10)
    ledger._waiting = Waiting(20)
    with charged_to(Payer(TENANT)):
        async with rows.transaction():
            await rows.execute("lock table timeline.spending in exclusive mode")
            ledger.note("query", "small", Tokens(1, 0), "ok")
            await until(partial(_locked_out, rows))
            for number in range(2, 40):
                ledger.note("query", "small", Tokens(number, 0), "ok")
        await until(partial(_counted, rows, 21))
        ledger.note("query", "small", Tokens(40, 0), "ok")
        await until(partial(_counted, rows, 22))


async def _locked_out(rows: Connection) -> None:
    asked = "select count(*) from pg_locks where relation = 'timeline.spending'::regclass and not granted"
    assert await rows.fetchval(asked) == 1


async def _counted(rows: Connection, count: int) -> None:
    assert await rows.fetchval("select count(*) from timeline.costs where tenant = $1", TENANT) == count
