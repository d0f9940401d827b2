"""Stores without memories are not searched again, and nobody misses what was written before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from services.agent_memory.memories.search import OWN
from services.agent_memory.vacancy import PEER
from services.context import stores
from shared.auth import Principal
from shared.search.evidence import SearchResult
from tests.integration.conftest import Tenant
from tests.support.calls import lesson
from tests.support.cluster import Client, Cluster

EVERYBODY = "agent:*"


@pytest.fixture
async def owner(cluster: Cluster, tenant: Tenant) -> AsyncIterator[Client]:
    """Searches the tenant's memories as the context service does."""
    principal = Principal(tenant.name, "test", frozenset({"read"}))
    async with Client(cluster.url("agent_memory"), None) as client:
        client.session.headers.update(cluster.tokens.identity("agent_memory", principal))
        yield client


async def search(owner: Client, agent: str = "scout", **more: Any) -> SearchResult:
    body = {"query": "Which lock is held?", "agent": agent, "stores": {OWN: [], PEER: ["agent:wren"]}}
    answer = await owner.post("/internal/search", body | more)
    assert answer.status == 200, answer
    return msgspec.convert(answer.body, SearchResult)


def found(result: SearchResult) -> dict[str, list[str]]:
    return {name: [each.text for each in store.candidates] for name, store in result.stores.items()}


async def test_an_empty_store_is_not_searched_twice(owner: Client) -> None:
    searched, vacant = await search(owner), await search(owner)
    assert searched.lexemes
    assert not vacant.lexemes  # only a statement of a search reads the question
    nothing = {OWN: {"agent:scout": 0}, PEER: {EVERYBODY: 0, "agent:wren": 0}}
    for result in (searched, vacant):
        assert {name: store.items for name, store in result.stores.items()} == nothing
        assert found(result) == {OWN: [], PEER: []}


async def test_a_memory_is_found_right_after_its_commit(owner: Client, client: Client) -> None:
    for _ in range(2):
        await search(owner)
        await search(owner, "wren")
    text = "The deploy lock is held."
    assert (await client.post("/api/agent-memory/commit", lesson("scout", text))).status == 201
    own, peers = await search(owner), await search(owner, "wren")
    assert found(own) == {OWN: [text], PEER: []}
    assert own.stores[OWN].items == {"agent:scout": 1}
    assert found(peers) == {OWN: [], PEER: [text]}
    # The words are those of the question, although only one of the stores was searched.
    assert len(peers.stores[PEER].df) == len(peers.lexemes) > 0


async def test_the_only_agent_of_a_tenant_has_no_peers(owner: Client, client: Client) -> None:
    text = "The deploy lock is held."
    assert (await client.post("/api/agent-memory/commit", lesson("scout", text))).status == 201
    for _ in range(2):
        result = await search(owner)
        assert found(result) == {OWN: [text], PEER: []}
        # Its own memories count as its own only.
        assert result.stores[PEER].documents == 0
    assert (await client.post("/api/agent-memory/commit", lesson("wren", text))).status == 201
    assert found(await search(owner)) == {OWN: [text], PEER: [text]}


async def test_a_private_memory_is_no_vacancy(owner: Client, client: Client) -> None:
    for _ in range(2):
        await search(owner)
    text = "The deploy lock is held."
    body = lesson("scout", text, private=True)
    assert (await client.post("/api/agent-memory/commit", body)).status == 201
    assert found(await search(owner)) == {OWN: [text], PEER: []}
    assert found(await search(owner, "wren")) == {OWN: [], PEER: []}


async def test_a_block_shows_what_was_just_remembered(tenant: Tenant) -> None:
    client = await tenant.client("admin")
    body = {"query": "Which lock is held?", "caller": "scout"}
    for _ in range(3):
        answer = await client.post("/api/context/assemble", body)
        assert answer.body["sources"] == []
    await client.post("/api/agent-memory/commit", lesson("scout", "The deploy lock is held."))
    answer = await client.post("/api/context/assemble", body)
    assert [source["store"] for source in answer.body["sources"]] == [stores.OWN.name]


async def test_an_empty_store_refuses_what_others_refuse(cluster: Cluster, tenant: Tenant) -> None:
    principal = Principal(tenant.name, "test", frozenset({"read"}), agent="scout", users=frozenset({"ana"}))
    async with Client(cluster.url("agent_memory"), None) as owner:
        owner.session.headers.update(cluster.tokens.identity("agent_memory", principal))
        for _ in range(2):
            await search(owner)
        body = {"query": "q", "agent": "scout", "stores": {OWN: [], PEER: []}}
        for changes, status in (
            ({"agent": "wren"}, 403),
            ({"user_id": "ben"}, 403),
            ({"vector": "AAAA"}, 400),
        ):
            assert (await owner.post("/internal/search", body | changes)).status == status
