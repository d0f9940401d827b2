"""Facts against a model in plain Python: by both times, and after writers that come at once."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from local.database import Database
from services.agent_memory.app import Services
from services.agent_memory.facts.schemas import AddFactInput, InvalidateFactInput, QueryFactsInput
from services.agent_memory.facts.schemas_reading import AliasInput
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Conflict
from shared.provenance import SourceKind
from tests.integration.facts.model import DAYS, NAMES, Operation, Snapshots, day, history
from tests.support.agent_memory import MANY_SECONDS, fake_embedding, replica, who
from tests.support.fakes.fake_openai import FakeOpenAI

HISTORIES, LENGTH, AT_ONCE = 200, 7, 8
NOON = timedelta(hours=12)


@pytest.fixture(scope="module")
async def services(database: Database, redis_url: str, embedding_api: FakeOpenAI) -> AsyncIterator[Services]:
    async with replica(database, redis_url, fake_embedding(embedding_api)) as running:
        yield running


async def apply(services: Services, tenant: str, operation: Operation) -> None:
    principal, deadline = who(tenant), Deadline(MANY_SECONDS)
    source: SourceKind = "user" if operation.trusted else "document"
    if operation.kind == "alias":
        assert operation.object is not None
        named = AliasInput(alias=operation.subject, entity=operation.object, source_kind=source)
        # The name may be another entity's already.
        with contextlib.suppress(Conflict):
            await services.alias_writer.add(principal, named, None, deadline)
    elif operation.kind == "close":
        closing = InvalidateFactInput(
            subject=operation.subject,
            predicate=operation.predicate,
            object=operation.object,
            at=day(operation.start),
            source_kind=source,
        )
        await services.fact_writer.invalidate(principal, closing, None, deadline)
    else:
        assert operation.predicate is not None
        assert operation.object is not None
        fact = AddFactInput(
            subject=operation.subject,
            predicate=operation.predicate,
            object=operation.object,
            valid_from=day(operation.start),
            valid_to=None if operation.stop is None else day(operation.stop),
            single=operation.kind == "write",
            source_kind=source,
        )
        await services.fact_writer.add(principal, [fact], None, deadline)


async def held(
    services: Services, tenant: str, number: int, known_at: datetime, expected: Snapshots
) -> set[tuple[str, str, str]]:
    asked = QueryFactsInput(at=day(number) + NOON, known_at=known_at, limit=1_000)
    page = await services.fact_reader.query(who(tenant), asked, Deadline(MANY_SECONDS))
    return {
        (expected.entity(fact.subject), fact.predicate, expected.entity(fact.object)) for fact in page.data
    }


async def play(services: Services, sql: Connection, turn: asyncio.Lock, seed: int) -> list[str]:
    """Where the answers of a history differ from the model's."""
    chance, tenant = random.Random(seed), f"model-{seed}"
    operations, times = history(chance, LENGTH), []
    for operation in operations:
        await apply(services, tenant, operation)
        async with turn:
            times.append(await sql.fetchval("select clock_timestamp()"))
    expected, wrong = Snapshots(operations), []
    for step, known_at in enumerate(times):
        for number in chance.sample(range(DAYS + 1), 2):
            answered = await held(services, tenant, number, known_at, expected)
            if answered != expected.holding(step, number):
                wrong.append(f"{seed}: day {number} after {operations[: step + 1]}: {answered}")
    return wrong


async def test_every_answer_of_random_histories_agrees_by_both_times(
    services: Services, sql: Connection
) -> None:
    room, turn = asyncio.Semaphore(AT_ONCE), asyncio.Lock()

    async def one(seed: int) -> list[str]:
        async with room:
            return await play(services, sql, turn, seed)

    wrong = [line for found in await asyncio.gather(*map(one, range(HISTORIES))) for line in found]
    assert not wrong, "\n".join(wrong[:5])


async def test_writers_that_come_at_once_leave_one_value_and_all_additions(
    services: Services, sql: Connection
) -> None:
    principal, tenant = who("writers"), "writers"

    async def work(number: int) -> None:
        for step in range(6):
            subject = NAMES[step % 3]
            facts = [
                AddFactInput(subject=subject, predicate="leads", object=f"team {number} {step}", single=True),
                AddFactInput(subject=subject, predicate="knows", object=f"person {number}"),
                AddFactInput(subject=subject, predicate="knows", object="everybody"),
            ]
            await services.fact_writer.add(principal, facts, None, Deadline(MANY_SECONDS))
            if step == 2:
                named = AliasInput(alias="bob", entity="robert")
                await services.alias_writer.add(principal, named, None, Deadline(MANY_SECONDS))

    await asyncio.gather(*map(work, range(8)))
    rows = await sql.fetch(
        "select subject_key, predicate_key, object_key, recorded_at from memory.facts"
        " where tenant = $1 and superseded_at is null and valid_to is null",
        tenant,
    )
    led = [row["subject_key"] for row in rows if row["predicate_key"] == "leads"]
    assert sorted(led) == ["ana", "robert"]
    for subject in led:
        known = sorted(
            row["object_key"]
            for row in rows
            if (row["subject_key"], row["predicate_key"]) == (subject, "knows")
        )
        assert known == sorted(["everybody", *(f"person {number}" for number in range(8))])
    last = await sql.fetch(
        "select distinct on (subject_key) subject_key, object_key from memory.facts"
        " where tenant = $1 and predicate_key = 'leads' and revision_of is null"
        " order by subject_key, recorded_at desc, superseded_at desc nulls first, valid_from desc",
        tenant,
    )
    open_now = {row["subject_key"]: row["object_key"] for row in rows if row["predicate_key"] == "leads"}
    assert {row["subject_key"]: row["object_key"] for row in last if row["subject_key"] in led} == open_now
