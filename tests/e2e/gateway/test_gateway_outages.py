"""Whatever of ours is away, a host's session goes on; what is billed is counted, and no key of a provider is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from local.process import free_port
from local.services import Service
from tests.conftest import Servers
from tests.support.calls import until
from tests.support.cluster import Cluster
from tests.support.clusters import own_cluster
from tests.support.fakes.fake_collector import FakeCollector
from tests.support.gateway.agent import Host
from tests.support.gateway.raw import RawProvider, chunked, posted, providing, sent, unchunked, whole

PATHS = {"anthropic": "/gateway/anthropic/v1/messages", "openai": "/gateway/openai/v1/chat/completions"}
CANARY = "sk-ant-api03-canary0123456789canary0123456789"
SESSION = "4f6d3f3e-0000-4000-8000-0123456789ab"
ASKED = json.dumps(
    {
        "model": "claude-sonnet-4-5",
        "metadata": {"user_id": f"user_a_account_b_session_{SESSION}"},
        "messages": [{"role": "user", "content": "Hello"}],
    }
).encode()
STREAM = [
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n",
    *chunked(
        b'event: message_start\ndata: {"type":"message_start","message":{"model":"claude-sonnet-4-5","usage":'
        b'{"input_tokens":11,"cache_read_input_tokens":700,"cache_creation_input_tokens":30,"output_tokens":1}}}\n\n',
        b'event: message_delta\ndata: {"type":"message_delta","delta":{},"usage":{"output_tokens":55}}\n\n',
    ),
]


@dataclass
class Gate:
    cluster: Cluster
    door: Service
    key: str

    async def asks(
        self, api: str = "anthropic", key: str | None = None, body: bytes = ASKED, session: str = ""
    ) -> int:
        named = (f"x-scrubjay-session: {session}",) if session else ()
        keys = (f"x-api-key: {CANARY}", f"authorization: Bearer {CANARY}")
        request = posted(PATHS[api], key or self.key, body, *keys, *named)
        head, _, ended = unchunked(await sent(self.door.url, request))
        assert ended
        return int(head.split(b" ")[1])


@pytest.fixture(scope="module")
async def provider() -> AsyncIterator[RawProvider]:
    async with providing(RawProvider(STREAM)) as running:
        yield running


@pytest.fixture(scope="module")
def collector() -> Iterator[FakeCollector]:
    with FakeCollector(free_port()) as collector:
        yield collector


@pytest.fixture(scope="module")
async def gate(
    servers: Servers,
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
    provider: RawProvider,
    collector: FakeCollector,
) -> AsyncIterator[Gate]:
    folder: Path = tmp_path_factory.mktemp("gateway")
    names = ("SCRUBJAY_GATEWAY_ANTHROPIC_URL", "SCRUBJAY_GATEWAY_OPENAI_URL")
    urls = {
        **dict.fromkeys(names, provider.url),
        "SCRUBJAY_GATEWAY_UNPAGED_SHARE": "0",
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
    }
    async with own_cluster("gateway", servers, template, folder, settings_of={"context": urls}) as cluster:
        async with cluster.client("admin") as admin:
            made = await admin.post("/api/context/keys", {"name": "host", "access": "write"})
            assert made.status == 201, made
        yield Gate(cluster, cluster.replicas["context"][0], made.body["token"])


async def test_what_is_billed_is_counted(gate: Gate, provider: RawProvider) -> None:
    assert await gate.asks() == 200
    usage = {"prompt_tokens": 900, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 640}}
    body = json.dumps({"model": "gpt-5", "usage": usage}).encode()
    provider.pieces = [whole(200, body, "content-type: application/json")]
    assert await gate.asks("openai") == 200
    provider.pieces = STREAM

    async def rows() -> list[dict[str, object]]:
        async with gate.cluster.client("admin") as admin:
            found: list[dict[str, object]] = (
                await admin.get(f"/api/context/costs/calls?session={SESSION}")
            ).body["data"]
        assert len(found) == 2, found
        return found

    names = (
        "model",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "session_id",
    )
    counted = sorted([row[name] for name in names] for row in await until(rows))
    assert counted == [["claude-sonnet-4-5", 11, 55, 700, 30, SESSION], ["gpt-5", 260, 20, 640, 0, SESSION]]


async def test_no_key_of_a_provider_is_kept(gate: Gate, servers: Servers, collector: FakeCollector) -> None:
    assert await gate.asks() == 200
    host = Host("messages")
    host.turn()
    assert await gate.asks(body=host.body(), session="canary") == 200

    async def are_traced() -> None:
        assert any("127.0.0.1" in str(span) for span in collector.spans)

    await until(are_traced)
    assert CANARY not in str(collector.spans)
    assert await gate.asks(key="wrong") == 401
    assert await _found(servers.postgres.dsn("e2e_gateway"), SESSION)
    assert await _found(servers.postgres.dsn("e2e_gateway"), CANARY) == []
    async with gate.cluster.client("admin") as admin:
        metrics = await admin.get("/metrics")
    assert CANARY not in str(metrics.body)
    for log in gate.door.log.parent.glob("*.log"):
        assert CANARY not in log.read_text()


async def test_without_postgres_sessions_go_on(gate: Gate, servers: Servers, provider: RawProvider) -> None:
    assert await gate.asks() == 200
    servers.postgres.sigstop()
    try:
        await asyncio.sleep(2.5)  # longer than a key is trusted
        provider.requests.clear()
        assert [await gate.asks(), await gate.asks("openai"), await gate.asks(key="sj_never-seen")] == [
            200
        ] * 3
        assert [request.body for request in provider.requests] == [ASKED] * 3
    finally:
        servers.postgres.sigcont()

    async def known_again() -> None:
        assert await gate.asks(key="sj_never-seen") == 401

    await until(known_again)


async def test_without_postgres_what_was_sent_shorter_stays_shorter(
    gate: Gate, servers: Servers, provider: RawProvider
) -> None:
    host = Host("messages")
    while not provider.requests or b"[memory m-" not in provider.requests[-1].body:
        host.turn()
        assert await gate.asks(body=host.body(), session="paged") == 200
    servers.postgres.sigstop()
    try:
        await asyncio.sleep(2.5)
        host.turn()
        assert await gate.asks(body=host.body(), session="paged") == 200
        assert b"[memory m-" in provider.requests[-1].body
        assert await gate.asks(body=host.body(), session="never-seen") == 200
        assert provider.requests[-1].body == host.body()
    finally:
        servers.postgres.sigcont()

    async def knows_sessions_again() -> None:
        assert await gate.asks(key="sj_never-seen") == 401

    await until(knows_sessions_again)


async def test_without_redis_and_the_owners_sessions_go_on(gate: Gate, servers: Servers) -> None:
    owners = [gate.cluster.replicas[name][0] for name in ("cache", "agent_memory")]
    servers.redis.sigstop()
    for owner in owners:
        owner.sigstop()
    try:
        assert [await gate.asks(), await gate.asks("openai")] == [200] * 2
    finally:
        servers.redis.sigcont()
        for owner in owners:
            owner.sigcont()


async def _found(superuser: str, word: str) -> list[str]:
    """The tables that hold the word."""
    c = await asyncpg.connect(superuser)
    try:
        tables = await c.fetch(
            "select format('%I.%I', table_schema, table_name) as name from information_schema.tables "
            "where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')"
        )
        # Names of tables are the database's own.
        counts = [
            await c.fetchval(f"select count(*) from {row['name']} t where t::text like $1", f"%{word}%")
            for row in tables
        ]
        return [row["name"] for row, count in zip(tables, counts, strict=True) if count]
    finally:
        await c.close()
