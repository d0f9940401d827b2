"""PostgreSQL reads the words that were guessed, and a guess that is wrong costs time and changes no answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial
from operator import methodcaller
from typing import Any

import msgspec
import pytest

from local.database import Database
from services.cache.entries.queries_search import HOT
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.search.hot import search as hot_search
from shared.search.hot import statements
from shared.search.hot.guessing import guessed
from shared.search.hot.statements import ChangesValues, ChosenValues, HotForms
from shared.search.lexicon import asked
from shared.search.store import StoreQuery
from tests.integration.shared.search.hot.test_entries import MISSION, Harbour, warm
from tests.support.cache_services import cache_service, intel

# The row of an entry, and none of its chunks.
SAY = "update cache.psychic_cache set speaker = $3 where tenant = $1 and id = $2"
QUESTIONS = [
    "When did Caroline go to the LGBTQ support group?",
    "What fields would Caroline be likely to pursue in her education?",
    "Did James's dog chase 12 cats, and (if so) why?",
    "Who's the mother-in-law of \"the smith\"; isn't she tall!",
    "how do we retry the payment 3 times",
    "What is it?",
    "Do you know: the 2nd GPU4 failed ... again?!",
    "x" * 900,
]


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["cache"])
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
async def harbour(database: Database, redis_url: str, pool: Pool) -> AsyncIterator[Harbour]:
    async with cache_service(database, redis_url) as service:
        yield Harbour(service, pool, 7)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[ChosenValues]:
    """What rows were asked for by a statement of their own."""
    asked_for: list[ChosenValues] = []

    async def chosen(c: Connection, forms: HotForms, values: ChosenValues) -> Sequence[Any]:
        asked_for.append(values)
        return await original(c, forms, values)

    original = statements.chosen
    monkeypatch.setattr(statements, "chosen", chosen)
    return asked_for


def changes(harbour: Harbour, **more: Any) -> ChangesValues:
    values: dict[str, Any] = {"configs": ["english"], "texts": [""], "terms": [], "users": None, **more}
    return ChangesValues(
        tenant=harbour.who.tenant,
        scope=[f"mission:{MISSION}"],
        names=[],
        model="first",
        snapshots=[],
        pending=[],
        documents=None,
        **values,
    )


@pytest.mark.parametrize("question", QUESTIONS)
async def test_postgres_reads_the_words_that_are_guessed(harbour: Harbour, question: str) -> None:
    words = asked(question, "en")
    values = changes(harbour, configs=words.configs, texts=words.texts, terms=words.terms)
    ((first, *_),) = [await harbour.run(lambda c: statements.changes(c, HOT, values))]
    assert first["lexemes"] == guessed(words.configs, words.texts, words.terms)


async def test_rows_that_are_kept_are_shown_without_a_statement_of_their_own(
    harbour: Harbour, read: list[ChosenValues]
) -> None:
    replica = await warm(harbour)
    await harbour.write()
    query = StoreQuery(query="Which crane and which pilot?", vector=None, model="first")
    agree = partial(replica.agree, query=query, scope=harbour.scope)
    read.clear()
    await harbour.run(agree)
    assert len(read) == 1
    await harbour.run(agree)
    assert len(read) == 1
    for entry in harbour.entries:
        await harbour.run(methodcaller("execute", SAY, harbour.who.tenant, entry, "Ana"))
    found = await harbour.run(agree)
    assert {each.speaker for each in found.evidence.stores["store"].candidates} == {"Ana"}
    assert len(read) == 2
    await harbour.delete()
    await harbour.run(agree)
    assert len(read) == 3


@pytest.mark.parametrize("words", [["tide"], [], ["crane", "crane"], None])
async def test_another_guess_changes_no_answer(
    harbour: Harbour, words: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    replica = await warm(harbour)
    monkeypatch.setattr(hot_search, "guessed", lambda *_: words)
    for _ in range(4):
        query = harbour.query(model="first", as_of=None, only=None)
        await harbour.run(partial(replica.agree, query=query, scope=harbour.scope))


async def test_only_what_a_search_shows_in_that_version_is_as_it_is_kept(harbour: Harbour) -> None:
    for user in (None, "alice", "bob"):
        entry = intel(MISSION, "A crane.", user_id=user)
        result = await harbour.service.writer.write(harbour.who, entry, None, Deadline(60))
        harbour.entries.append(result.id)
    elsewhere = await harbour.service.writer.write(harbour.who, intel("n", "A crane."), None, Deadline(60))
    await harbour.expire()
    everyones, alices, bobs, expired = harbour.entries
    items = [*harbour.entries, elsewhere.id]
    every = ChosenValues(
        tenant=harbour.who.tenant,
        scope=[f"mission:{MISSION}", "mission:n"],
        items=items,
        numbers=[0] * len(items),
    )
    rows = await harbour.run(lambda c: statements.chosen(c, HOT, every))
    versions = {row["item_id"]: row["version"] for row in rows}

    async def as_kept(*items: int, **more: Any) -> bool:
        known = {
            "items": list(items),
            "numbers": [0] * len(items),
            "versions": [versions.get(item, "1 1") for item in items],
        }
        values = changes(harbour, **{**known, **more})
        (first,) = await harbour.run(lambda c: statements.changes(c, HOT, values))
        return bool(first["as_kept"])

    assert await as_kept()
    assert await as_kept(everyones, alices, bobs)
    assert await as_kept(everyones, alices, users=["alice"])
    assert not await as_kept(everyones, bobs, users=["alice"])
    assert not await as_kept(everyones, expired)
    assert not await as_kept(everyones, elsewhere.id)
    assert not await as_kept(everyones, 2**40)
    assert not await as_kept(everyones, alices, only=[alices])
    assert not await as_kept(everyones, alices, until=everyones)
    assert not await as_kept(everyones, versions=["1 1"])
    theirs = msgspec.structs.replace(changes(harbour), tenant="other", items=[everyones], numbers=[0])
    theirs = msgspec.structs.replace(theirs, versions=[versions[everyones]])
    (first,) = await harbour.pool.run("other", lambda c: statements.changes(c, HOT, theirs), Deadline(60))
    assert not first["as_kept"]
