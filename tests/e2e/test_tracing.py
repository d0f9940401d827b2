"""What operators see: request ids over both hops, metrics with bounded labels, logs without content."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from local.database import Database
from tests.support.calls import lesson, nine, note, question, until, within
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import locked, spare
from tests.support.recorder import Recorder

REQUEST_ID = "x-request-id"


@pytest.fixture(scope="module")
async def cache(cluster: Cluster) -> AsyncIterator[Recorder]:
    async with Recorder(cluster.url("cache")) as recorder:
        yield recorder


@pytest.fixture(scope="module")
async def agent(cluster: Cluster, cache: Recorder) -> AsyncIterator[Client]:
    """A caller of a context service that reaches the cache service through the recorder."""
    async with (
        spare(cluster, "context", SCRUBJAY_CACHE_URL=cache.url) as service,
        Client(service.url, cluster.tokens.write) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/psychic-cache/write", note("traced", "a finding")),
        ("POST", "/api/context/assemble", question("traced")),
        ("GET", "/api/psychic-cache/nowhere/stats", None),
    ],
)
async def test_a_request_id_goes_through_both_hops(
    agent: Client, cache: Recorder, method: str, path: str, body: object
) -> None:
    given = f"trace-{uuid4()}"
    answer = await agent.call(method, path, body, headers={REQUEST_ID: given})
    assert _ids(answer) == [given]
    assert cache.headers[REQUEST_ID] == given
    for unusable in (None, "two words", "x" * 200):
        answer = await agent.call(method, path, body, headers={REQUEST_ID: unusable} if unusable else {})
        (made,) = _ids(answer)
        assert re.fullmatch("[0-9a-f]{32}", made)
        assert cache.headers[REQUEST_ID] == made


def _ids(answer: Answer) -> list[str]:
    return [value for name, value in answer.headers.items() if name.lower() == REQUEST_ID]


async def test_a_failure_is_found_in_the_logs_of_both_services(cluster: Cluster, database: Database) -> None:
    given = f"trace-{uuid4()}"
    async with cluster.client("write") as agent, locked(database, "cache.psychic_cache"):
        headers = within(300, **{REQUEST_ID: given})
        answer = await agent.post("/api/psychic-cache/write", note("traced", "never"), headers=headers)
        assert answer.status == 503

    async def logged() -> None:
        for name in ("context", "cache"):
            assert given in cluster.replicas[name][0].log.read_text(), name

    await until(logged)


async def test_metrics_have_no_label_from_a_path(cluster: Cluster) -> None:
    async with cluster.client("write") as agent, cluster.client("none", "cache") as stranger:
        for mission in ("label-one", "label-two", "label-%2E%2E", "label-é"):
            await agent.post("/api/psychic-cache/write", note(mission, "a finding"))
            for path in (
                f"/api/psychic-cache/{mission}/entries",
                f"/api/psychic-cache/{mission}/stats",
                f"/api/psychic-cache/checkpoint/{mission}",
                f"/api/psychic-cache/{mission}/no/such/route",
                f"/api/timeline?mission={mission}",
                f"/{mission}",
                f"/internal/{mission}",
            ):
                await agent.get(path)
                await stranger.get(path)
    for name in cluster.replicas:
        async with cluster.client(None, name) as probe:
            page = (await probe.get("/metrics")).body
        assert "label-" not in page
        routes = set(re.findall(r'scrubjay_http_requests_total\{[^}]*route="([^"]*)"', page))
        assert routes >= {"context": {"/api/timeline", "/api/psychic-cache"}}.get(name, {"/readyz"})
        assert len(routes) < 80, routes


async def test_no_content_reaches_a_log(cluster: Cluster, database: Database) -> None:
    canary = f"canary{uuid4().hex}"
    async with cluster.client("write") as agent:
        await _says_everywhere(agent, canary)
        async with locked(database, "cache.psychic_cache"):
            late = await agent.post("/api/psychic-cache/write", note("quiet", canary), headers=within(300))
            assert late.status == 503
    async with cluster.client(canary) as stranger:
        assert (await stranger.get("/api/timeline")).status == 401
    logs = [service.log for service in cluster.all]
    assert all(log.stat().st_size for log in logs)
    secrets = [canary, cluster.tokens.cache, cluster.tokens.write, _password(database)]
    assert _found(logs, secrets) == []


async def _says_everywhere(agent: Client, canary: str) -> None:
    for body in nine("quiet"):
        said = {**body, "content": f"{body['content']} {canary}", "tags": [canary]}
        assert (await agent.post("/api/psychic-cache/write?wait=indexed", said)).status == 201
    for body in (lesson("quiet", canary), lesson("quiet", f"{canary} again", private=True)):
        assert (await agent.post("/api/agent-memory/commit", body)).status == 201
    asked = {"mission_id": "quiet", "query": canary}
    assert (await agent.post("/api/psychic-cache/query", asked)).status == 200
    assert (
        await agent.post("/api/agent-memory/query", {"agent_name": "quiet", "query": canary})
    ).status == 200
    assembled = await agent.post("/api/context/assemble", {**question("quiet", canary), "caller": "quiet"})
    assert canary in assembled.body["context_block"]
    refused = [
        note("quiet", canary, unknown=canary),
        note("quiet", canary, context_type=canary),
        note("quiet", canary + "\x00"),
        note("quiet", canary, occurred_at=canary),
        note("quiet", canary, ttl_hours=canary),
        note("quiet", canary * 5_000),
        {"content": canary},
    ]
    for body in refused:
        answer = await agent.post("/api/psychic-cache/write", body)
        assert answer.status in (400, 422), answer
    for path in (
        f"/api/psychic-cache/{canary}/stats",
        f"/api/psychic-cache/checkpoint/{canary}",
        f"/{canary}",
    ):
        assert (await agent.get(path)).status == 404


def _password(database: Database) -> str:
    match = re.search(r"//[^:]+:([^@]+)@", database.admin)
    assert match
    return match[1]


def _found(logs: list[Path], secrets: list[str]) -> list[str]:
    return [
        f"{log.name}: {line}"
        for log in logs
        for line in log.read_text().splitlines()
        if any(secret in line for secret in secrets)
    ]
