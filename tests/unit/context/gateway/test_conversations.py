"""The generated conversations hold what they are for."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.support.gateway.conversations import Exchange, conversation
from tests.support.gateway.sessions import Api

APIS: list[Api] = ["messages", "chat", "responses"]


@pytest.fixture(scope="module")
def made() -> dict[Api, list[list[Exchange]]]:
    return {api: [list(conversation(seed, api)) for seed in range(50)] for api in APIS}


def test_a_seed_gives_the_same_bytes(made: dict[Api, list[list[Exchange]]]) -> None:
    assert [list(conversation(seed, api)) for api in APIS for seed in (0, 7)] == [
        made[api][seed] for api in APIS for seed in (0, 7)
    ]


@pytest.mark.parametrize("api", APIS)
def test_a_request_goes_on_from_the_one_before(made: dict[Api, list[list[Exchange]]], api: Api) -> None:
    for exchanges in made[api]:
        for before, after in pairwise(exchanges):
            said, now = (_bare(_messages(each)) for each in (before, after))
            assert now[: len(said)] == said
            assert len(now) > len(said)


@pytest.mark.parametrize("api", APIS)
def test_answers_come_whole_streamed_packed_refused_and_broken(
    made: dict[Api, list[list[Exchange]]], api: Api
) -> None:
    answers = [each.answer for exchanges in made[api] for each in exchanges]
    heads = [b"".join(answer.pieces).partition(b"\r\n\r\n")[0] for answer in answers]
    assert sum(not answer.complete for answer in answers) > 5
    assert {answer.status for answer in answers} > {200, 429, 529}
    assert sum(b"gzip" in head for head in heads) > 10
    assert sum(b"event-stream" in head for head in heads) > 50


def test_what_is_rare_is_there(made: dict[Api, list[list[Exchange]]]) -> None:
    bodies = [each.request for api in APIS for exchanges in made[api] for each in exchanges]
    assert sum(len(body) > 400_000 for body in bodies) > 3
    for word in (
        b"redacted_thinking",
        b"server_tool_use",
        b"signature",
        b"image",
        b"\\u00fc",
        "ü".encode(),
        b"\\/",
    ):
        assert any(word in body for body in bodies), word


def _messages(exchange: Exchange) -> list[dict[str, Any]]:
    body = json.loads(exchange.request)
    messages: list[dict[str, Any]] = body.get("messages") or body["input"]
    return messages


def _bare(messages: list[dict[str, Any]]) -> list[str]:
    """Without the marks of what a provider should cache: they move."""
    mark = '"cache_control": {"type": "ephemeral"}'
    return [
        json.dumps(each, sort_keys=True).replace(f"{mark}, ", "").replace(f", {mark}", "")
        for each in messages
    ]
