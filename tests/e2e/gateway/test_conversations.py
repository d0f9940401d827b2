"""Three hundred conversations pass in the bytes that came, both ways."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.cluster import Cluster
from tests.support.clusters import spare
from tests.support.gateway.conversations import Exchange, conversation
from tests.support.gateway.raw import RawProvider, posted, providing, sent, unchunked
from tests.support.gateway.sessions import Api

_EACH = 100


@pytest.fixture(scope="module")
async def provider() -> AsyncIterator[RawProvider]:
    async with providing(RawProvider()) as running:
        yield running


@pytest.fixture(scope="module")
async def door(cluster: Cluster, provider: RawProvider) -> AsyncIterator[str]:
    urls = {"SCRUBJAY_GATEWAY_ANTHROPIC_URL": provider.url, "SCRUBJAY_GATEWAY_OPENAI_URL": provider.url}
    async with spare(cluster, "context", **urls, SCRUBJAY_GATEWAY_PAGING="off") as service:
        yield service.url


@pytest.mark.parametrize("api", ["messages", "chat", "responses"])
async def test_conversations_keep_their_bytes(
    cluster: Cluster, door: str, provider: RawProvider, api: Api
) -> None:
    for seed in range(_EACH):
        for exchange in conversation(seed, api):
            await _keeps(door, cluster.tokens.write, provider, exchange, f"{api} {seed}")


async def _keeps(door: str, key: str, provider: RawProvider, exchange: Exchange, name: str) -> None:
    provider.requests.clear()
    provider.pieces = exchange.answer.pieces
    head, body, ended = unchunked(await sent(door, posted(exchange.path, key, exchange.request)))
    (request,) = provider.requests
    assert request.body == exchange.request, name
    assert request.line.split(" ")[1] == "/v1" + exchange.path.partition("/v1")[2]
    assert int(head.split(b" ")[1]) == exchange.answer.status, name
    assert (body, ended) == (exchange.answer.body, exchange.answer.complete), name
