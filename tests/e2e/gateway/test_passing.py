"""What hosts send reaches the provider, and what it answers the host, in the same bytes."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.support.cluster import Cluster
from tests.support.clusters import spare
from tests.support.gateway.raw import RawProvider, chunked, posted, providing, sent, unchunked, whole

ANTHROPIC, OPENAI = "/gateway/anthropic/v1/messages", "/gateway/openai/v1/chat/completions"
CANARY = "sk-ant-canary-0123456789"
BODY = b'{ "model":"claude","messages" :[{"role":"u","content":"\xc3\xa9\\u00e9 \\ud83d\\ude00"}],\n\t"stream":true }'
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_1\r\nset-cookie: a=1\r\n"
    b"set-cookie: b=2\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
)


@pytest.fixture(scope="module")
async def provider() -> AsyncIterator[RawProvider]:
    async with providing(RawProvider()) as running:
        yield running


@pytest.fixture(scope="module")
async def door(cluster: Cluster, provider: RawProvider) -> AsyncIterator[str]:
    urls = {"SCRUBJAY_GATEWAY_ANTHROPIC_URL": provider.url, "SCRUBJAY_GATEWAY_OPENAI_URL": provider.url}
    async with spare(cluster, "context", **urls, SCRUBJAY_GATEWAY_PAGING="off") as service:
        yield service.url


@pytest.fixture(autouse=True)
def anew(provider: RawProvider) -> None:
    provider.requests.clear()
    provider.pieces, provider.pause, provider.stays, provider.gone = (), 0.0, False, 0


async def test_a_request_goes_on_as_it_came(cluster: Cluster, door: str, provider: RawProvider) -> None:
    provider.pieces = [whole(200, b"{}", "content-type: application/json")]
    given = (
        f"x-api-key: {CANARY}",
        "anthropic-version: 2023-06-01",
        "anthropic-beta: a,b",
        "X-Stainless-Retry-Count: 0",
        "Accept-Encoding: gzip, br",
        "Content-Type: application/json",
        "Cookie: c=1",
        "X-Scrubjay-Session: s1",
        "X-Forwarded-For: 10.1.2.3",
        "TE: trailers",
    )
    await sent(door, posted(f"{ANTHROPIC}?beta=true&x=%2F", cluster.tokens.write, BODY, *given))
    (request,) = provider.requests
    assert request.line == "POST /v1/messages?beta=true&x=%2F HTTP/1.1"
    assert request.body == BODY
    assert request.fields == [
        ("host", provider.url.removeprefix("http://")),
        *((name.lower(), value) for name, _, value in (each.partition(": ") for each in given[:7])),
        ("content-length", str(len(BODY))),
    ]


async def test_an_answer_comes_back_as_it_was(cluster: Cluster, door: str, provider: RawProvider) -> None:
    body = gzip.compress(b'{"a": 1}')
    fields = (
        "Content-Encoding: gzip",
        "date: Thu, 01 Jan 1970 00:00:00 GMT",
        "retry-after: 7",
        "x-a: 1",
        "x-a: 2",
    )
    provider.pieces = [whole(529, body, *fields)]
    head, said, ended = unchunked(await sent(door, posted(OPENAI, cluster.tokens.write, BODY)))
    lines = head.decode().lower().split("\r\n")
    assert lines[0].startswith("http/1.1 529")
    assert [line for line in lines[1:] if not line.startswith("connection")] == [
        *(each.lower() for each in fields),
        f"content-length: {len(body)}",
    ]
    assert (said, ended) == (body, True)


async def test_a_stream_comes_as_it_is_made(cluster: Cluster, door: str, provider: RawProvider) -> None:
    events = [f'event: a\ndata: {{"n": {n}}}\n\n'.encode() for n in range(5)]
    provider.pieces, provider.pause = [HEAD, *chunked(*events)], 0.1
    headers = {"X-Scrubjay-Key": cluster.tokens.write}
    async with (
        aiohttp.ClientSession(door, headers=headers) as host,
        host.post(ANTHROPIC, data=BODY) as answer,
    ):
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers.getall("set-cookie") == ["a=1", "b=2"]
        assert [piece async for piece in answer.content.iter_any()] == events


@pytest.mark.parametrize("cut", [1, 3, 5])
async def test_half_a_stream_is_no_whole_one(
    cluster: Cluster, door: str, provider: RawProvider, cut: int
) -> None:
    events = [b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n", b"data: 4\n\n"]
    provider.pieces = [HEAD, *chunked(*events)[: cut - 1]]
    _, said, ended = unchunked(await sent(door, posted(ANTHROPIC, cluster.tokens.write, BODY)))
    assert (said, ended) == (b"".join(events[: cut - 1]), False)


async def test_half_a_body_is_no_whole_one(cluster: Cluster, door: str, provider: RawProvider) -> None:
    provider.pieces = [whole(200, b"x" * 100)[:-50]]
    _, said, ended = unchunked(await sent(door, posted(ANTHROPIC, cluster.tokens.write, BODY)))
    assert (said, ended) == (b"x" * 50, False)


async def test_a_provider_that_hangs_up_at_once_gives_no_answer(
    cluster: Cluster, door: str, provider: RawProvider
) -> None:
    assert await sent(door, posted(ANTHROPIC, cluster.tokens.write, BODY)) == b""
    assert len(provider.requests) == 1


async def test_a_host_that_leaves_ends_the_call(cluster: Cluster, door: str, provider: RawProvider) -> None:
    provider.pieces, provider.stays = [HEAD, *chunked(b"data: 1\n\n")[:1]], True
    headers = {"X-Scrubjay-Key": cluster.tokens.write}
    async with (
        aiohttp.ClientSession(door, headers=headers) as host,
        host.post(ANTHROPIC, data=BODY) as answer,
    ):
        assert await answer.content.readany() == b"data: 1\n\n"
        assert not provider.gone
    async with asyncio.timeout(5):
        while not provider.gone:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("path", "key", "status", "kind"),
    [
        (ANTHROPIC, None, 401, "authentication_error"),
        (ANTHROPIC, "nobody", 401, "authentication_error"),
        (OPENAI, "read", 403, "permission_error"),
        ("/gateway/other/v1/messages", "write", 404, "not_found_error"),
        ("/gateway/anthropic/admin", "write", 404, "not_found_error"),
        ("/gateway/anthropic%2Fv1/messages", "write", 404, "not_found_error"),
    ],
)
async def test_refusals_are_read_by_sdks(
    cluster: Cluster, door: str, provider: RawProvider, path: str, key: str | None, status: int, kind: str
) -> None:
    token = key and getattr(cluster.tokens, key, key)
    head, said, ended = unchunked(await sent(door, posted(path, token, BODY)))
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"x-scrubjay-error" in head
    assert json.loads(said)["error"]["type"] == kind
    assert ended
    assert provider.requests == []


async def test_a_name_of_a_session_that_is_none_is_refused(cluster: Cluster, door: str) -> None:
    request = posted(ANTHROPIC, cluster.tokens.write, BODY, f"X-Scrubjay-Session: {'x' * 201}")
    _, said, _ = unchunked(await sent(door, request))
    assert "X-Scrubjay-Session" in json.loads(said)["error"]["message"]


async def test_what_is_too_large_is_refused(cluster: Cluster, provider: RawProvider) -> None:
    settings = {"SCRUBJAY_GATEWAY_ANTHROPIC_URL": provider.url, "SCRUBJAY_GATEWAY_BODY_BYTES": "2000"}
    async with spare(cluster, "context", **settings) as service:
        head, _, _ = unchunked(await sent(service.url, posted(ANTHROPIC, cluster.tokens.write, b"x" * 2_001)))
    assert head.startswith(b"HTTP/1.1 413 ")


async def test_a_provider_that_is_away_is_named(cluster: Cluster) -> None:
    async with spare(cluster, "context", SCRUBJAY_GATEWAY_ANTHROPIC_URL="http://127.0.0.1:9") as service:
        head, said, _ = unchunked(await sent(service.url, posted(ANTHROPIC, cluster.tokens.write, BODY)))
    assert head.startswith(b"HTTP/1.1 503 ")
    assert "anthropic cannot be reached" in json.loads(said)["error"]["message"]
