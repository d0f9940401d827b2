"""Secrets in headers and parameters: none is stored or logged, whichever operation gets it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from shared.database.postgres import Connection
from tests.integration.context.secrets.test_secret_policy import POLICY, WRITE, everywhere, logs
from tests.support.attacks.secret_samples import told
from tests.support.attacks.sending import OPERATIONS, Attempt, attempts, send
from tests.support.attacks.victim import Victim, settle
from tests.support.calls import note
from tests.support.cluster import Client, Cluster

SECRET = told("gitlab token")
KEYED = {"idempotency-key": f"retry-of:{SECRET}"}
HEADERS = {
    "idempotency-key": SECRET,
    "x-request-id": SECRET,
    "user-agent": f"agent {SECRET}",
    "referer": f"https://fleet.example/{SECRET}",
    "cookie": f"session={SECRET}",
    "traceparent": f"00-{SECRET}-{SECRET}-01",
    "tracestate": f"vendor={SECRET}",
    "baggage": f"token={SECRET}",
    "last-event-id": SECRET,
    "mcp-session-id": SECRET,
    "x-scrubjay-timeout": SECRET,
    "x-api-key": SECRET,
    "accept-language": SECRET,
}


def planted(victim: Victim) -> Iterator[Attempt]:
    """Every operation with the secret in each of its parameters, once each, and untouched."""
    for attempt in attempts(victim):
        if attempt.tool is None and attempt.uri is None:
            yield attempt
            for parameter in OPERATIONS[attempt.operation].parameters:
                name, value = parameter["name"], SECRET
                if parameter["in"] != "header":
                    yield attempt._replace(arguments={**attempt.arguments, name: value})


async def test_no_header_and_no_parameter_leaves_a_secret_behind(
    cluster: Cluster, admin_client: Client, sql: Connection
) -> None:
    victim = await settle(admin_client, "headers")
    tried: set[str] = set()
    names: set[str] = set()
    admin_client.session.headers.update(HEADERS)
    for attempt in planted(victim):
        reply = await send(admin_client, attempt)
        assert reply.status < 500, (attempt, reply)
        if attempt.operation == "context_set_secret_policy":
            # What comes after one that allows secrets would store them.
            assert (await admin_client.call("PUT", POLICY, {"policy": "mask"})).status < 300
        tried.add(attempt.operation)
        names.update(name for name, value in attempt.arguments.items() if value == SECRET)
    assert tried == OPERATIONS.keys()
    assert len(names) > 20, names
    assert await everywhere(sql, SECRET) == []
    assert SECRET not in logs(cluster)


async def test_a_secret_as_idempotency_key_is_known_by_its_digest(
    admin_client: Client, sql: Connection
) -> None:
    first, again = [await write(admin_client, note("m", "plain"), KEYED) for _ in range(2)]
    assert first.status == 201
    assert first.body == again.body
    assert first.body["masked"] == [{"field": "Idempotency-Key", "kind": "gitlab token"}]
    other = await write(admin_client, note("m", "something else"), KEYED)
    assert other.status == 422
    assert SECRET not in json.dumps(other.body)
    assert await everywhere(sql, SECRET) == []


@pytest.mark.parametrize("path", [WRITE, "/api/context/keys"])
async def test_a_secret_as_idempotency_key_is_refused_where_the_tenant_wishes(
    admin_client: Client, path: str
) -> None:
    await admin_client.call("PUT", POLICY, {"policy": "refuse"})
    body = note("m", "plain") if path == WRITE else {"name": "ci"}
    answer = await admin_client.call("POST", path, body, headers=KEYED)
    assert answer.status == 422
    assert [error["field"] for error in answer.body["errors"]] == ["Idempotency-Key"]


@pytest.mark.parametrize("name", ["context", "cache", "agent_memory"])
async def test_a_request_id_that_is_a_secret_is_replaced(cluster: Cluster, name: str) -> None:
    async with cluster.client("admin", name) as client:
        for given, kept in ((SECRET, False), (f"run-7.{SECRET}", False), ("run-7.step:2", True)):
            answer = await client.get("/nowhere", headers={"x-request-id": given})
            assert (answer.headers["x-request-id"] == given) is kept


async def write(client: Client, body: Any, headers: dict[str, str]) -> Any:
    return await client.call("POST", WRITE, body, headers=headers)
