"""A host's SDK has the same answer as from a provider that never heard of the gateway's tools."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from anthropic import APIStatusError as AnthropicStatusError
from openai import APIError as OpenAIError

from services.context.gateway.answering import MOST_ROUNDS, NOT_AVAILABLE
from services.context.gateway.cleanup import CLOSE, OPEN, Action
from services.context.gateway.phantom import DEFINITIONS, NAMES
from services.context.gateway.restoring.hidden import Hidden
from tests.support.gateway.hosts import asked
from tests.support.gateway.said import APIS, Api, Chat, Do, Messages, Part, Responses, Say, Think
from tests.support.gateway.serving import (
    EVENTS,
    JSON,
    PATHS,
    Provider,
    Remembering,
    Reply,
    gateway,
    replied,
    serving,
)

HANDLE = "m-0123456789ab"
TAG = f"{OPEN}\nrelease: {HANDLE}\n{CLOSE}"
FAULT = Do("p1", "memory_fault", {"handle": HANDLE})
QUERY = Do("p2", "memory_query", {"question": "Which code?"})
READ = Do("h1", "read", {"path": "a.py"})
both = pytest.mark.parametrize("streams", [True, False], ids=["stream", "whole"])
apis = pytest.mark.parametrize("api", APIS, ids=[api.endpoint for api in APIS])


async def through(
    api: Api, rounds: list[list[Part]], *, streams: bool, memory: Remembering | None = None, size: int = 5
) -> tuple[dict[str, Any], Provider]:
    named = {"size": size} if streams else {}
    provider = Provider(
        *(replied(api, parts, number, streams=streams, **named) for number, parts in enumerate(rounds))
    )
    async with (
        serving(provider.handle) as upstream,
        gateway(upstream, memory or Remembering()) as address,
    ):
        return await asked(address, api, streams=streams), provider


async def plainly(api: Api, parts: list[Part], *, streams: bool, rounds: int = 1) -> dict[str, Any]:
    """Of a provider that says the same at once, after so many rounds."""
    provider = Provider(replied(api, parts, streams=streams, numbers=[*range(rounds)]))
    async with serving(provider.handle) as upstream:
        return await asked(upstream, api, streams=streams)


def same(got: dict[str, Any], expected: dict[str, Any]) -> None:
    """But for where the last round says when it was made."""
    assert {**got, "created": 0} == {**expected, "created": 0}


@apis
@both
async def test_calls_are_answered_and_never_seen(api: Api, streams: bool) -> None:
    memory = Remembering()
    rounds: list[list[Part]] = [[Think("a"), FAULT, QUERY], [Think("b"), QUERY], [Say("It is é 42."), READ]]
    got, provider = await through(api, rounds, streams=streams, memory=memory)
    same(
        got, await plainly(api, [Think("a"), Think("b"), Say("It is é 42."), READ], streams=streams, rounds=3)
    )
    assert [call.given for call in memory.calls] == [HANDLE, "Which code?", "Which code?"]
    assert len(provider.requests) == 3


@apis
@both
async def test_text_before_a_call_stays(api: Api, streams: bool) -> None:
    got, _ = await through(api, [[Say("I look. "), FAULT], [Say("Found.")]], streams=streams)
    expected = [Say("I look. "), Say("Found.")]
    if api is Messages or api is Responses:
        same(got, await plainly(api, [*expected], streams=streams, rounds=2))
    else:
        same(got, await plainly(api, [Say("I look. Found.")], streams=streams, rounds=2))


@apis
@both
async def test_a_turn_with_calls_of_both_goes_to_the_host(api: Api, streams: bool) -> None:
    memory = Remembering()
    got, provider = await through(api, [[Say("Both."), FAULT, READ]], streams=streams, memory=memory)
    same(got, await plainly(api, [Say("Both."), READ], streams=streams))
    assert len(provider.requests) == 1


@apis
@both
@pytest.mark.parametrize("size", [1, 3, 400])
async def test_tags_are_carried_out_and_never_seen(api: Api, streams: bool, size: int) -> None:
    memory = Remembering()
    parts: list[Part] = [Say(TAG), Say(f"Done <b>é</b>.{TAG} And on. <memory"), READ]
    parts = parts if api is not Chat else parts[1:]
    got, _ = await through(api, [parts], streams=streams, memory=memory, size=size)
    expected: list[Part] = [Say("Done <b>é</b>. And on. <memory"), READ]
    if api is Responses:
        got["output"][0]["id"] = Responses.item(expected[0])["id"]
    same(got, await plainly(api, expected, streams=streams))
    assert memory.actions == [Action("release", HANDLE)] * (1 if api is Chat else 2)


@apis
@both
async def test_what_needs_nothing_keeps_its_bytes(api: Api, streams: bool) -> None:
    parts: list[Part] = [Think("a"), Say(f"Write {OPEN} so. <memory_cl"), READ]
    provider = Provider(replied(api, parts, streams=streams), replied(api, parts, streams=streams))
    async with serving(provider.handle) as upstream, gateway(upstream, Remembering()) as address:
        assert await _raw(address, api) == await _raw(upstream, api)


async def _raw(address: str, api: Api) -> bytes:
    import httpx  # the SDKs keep no bytes

    path = {Messages: "/v1/messages", Chat: "/v1/chat/completions", Responses: "/v1/responses"}[api]
    async with httpx.AsyncClient() as client:
        return (await client.post(address + path, content=b"{}")).content


@apis
@both
async def test_the_model_goes_on_with_just_what_it_said(api: Api, streams: bool) -> None:
    rounds: list[list[Part]] = [[Think("a"), Say("I look."), FAULT], [Say("Done.")]]
    _, provider = await through(api, rounds, streams=streams)
    first, second = provider.requests
    assert [json.dumps(each) for each in provider.bodies[0]["tools"][1:]] == [
        json.dumps(json.loads(each))
        for each in DEFINITIONS[api.endpoint]  # type: ignore[index]
    ]
    name = "input" if api is Responses else "messages"
    before, after = provider.bodies[0][name], provider.bodies[1][name]
    if api is Messages:
        said, result = after[-2:]
        assert said == {"role": "assistant", "content": [Messages.block(part) for part in rounds[0]]}
        assert result["content"] == [{"type": "tool_result", "tool_use_id": "p1", "content": f"of {HANDLE}"}]
        assert second.startswith(first[: first.index(b"]", first.index(b"messages"))])
    elif api is Chat:
        assert after[:-2] == before
        assert after[-2]["tool_calls"][0]["function"]["name"] == "memory_fault"
        assert after[-1] == {"role": "tool", "tool_call_id": "p1", "content": f"of {HANDLE}"}
    else:
        assert after[0] == {"role": "user", "content": before}
        assert after[1:-1] == [Responses.item(part) for part in rounds[0]]
        assert after[-1] == {"type": "function_call_output", "call_id": "p1", "output": f"of {HANDLE}"}


@both
async def test_what_a_provider_wants_back_goes_back(streams: bool) -> None:
    """Thoughts, and the signature of a call."""
    signature = {"google": {"thought_signature": "c2ln"}}
    part = {"type": "reasoning.encrypted", "data": "ZW5j", "id": "p1"}
    pieces: list[dict[str, Any]] = [
        {"reasoning_content": "I must ", "channel": "x"},
        {"reasoning_content": "look."},
    ]
    call = {**Chat.whole([FAULT])["choices"][0]["message"]["tool_calls"][0], "extra_content": signature}
    whole = {"reasoning_content": "I must look.", "reasoning_details": [part], "tool_calls": [call]}
    deltas = [*pieces, {"reasoning_details": [part]}, {"tool_calls": [{"index": 0, **call}]}]
    first = chat_stream(deltas) if streams else chat_whole({"content": None, "refusal": None, **whole})
    provider = Provider(first, replied(Chat, [Say("Done.")], 1, streams=streams))
    async with serving(provider.handle) as upstream, gateway(upstream, Remembering()) as address:
        got = await asked(address, Chat, streams=streams)
    assert provider.bodies[1]["messages"][-2] == {"role": "assistant", "content": None, **whole}
    assert got["choices"][0]["message"]["reasoning_content"] == "I must look."


def chat_whole(message: dict[str, Any]) -> Reply:
    answer = Chat.whole([FAULT])
    answer["choices"][0]["message"] = {"role": "assistant", **message}
    return Reply(200, JSON, [json.dumps(answer).encode()])


def chat_stream(deltas: list[dict[str, Any]]) -> Reply:
    head: dict[str, Any] = {
        "id": "chatcmpl-0",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt",
    }
    choices: list[Any] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    events = [f"data: {json.dumps(head | {'choices': [choice]})}\n\n".encode() for choice in choices]
    return Reply(200, EVENTS, [*events, b"data: [DONE]\n\n"])


@apis
@both
async def test_a_memory_that_is_down_is_no_trouble_for_the_host(api: Api, streams: bool) -> None:
    memory = Remembering()
    memory.fails = True
    got, provider = await through(api, [[FAULT], [Say(f"So be it.{TAG}")]], streams=streams, memory=memory)
    expected = await plainly(api, [Say("So be it.")], streams=streams, rounds=2)
    if api is Responses:
        got["output"][0]["id"] = expected["output"][0]["id"]
    same(got, expected)
    assert NOT_AVAILABLE.encode() in provider.requests[1]


@apis
@both
async def test_rounds_are_bounded(api: Api, streams: bool) -> None:
    rounds: list[list[Part]] = [[FAULT] for _ in range(MOST_ROUNDS)]
    got, provider = await through(api, rounds, streams=streams)
    assert len(provider.requests) == MOST_ROUNDS
    assert not any(name in json.dumps(got) for name in NAMES)
    assert "tool_use" not in json.dumps(got)


_REFUSALS = {
    Messages: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    Chat: {"error": {"message": "Overloaded", "type": "server_error", "param": None, "code": None}},
    Responses: {"error": {"message": "Overloaded", "type": "server_error", "param": None, "code": None}},
}


@apis
@both
async def test_a_later_refusal_reaches_the_host(api: Api, streams: bool) -> None:
    refusal = Reply(529, JSON, [json.dumps(_REFUSALS[api]).encode()])
    provider = Provider(replied(api, [Say("I look."), FAULT], streams=streams), refusal)
    async with serving(provider.handle) as upstream, gateway(upstream, Remembering()) as address:
        with pytest.raises(
            (AnthropicStatusError, OpenAIError, RuntimeError), match=r"Overloaded|response\.completed"
        ):
            await asked(address, api, streams=streams)


@apis
async def test_a_stream_that_breaks_stays_broken(api: Api) -> None:
    half = b"".join(api.stream([Say(f"So it is {OPEN[:9]}")], size=50))[:-90]
    provider = Provider(Reply(200, "text/event-stream", [half], breaks=True))
    async with serving(provider.handle) as upstream, gateway(upstream, Remembering()) as address:
        with pytest.raises(Exception, match=r"incomplete|closed|peer"):
            await _raw(address, api)


@apis
async def test_a_host_has_the_end_once_what_it_never_saw_is_kept(api: Api) -> None:
    """Some hosts leave, or ask again, as soon as they have it."""
    memory = Slow()
    provider = Provider(
        replied(api, [FAULT], streams=True), replied(api, [Say("Found."), READ], 1, streams=True)
    )
    path = next(path for path, endpoint in PATHS.items() if endpoint == api.endpoint)
    async with (
        serving(provider.handle) as upstream,
        gateway(upstream, memory) as address,
        aiohttp.ClientSession(address) as host,
        host.post(path, json={"messages": [], "input": [], "stream": True}) as answer,
    ):
        told = b""
        async for piece in answer.content.iter_any():
            told += piece
            if any(end in told for end in (b'"stop_reason": "tool_use"', b'"finish_reason": "tool_calls"')):
                break
            if b"response.completed" in told:
                break
        assert len(memory.hidden) == 1


class Slow(Remembering):
    async def keep(self, hidden: Hidden) -> None:
        await asyncio.sleep(0.2)
        await super().keep(hidden)
