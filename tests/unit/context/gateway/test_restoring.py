"""A conversation over many answers: the host never sees our calls, and the provider always finds them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from services.context.gateway.answering import answer
from services.context.gateway.phantom import NAMES, call_of, with_tools
from services.context.gateway.restoring.hidden import Hidden, Round, hidden
from services.context.gateway.restoring.putting_back import count_of, put_back
from tests.support.gateway.said import APIS, Api, Chat, Do, Json, Messages, Part, Responses, Say, Think
from tests.support.gateway.serving import Remembering

Script = list[list[list[Part]]]
"""Answers, each of rounds."""


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Rounds of our calls, and one at the end for the host. Ids are unique; texts and thoughts repeat."""
    count = 0

    def part(kind: str) -> Part:
        nonlocal count
        count += 1
        match kind:
            case "ours":
                return Do(
                    f"p{count}", draw(st.sampled_from(sorted(NAMES))), {"handle": "m-1", "question": "é?"}
                )
            case "host's":
                return Do(f"h{count}", "read", {"path": f"{count}.py"})
            case "thought":
                return Think(f"t{count}")
        return Say(draw(st.sampled_from(["Done.", "I look.", "é"])))

    def seen() -> list[Part]:
        kinds = draw(st.sampled_from([[], ["thought"], ["text"], ["thought", "text"]]))
        return [part(kind) for kind in kinds]

    answers: Script = []
    for _ in range(draw(st.integers(1, 5))):
        rounds = [
            [*seen(), *(part("ours") for _ in range(draw(st.integers(1, 2))))]
            for _ in range(draw(st.integers(0, 2)))
        ]
        last = draw(st.sampled_from(["text", "call", "mixed"]))
        calls = {"text": [], "call": ["host's"], "mixed": draw(st.permutations(["host's", "ours"]))}[last]
        rounds.append([*(seen() if calls else [part("text")]), *map(part, calls)])
        answers.append(rounds)
    return answers


class Upstream:
    def __init__(self, body: bytes) -> None:
        self.status, self.headers, self._body = 200, [(b"content-type", b"application/json")], body

    async def pieces(self) -> AsyncIterator[bytes]:
        yield self._body

    async def close(self) -> None:
        pass


class Host:
    """Keeps the conversation as hosts do."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.messages: list[Json] = [{"role": "user", "content": "Begin."}]

    def body(self) -> bytes:
        tool = {"name": "read", "parameters": {}}
        tools: Json = {**tool, "type": "function"}
        if self.api is Chat:
            tools = {"type": "function", "function": tool}
        name = "input" if self.api is Responses else "messages"
        return json.dumps(
            {"tools": [tools], name: self.messages, "store": False}, ensure_ascii=False
        ).encode()

    def take(self, given: Json) -> None:
        assert not any(name in json.dumps(given) for name in NAMES)
        if self.api is Responses:
            made = given["output"]
            calls = [item["call_id"] for item in made if item["type"] == "function_call"]
            results = [{"type": "function_call_output", "call_id": id, "output": "a file"} for id in calls]
            self.messages += made
        elif self.api is Chat:
            message = given["choices"][0]["message"]
            calls = [call["id"] for call in message.get("tool_calls") or ()]
            results = [{"role": "tool", "tool_call_id": id, "content": "a file"} for id in calls]
            self.messages.append(message)
        else:
            made = given["content"]
            calls = [block["id"] for block in made if block["type"] == "tool_use"]
            blocks = [{"type": "tool_result", "tool_use_id": id, "content": "a file"} for id in calls]
            self.messages.append({"role": "assistant", "content": made})
            results = [{"role": "user", "content": blocks}] if blocks else []
        self.messages += results or [{"role": "user", "content": "Go on."}]


async def conversation(api: Api, script: Script, memory: Remembering) -> tuple[Host, list[Json]]:
    """The host, and the requests that the provider got."""
    host, requests = Host(api), list[Json]()
    endpoint: Any = api.endpoint
    for rounds in script:
        left = [Upstream(json.dumps(api.whole(parts)).encode()) for parts in rounds]

        async def send(sent: bytes, left: list[Upstream] = left) -> Upstream:
            requests.append(json.loads(sent))
            return left.pop(0)

        body = put_back(endpoint, host.body(), memory.hidden)
        request = with_tools(endpoint, body) or body
        given = await answer(endpoint, request, send, memory, memory.keep, at=count_of(endpoint, host.body()))
        host.take(json.loads(b"".join([piece async for piece in given.pieces])))
    body = put_back(endpoint, host.body(), memory.hidden)
    return host, [*requests, json.loads(body)]


def told(api: Api, request: Json) -> list[tuple[str, str]]:
    """What a request tells, part by part: who made it, and its words or id."""
    parts: list[tuple[str, str]] = []
    for message in request["input" if api is Responses else "messages"]:
        content = message.get("content")
        inner = content if isinstance(content, list) else [{"text": content or message.get("output")}]
        role = message.get("role", message.get("type"))
        parts += [(role, _words({**message, **each})) for each in inner]
        parts += [("assistant", call["id"]) for call in message.get("tool_calls") or ()]
    return [part for part in parts if part[1]]


def _words(part: Json) -> str:
    names = ("signature", "encrypted_content", "tool_use_id", "tool_call_id", "call_id", "text")
    own = part.get("id", "") if part.get("type") == "tool_use" else ""
    return own or next((str(part[name]) for name in names if part.get(name)), "")


def whole(api: Api, request: Json) -> None:
    """Each call has one result, where a provider wants it."""
    if api is Messages:
        messages = request["messages"]
        for message, following in zip(messages, [*messages[1:], {"content": []}], strict=True):
            blocks = message["content"] if isinstance(message["content"], list) else []
            calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            after = following["content"] if isinstance(following["content"], list) else []
            results = [block["tool_use_id"] for block in after if block["type"] == "tool_result"]
            assert sorted(calls) == sorted(results)
            assert blocks or isinstance(message["content"], str)
        return
    calls, results = list[str](), list[str]()
    for message in request["input" if api is Responses else "messages"]:
        if message.get("role") == "assistant":
            assert sorted(calls) == sorted(results)
        calls += [call["id"] for call in message.get("tool_calls") or ()]
        if message.get("type") == "function_call":
            calls.append(message["call_id"])
        if message.get("type") == "function_call_output" or message.get("role") == "tool":
            results.append(message.get("call_id") or message["tool_call_id"])
            assert results[-1] in calls
    assert sorted(calls) == sorted(results)
    assert len({*calls}) == len(calls)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(APIS), scripts())
def test_the_provider_finds_every_call_and_its_result(api: Api, script: Script) -> None:
    memory = Remembering()
    _, requests = asyncio.run(conversation(api, script, memory))
    for request in requests:
        whole(api, request)
    # OpenAI's chats have one text for all rounds, so that an answer moves behind the calls before it.
    every = [part.id for rounds in script for parts in rounds for part in parts if isinstance(part, Do)]
    last = json.dumps(requests[-1])
    assert [id for id in every if f'"{id}"' not in last] == []


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([Messages, Responses]), scripts())
def test_what_was_sent_once_stays_as_it_was(api: Api, script: Script) -> None:
    """The provider's cache serves all that it has read before."""
    _, requests = asyncio.run(conversation(api, script, Remembering()))
    for before, after in pairwise(requests):
        assert told(api, after)[: len(told(api, before))] == told(api, before)


@given(st.sampled_from(APIS), scripts())
@settings(max_examples=50, deadline=None)
def test_a_lost_state_leaves_a_valid_request(api: Api, script: Script) -> None:
    memory = Remembering()
    host, _ = asyncio.run(conversation(api, script, memory))
    whole(api, json.loads(host.body()))
    body = host.body()
    assert put_back(api.endpoint, body, []) == body  # type: ignore[arg-type]
    strange = [Hidden(0, ["text 1", "text 2"], each.steps) for each in memory.hidden]
    assert put_back(api.endpoint, body, strange) == body  # type: ignore[arg-type]


def test_a_call_of_a_chat_comes_back_with_the_hosts_thoughts() -> None:
    memory = Remembering()
    script: Script = [[[Do("p1", "memory_query", {"question": "é?"})], [Do("h1", "read", {})]]]
    host, _ = asyncio.run(conversation(Chat, script, memory))
    thoughts = {"reasoning_content": "I must look.", "reasoning_details": [{"data": "é"}]}
    host.messages[1] |= thoughts
    call = json.loads(put_back("chat", host.body(), memory.hidden))["messages"][1]
    assert call["tool_calls"][0]["id"] == "p1"
    assert {name: call.get(name) for name in thoughts} == thoughts


def test_a_chats_call_of_a_custom_tool_is_the_hosts() -> None:
    custom = {"id": "h1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    ours = {"id": "p1", "type": "function", "function": {"name": "memory_query", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [custom, ours]}
    found = hidden("chat", 1, [Round([said], [call_of("p1", "memory_query", "{}")], ["Nothing."])])
    assert found.names == ["calls h1"]
    (step,) = found.steps
    assert step.mixed
    assert [json.loads(bytes(each))["id"] for each in step.said] == ["p1"]
