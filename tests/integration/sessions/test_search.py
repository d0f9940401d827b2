"""Search over a session's objects: by words at once, by vectors soon, evicted ones too, and none of other sessions."""

from __future__ import annotations

from typing import Any

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import admitted, began, ok
from tests.support.calls import until
from tests.support.cluster import Client

RETRY = "def retry(event):\n    backoff.sleep(jitter)\n    send(event)\n"
TABLE = "CREATE TABLE invoices (id bigint, total numeric);\n"


async def found(client: Client, session: str, query: str, **more: Any) -> list[Any]:
    answer = await ok(client, "POST", f"{session}/search", {"query": query, **more})
    objects: list[Any] = answer["objects"]
    return objects


async def test_words_are_found_at_once_and_evicted_objects_too(client: Client) -> None:
    session = await began(client)
    retry = await admitted(client, session, RETRY, source_key="worker/retry.py")
    await admitted(client, session, TABLE, source_key="schema.sql")
    (hit,) = await found(client, session, "backoff jitter")
    assert (hit["id"], hit["passage"], hit["current_fidelity"]) == (retry["id"], RETRY, 0)
    assert 0 < hit["score"] < 1
    await ok(client, "POST", f"{session}/objects/{retry['id']}/release", {"fidelity": 4})
    (hit,) = await found(client, session, "backoff jitter")
    assert hit["current_fidelity"] == 4
    assert await found(client, session, "backoff jitter", evicted=False) == []


async def test_older_versions_are_found_when_asked_for(client: Client) -> None:
    session = await began(client)
    older = await admitted(client, session, RETRY, source_key="retry.py")
    newer = await admitted(client, session, RETRY + "# capped\n", source_key="retry.py")
    assert [hit["id"] for hit in await found(client, session, "backoff jitter")] == [newer["id"]]
    both = await found(client, session, "backoff jitter", superseded=True)
    assert [(hit["id"], hit["superseded"]) for hit in both] == [(newer["id"], False), (older["id"], True)]


async def test_nothing_of_another_session_is_found(client: Client, tenant: Tenant) -> None:
    session, other = await began(client), await began(client, agent_name="other")
    await admitted(client, other, RETRY)
    assert await found(client, session, "backoff jitter") == []
    scouts = await tenant.client(agent="scout")
    answer = await scouts.call("POST", f"{other}/search", {"query": "backoff jitter"})
    assert answer.status == 404


async def test_vectors_follow_and_leave_with_the_session(
    client: Client, tenant: Tenant, sql: Connection
) -> None:
    session = await began(client)
    await admitted(client, session, RETRY)

    async def vectors() -> bool:
        count = await sql.fetchval("select count(*) from sessions.object_vec where tenant = $1", tenant.name)
        return bool(count == 1)

    await until(vectors)
    await admitted(client, session, TABLE)
    await ok(client, "DELETE", session)
    for table in ("sessions.object_chunks", "sessions.object_vec", "cache.index_queue"):
        assert await sql.fetchval(f"select count(*) from {table} where tenant = $1", tenant.name) == 0


async def test_a_query_is_bounded(client: Client) -> None:
    session = await began(client)
    for body in ({"query": ""}, {"query": "x", "limit": 51}, {"query": "x", "unknown": 1}):
        assert (await client.call("POST", f"{session}/search", body)).status == 400
    assert await found(client, session, "a" * 8_000) == []
