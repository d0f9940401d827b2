"""A long session through the gateway: what is sent is shorter, and its host notices nothing."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from services.context.gateway.phantom import NAMES
from tests.support.calls import until
from tests.support.cluster import Cluster
from tests.support.clusters import spare
from tests.support.gateway.agent import PATHS, Api, Host
from tests.support.gateway.said import APIS, Do, Part, Say
from tests.support.gateway.serving import Reply, replied, serving

HANDLE = re.compile(r"\[memory (m-[0-9a-f]{12})\]")
_OF = dict(zip(("messages", "chat", "responses"), APIS, strict=True))
TURNS = 60


class Model:
    """Says what its script tells it, and keeps the requests."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.script: list[list[Part]] = []
        self.streams = False
        self.api: Api = "messages"

    async def handle(self, path: str, body: bytes) -> Reply:
        self.requests.append(body)
        if path.endswith("count_tokens"):
            return Reply(200, "application/json", [b'{"input_tokens": 1}'])
        parts = self.script.pop(0) if self.script else [Say("Next.")]
        return replied(_OF[self.api], parts, len(self.requests), streams=self.streams)

    @property
    def last(self) -> str:
        return self.requests[-1].decode()


Ask = Callable[..., Awaitable[str]]


@pytest.fixture(scope="module")
async def model() -> Model:
    return Model()


@pytest.fixture(scope="module")
async def doors(cluster: Cluster, model: Model) -> AsyncIterator[list[str]]:
    """Two replicas."""
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(model.handle))
        settings = {
            "SCRUBJAY_GATEWAY_ANTHROPIC_URL": url,
            "SCRUBJAY_GATEWAY_OPENAI_URL": url,
            "SCRUBJAY_GATEWAY_UNPAGED_SHARE": "0",
        }
        services = [await stack.enter_async_context(spare(cluster, "context", **settings)) for _ in range(2)]
        yield [service.url for service in services]


@pytest.fixture
async def ask(cluster: Cluster, doors: list[str], model: Model) -> AsyncIterator[Ask]:
    """Asks both replicas in turns."""
    model.requests.clear()
    model.script, model.streams = [], False
    async with aiohttp.ClientSession() as session:

        async def asked(host: Host, name: str, **options: Any) -> str:
            model.api, model.streams = host.api, bool(options.get("stream"))
            path = PATHS[host.api] + options.pop("more", "")
            headers = {"X-Scrubjay-Key": options.pop("key", cluster.tokens.write), "X-Scrubjay-Session": name}
            headers |= options.pop("headers", {})
            door = doors[len(model.requests) % 2]
            async with session.post(door + path, data=host.body(**options), headers=headers) as answer:
                text = await answer.text()
                assert answer.status == 200, text
                return text

        yield asked


def _same(before: bytes, after: bytes) -> int:
    return next(
        (n for n, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(before)
    )


async def _until_paged(ask: Ask, model: Model, host: Host, name: str) -> str:
    """A handle, once something is sent shorter."""
    for _ in range(TURNS):
        host.turn()
        await ask(host, name)
        if found := HANDLE.search(model.last):
            return found[1]
    raise AssertionError("nothing was ever sent shorter")


@pytest.mark.parametrize("api", ["messages", "chat", "responses"])
async def test_a_long_session_is_sent_shorter(ask: Ask, model: Model, api: Api) -> None:
    host, whole, batches = Host(api), 0, 0
    for _ in range(TURNS):
        host.turn()
        await ask(host, f"long-{api}")
        whole += len(host.body())
    assert all(name in model.last for name in NAMES)
    sent = sum(map(len, model.requests))
    assert sent < 0.8 * whole
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        # But for the brackets at the end.
        batches += _same(before, after) < len(before) - 4
    assert 1 <= batches <= TURNS // 4
    assert _told(host.results[-1]) in model.last
    assert _told(host.results[0]) not in model.last


def _told(text: str) -> str:
    """As it stands in a request."""
    return json.dumps(text)[1:-1]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("api", ["messages", "chat", "responses"])
async def test_a_fault_stays_between_model_and_gateway(
    ask: Ask, model: Model, api: Api, streams: bool
) -> None:
    host, name = Host(api), f"fault-{api}-{streams}"
    handle = await _until_paged(ask, model, host, name)
    number = int(re.search(rf"{handle}\].*?of command (\d+)", model.last)[1])  # type: ignore[index]
    turn = len(host.results)
    goes_on: list[Part] = [Say("Now I know it."), Do(f"call_{turn}", "run", {"command": f"run {turn}"})]
    model.script = [[Do("call_x", "memory_fault", {"handle": handle})], goes_on]
    count = len(model.requests)
    answer = await ask(host, name, stream=streams)
    assert "memory_fault" not in answer
    assert len(model.requests) == count + 2
    told = _told(host.results[number])
    assert told not in model.requests[-2].decode()
    assert told in model.last
    # What the host never saw stands in its next request, too.
    host.turn("Now I know it.")
    await ask(host, name)
    assert told in model.last
    assert model.last.count('"call_x"') == 2


async def test_a_question_finds_lines_that_are_not_shown(ask: Ask, model: Model) -> None:
    host = Host("messages")
    await _until_paged(ask, model, host, "query")
    turn = len(host.results)
    goes_on: list[Part] = [Say("Good."), Do(f"call_{turn}", "run", {"command": f"run {turn}"})]
    model.script = [[Do("q", "memory_query", {"question": "RESULT-0"})], goes_on]
    await ask(host, "query")
    assert "RESULT-0 of command 0" in model.last
    told = json.loads(model.last)["messages"][-1]["content"][0]["content"]
    host.turn("Good.")
    await ask(host, "query")
    assert _told(told) in model.last


async def test_tokens_are_counted_of_what_would_be_sent(ask: Ask, model: Model) -> None:
    host = Host("messages")
    await _until_paged(ask, model, host, "counted")
    sent = model.last
    await ask(host, "counted", more="/count_tokens")
    assert model.last == sent


async def test_a_session_is_its_keys_own(ask: Ask, model: Model, cluster: Cluster) -> None:
    host = Host("messages")
    await _until_paged(ask, model, host, "shared-name")
    async with cluster.client("admin") as admin:
        made = await admin.post("/api/context/keys", {"name": "another", "access": "write"})
    short = Host("messages")
    for _ in range(3):
        short.turn()
    await ask(short, "shared-name", key=made.body["token"])
    assert not HANDLE.search(model.last)
    await ask(short, "shared-name")
    assert HANDLE.search(model.last)


async def test_paging_can_be_refused(ask: Ask, model: Model) -> None:
    host = Host("messages")
    await _until_paged(ask, model, host, "refused")
    await ask(host, "refused", headers={"X-Scrubjay-Paging": "off"})
    assert model.requests[-1] == host.body()
    editing = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    await ask(host, "refused", context_management=editing)
    assert model.requests[-1] == host.body(context_management=editing)


async def test_costs_say_which_sessions_are_paged(ask: Ask, model: Model, cluster: Cluster) -> None:
    host = Host("chat")
    host.turn()
    await ask(host, "billed")
    async with cluster.client() as client:

        async def kinds() -> None:
            answer = await client.get("/api/context/costs/calls?session=billed")
            assert [row["kind"] for row in answer.body["data"]] == ["gateway_paged"]

        await until(kinds)


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","tools":' + b"[" * 50_000 + b"]" * 50_000 + b',"messages":[]}',
        b'{"model":"m","tools":[{"name":"a"}],"messages":[{"role":5,"content":{"a":1}}]}',
        b'{"model":"m","tools":[{"name":"a"}],"messages":[{"role":"user","content":"\xff\xfe"}]}',
        b'{"model":"m","tools":[{"name":"a"}],"messages":"x","messages":[]}',
        b'{"model":"m","tools":[{"name":"a"}],"messages"',
        b"not JSON at all",
        b"",
    ],
)
async def test_what_is_no_request_is_the_providers_to_refuse(
    cluster: Cluster, doors: list[str], model: Model, body: bytes
) -> None:
    model.requests.clear()
    headers = {"X-Scrubjay-Key": cluster.tokens.write, "X-Scrubjay-Session": "hostile"}
    async with (
        aiohttp.ClientSession(doors[0], headers=headers) as session,
        session.post(PATHS["messages"], data=body) as answer,
    ):
        assert answer.status == 200
    assert model.requests == [body] or b"memory_fault" in model.requests[0]
