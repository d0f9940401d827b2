"""A model's calls reach the session of its caller, and no other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.context.forwarding.owners import Owner
from services.context.gateway.cleanup import Action
from services.context.gateway.memory import NOTHING_FOUND, RELEASED, UNKNOWN_HANDLE, SessionMemory
from services.context.gateway.phantom import call_of
from shared.auth import Principal
from shared.errors import Unavailable
from shared.identity import Signer
from tests.support.calls import Json
from tests.support.cluster import Client, Cluster

OWN = Principal("default", "e2e", frozenset({"read", "write"}))
OTHER = Principal("other-gateway", "e2e", frozenset({"read", "write"}))
CODE = "The auth middleware answers an expired token with TOKEN_EXPIRED.\n" + "Other words.\n" * 200


async def admitted(client: Client, session: str) -> str:
    created = await client.post("/api/sessions", {"external_id": session, "model": "claude"})
    assert created.status in (200, 201), created.body
    made = {"content": CODE, "object_type": "tool_result", "source_key": f"{session}.log"}
    answer = await client.post(f"/api/sessions/{session}/objects", made)
    assert answer.status in (200, 201), answer.body
    return str(answer.body["objects"][0]["id"])


def call(name: str, **arguments: str) -> Any:

    return call_of("c", name, json.dumps(arguments))


@pytest.fixture
async def memory(cluster: Cluster) -> Any:
    owner = Owner("cache", cluster.url("cache"), Signer("cache", [cluster.tokens.cache]))
    yield SessionMemory(owner, OWN, "gateway-own", "test")
    await owner.close()


async def shown(client: Client, session: str, object_id: str) -> Json:
    answer = await client.get(f"/api/sessions/{session}/objects/{object_id}")
    data: Json = answer.body["data"]
    return data


async def test_calls_and_tags(cluster: Cluster, memory: SessionMemory) -> None:
    async with cluster.client() as client:
        own, foreign = await admitted(client, "gateway-own"), await admitted(client, "gateway-foreign")
        assert await memory.answer(call("memory_fault", handle=f"object:{own}")) == CODE
        assert "TOKEN_EXPIRED" in await memory.answer(call("memory_query", question="expired token answers"))
        assert await memory.answer(call("memory_query", question="zebra xylophone")) == NOTHING_FOUND
        assert await memory.answer(call("memory_release", handle=own)) == RELEASED
        assert (await shown(client, "gateway-own", own))["current_fidelity"] == 3
        # What the context needs no more comes back as it was.
        assert await memory.answer(call("memory_fault", handle=own)) == CODE
        await memory.act(
            [Action("drop", own), Action("anchor", own), Action("drop", foreign), Action("drop", "m-1")]
        )
        assert (await shown(client, "gateway-own", own))["pinned"]
        assert (await shown(client, "gateway-foreign", foreign))["current_fidelity"] == 0
        for handle in (foreign, "m-0123456789ab", "../gateway-foreign", "", "x" * 5_000):
            told = await memory.answer(call("memory_fault", handle=handle or "?"))
            assert told == UNKNOWN_HANDLE


async def test_another_tenant_finds_nothing(cluster: Cluster, memory: SessionMemory) -> None:
    async with cluster.client() as client:
        own = await admitted(client, "gateway-tenant")
    stranger = memory._replace(principal=OTHER, session="gateway-tenant")
    for name in ("memory_fault", "memory_release"):
        assert await stranger.answer(call(name, handle=own)) == UNKNOWN_HANDLE


async def test_a_cache_service_that_is_away_is_said_so(cluster: Cluster) -> None:
    owner = Owner("cache", "http://127.0.0.1:9", Signer("cache", [cluster.tokens.cache]))
    memory = SessionMemory(owner, OWN, "gateway-own", "test")
    with pytest.raises(Unavailable):
        await memory.answer(call("memory_query", question="anything"))
    await owner.close()
