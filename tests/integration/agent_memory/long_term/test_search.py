"""Which arm serves a search of long-term memory, and what a tenant without any costs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from services.agent_memory.long_term.search import STORE, enough
from shared.auth import Principal
from shared.search.evidence import Candidate, SearchResult, StoreResult
from tests.integration.agent_memory.long_term.test_long_term import MEMORY, write
from tests.integration.conftest import Tenant
from tests.support.calls import until
from tests.support.cluster import Client, Cluster
from tests.support.fakes.fake_openai import FakeOpenAI

WORDS = ("at dawn", "at noon", "at dusk")


def ferry(when: str) -> dict[str, Any]:
    return {
        "kind": "knowledge",
        "content": f"The ferry leaves the northern harbour {when}.",
        "scope": "shared",
    }


async def asked(client: Client, query: str, **more: Any) -> Any:
    answer = await client.post(f"{MEMORY}/search", {"query": query} | more)
    assert answer.status == 200, answer
    return answer.body


async def test_text_alone_serves_what_three_memories_answer(
    client: Client, embedding_api: FakeOpenAI
) -> None:
    ids = {await write(client, ferry(when)) for when in WORDS}
    query = "When does the ferry leave the northern harbour?"
    found = await asked(client, query)
    assert (found["arm"], {one["id"] for one in found["memories"]}) == ("text", ids)
    assert not [text for text in embedding_api.texts() if text == query]


async def test_both_arms_serve_what_fewer_answer(client: Client) -> None:
    await write(client, ferry("at dawn"))
    assert (await asked(client, "When does the ferry leave the northern harbour?"))["arm"] == "both"


async def test_the_vector_arm_alone_serves_other_words(client: Client) -> None:
    await write(client, ferry("at dawn"))

    async def by_vector() -> None:
        found = await asked(client, "ships?")
        assert found["arm"] == "vector"

    await until(by_vector)


async def test_only_memories_of_the_wanted_kinds_are_found(client: Client) -> None:
    await write(client, ferry("at dawn"))
    summary = await write(client, {**ferry("at noon"), "kind": "summary"})
    found = await asked(client, "the ferry", kinds=["summary"])
    assert [one["id"] for one in found["memories"]] == [summary]


@pytest.mark.parametrize(
    ("places", "answered"),
    [([[1, 2, 3]] * 3, True), ([[1, 2]] * 3, False), ([[1, 2, 3]] * 2, False), ([], False)],
)
def test_what_is_enough(places: list[list[int]], answered: bool) -> None:
    at = datetime(2026, 3, 4, tzinfo=UTC)
    candidates = [
        Candidate(id=number, scope="shared", kind="knowledge", text="", created_at=at, places=held)
        for number, held in enumerate(places, 1)
    ]
    store = StoreResult(documents=9, df=[1, 1, 1], candidates=candidates)
    assert enough(SearchResult(lexemes=["ferri", "leav", "dawn"], stores={STORE: store})) is answered


@pytest.fixture
async def owner(cluster: Cluster, tenant: Tenant) -> AsyncIterator[Client]:
    """Searches the tenant's memories as the context service does."""
    principal = Principal(tenant.name, "test", frozenset({"read"}))
    async with Client(cluster.url("agent_memory"), None) as client:
        client.session.headers.update(cluster.tokens.identity("agent_memory", principal))
        yield client


async def test_a_tenant_without_any_is_not_searched_twice(owner: Client, client: Client) -> None:
    async def search() -> SearchResult:
        body = {"query": "the ferry", "agent": "scout", "user_id": "ana", "stores": {STORE: []}}
        return msgspec.convert((await owner.post("/internal/search", body)).body, SearchResult)

    searched, vacant = await search(), await search()
    assert searched.lexemes
    assert not vacant.lexemes  # only a statement of a search reads the question
    nothing = {"agent:scout": 0, "user:ana": 0, "shared": 0}
    assert searched.stores[STORE].items == vacant.stores[STORE].items == nothing
    await write(client, ferry("at dawn"))
    assert len((await search()).stores[STORE].candidates) == 1
