"""The official SDKs notice nothing of the gateway but its refusals, which they can read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anthropic
import openai
import pytest

from tests.support.cluster import Cluster
from tests.support.clusters import spare
from tests.support.gateway.hosts import asked
from tests.support.gateway.said import APIS, Api, Do, Messages, Say, Think
from tests.support.gateway.serving import Provider, Reply, replied, serving

PARTS = [
    Think("so"),
    Say("Ü 🙂 — reads both"),
    Do("call_1", "read", {"path": "é.py"}),
    Do("call_2", "read", {}),
]
LARGEST = 100_000


class Running(Provider):
    """Gives the same answer until it is told another."""

    url = ""
    reply: Reply

    async def handle(self, path: str, body: bytes) -> Reply:
        self.requests.append(body)
        return self.reply


@pytest.fixture(scope="module")
async def provider() -> AsyncIterator[Running]:
    running = Running()
    async with serving(running.handle) as running.url:
        yield running


@pytest.fixture(scope="module")
async def door(cluster: Cluster, provider: Running) -> AsyncIterator[str]:
    names = ("SCRUBJAY_GATEWAY_ANTHROPIC_URL", "SCRUBJAY_GATEWAY_OPENAI_URL")
    settings = {**dict.fromkeys(names, provider.url), "SCRUBJAY_GATEWAY_BODY_BYTES": str(LARGEST)}
    settings["SCRUBJAY_GATEWAY_UNPAGED_SHARE"] = "0"
    async with spare(cluster, "context", **settings) as service:
        yield service.url


@pytest.mark.parametrize("paging", ["off", "on"])
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("api", APIS)
async def test_an_sdk_has_the_same_answer(
    cluster: Cluster, door: str, provider: Running, api: Api, streams: bool, paging: str
) -> None:
    provider.requests.clear()
    provider.reply = replied(api, PARTS, streams=streams)
    direct = await asked(provider.url, api, streams=streams)
    address = f"{door}/gateway/{'anthropic' if api is Messages else 'openai'}"
    headers = {"X-Scrubjay-Key": cluster.tokens.write, "X-Scrubjay-Paging": paging}
    through = await asked(address, api, streams=streams, headers=headers)
    assert through == direct
    assert (provider.requests[1] == provider.requests[0]) is (paging == "off")
    assert (b"memory_fault" in provider.requests[1]) is (paging == "on")
    assert "call_2" in str(through)


@pytest.mark.parametrize("api", APIS)
async def test_an_sdk_notices_a_stream_that_breaks_off(
    cluster: Cluster, door: str, provider: Running, api: Api
) -> None:
    whole = replied(api, PARTS, streams=True)
    assert not isinstance(whole.pieces, AsyncIterator)
    provider.reply = whole._replace(pieces=whole.pieces[: len(whole.pieces) // 2], breaks=True)
    raised = []
    gateway = f"{door}/gateway/{'anthropic' if api is Messages else 'openai'}"
    for address, headers in ((provider.url, {}), (gateway, {"X-Scrubjay-Key": cluster.tokens.write})):
        with pytest.raises(Exception) as caught:
            await asked(address, api, streams=True, headers=headers)
        raised.append((caught.type, str(caught.value)))
    assert raised[1] == raised[0]


async def test_sdks_read_refusals(cluster: Cluster, door: str, provider: Running) -> None:
    provider.requests.clear()
    with pytest.raises(anthropic.AuthenticationError, match="X-Scrubjay-Key"):
        await asked(f"{door}/gateway/anthropic", Messages, streams=False)
    with pytest.raises(openai.AuthenticationError, match="X-Scrubjay-Key: the token is not valid"):
        await asked(f"{door}/gateway/openai", APIS[1], streams=True, headers={"X-Scrubjay-Key": "sj_none"})
    with pytest.raises(openai.PermissionDeniedError, match="write"):
        await asked(
            f"{door}/gateway/openai", APIS[2], streams=False, headers={"X-Scrubjay-Key": cluster.tokens.read}
        )
    assert provider.requests == []


@pytest.mark.parametrize("size", [LARGEST, 20_000_000])
async def test_an_sdk_reads_that_its_request_is_too_large(
    cluster: Cluster, door: str, provider: Running, size: int
) -> None:
    provider.requests.clear()
    own: Any = {"api_key": "k", "max_retries": 0}
    own["default_headers"] = {"X-Scrubjay-Key": cluster.tokens.write}
    async with anthropic.AsyncAnthropic(base_url=f"{door}/gateway/anthropic", **own) as client:
        with pytest.raises(anthropic.APIStatusError) as refused:
            await client.messages.create(
                model="claude", max_tokens=9, messages=[{"role": "user", "content": "x" * size}]
            )
    assert refused.value.status_code == 413
    assert provider.requests == []
