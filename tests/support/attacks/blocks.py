"""Blocks of hostile texts: whether they parse back to what was stored, and show no header that is none."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import scrubjay
from shared.render import Fence, new_fence, parse_block, render_item
from tests.support.attacks.hostile import SEED, hostile, seen_headers, variants
from tests.support.calls import lesson, note, question
from tests.support.cluster import Client

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
# Blocks are small: a budget of 16,000 tokens holds a few hundred short items.
ITEMS_A_BLOCK = 200
Items = list[tuple[str, datetime, list[str], str]]
_MISSIONS = 3
_OF_A_QUESTION = 4


def block_of(items: Items, fence: Fence) -> str:
    return "\n".join(render_item(handle, when, words, text, fence) for handle, when, words, text in items)


def forged(texts: Sequence[str]) -> Iterator[str]:
    """What is wrong in blocks of all these texts."""
    for start in range(0, len(texts), ITEMS_A_BLOCK):
        some = texts[start : start + ITEMS_A_BLOCK]
        fence = new_fence(some, NOW)
        items = [(f"cache:{start + n + 1}", NOW, ["intel", some[-n]], text) for n, text in enumerate(some)]
        stored = [(handle, text) for handle, _, _, text in items]
        yield from forged_in(block_of(items, fence), fence.nonce, stored)
        if any(fence.nonce in text for text in some):
            yield f"a text holds the nonce {fence.nonce}"


def forged_in(block: str, nonce: str, stored: Sequence[tuple[str, str]]) -> Iterator[str]:
    if parse_block(block) != list(stored):
        yield "the service parses another list"
    if [(item.handle, item.text) for item in scrubjay.parse_block(block, nonce)] != list(stored):
        yield "the client parses another list"
    if list(seen_headers(block)) != [handle for handle, _ in stored]:
        yield "a reader sees other headers"


def unescaped() -> tuple[str, str, list[tuple[str, str]]]:
    """The control: a block of all known variants, its nonce, and what it should hold."""
    stored = [(f"cache:{n + 2}", text) for n, text in enumerate(variants())]
    block = "\n".join(f"[{handle} 2026-07-04 intel k3f] {text}" for handle, text in stored)
    return block, "k3f", stored


class Assembled(NamedTuple):
    stored: int
    seen: int
    wrong: list[str]


async def assembled(client: Client, count: int, forgeries: int, at_once: int = 4) -> Assembled:
    """`count` hostile texts, of which `forgeries` are known variants, written through the API and asked for."""
    known = random.Random(SEED).sample(variants(), forgeries)
    texts = [f"failover{n} {text}" for n, text in enumerate(known)] + hostile(count)[forgeries:]
    stored: dict[str, str] = {}
    turns = asyncio.Semaphore(at_once)

    async def write(number: int, text: str) -> None:
        async with turns:
            stored[await _written(client, number, text, texts[-number][:150])] = text

    await asyncio.gather(*(write(number, text) for number, text in enumerate(texts)))
    seen: set[str] = set()
    wrong: list[str] = []
    for mission in range(_MISSIONS):
        numbers = [number for number in range(count) if number % _MISSIONS == mission]
        for start in range(0, len(numbers), _OF_A_QUESTION):
            words = " ".join(f"failover{number}" for number in numbers[start : start + _OF_A_QUESTION])
            body = question(_mission(mission), words, token_budget=16_000, fill=True)
            answer = await client.post("/api/context/assemble", body)
            assert answer.status == 200, answer
            wrong += unlike(answer.body, stored)
            seen |= {source["handle"] for source in answer.body["sources"]}
    return Assembled(len(stored), len(seen), wrong)


def _mission(number: int) -> str:
    # No more entries than a mission holds.
    return f"hostile-{number % _MISSIONS}"


async def _written(client: Client, number: int, text: str, other: str) -> str:
    """The handle that it gets."""
    speaker = {"speaker": other} if number % 3 else {}
    if number % 4 == 3:
        answer = await client.post("/api/agent-memory/commit", lesson("scout", text, **speaker))
    else:
        answer = await client.post("/api/psychic-cache/write", note(_mission(number), text, **speaker))
    assert answer.status == 201, (text, answer)
    return f"own:{answer.body['memory_id']}" if number % 4 == 3 else f"cache:{answer.body['data']['id']}"


def forged_headers(answer: Any) -> Iterator[str]:
    items = scrubjay.parse_block(answer["context_block"], answer["nonce"])
    handles = [source["handle"] for source in answer["sources"]]
    if [item.handle for item in items] != handles:
        yield "the client parses other items than the sources"
    if list(seen_headers(answer["context_block"])) != handles:
        yield "a reader sees other headers than the sources"


def unlike(answer: Any, stored: dict[str, str]) -> Iterator[str]:
    """Where the items of an answer's block are not its sources, whole."""
    if out_of_place := [*forged_headers(answer)]:
        yield from out_of_place
        return
    items = scrubjay.parse_block(answer["context_block"], answer["nonce"])
    for item, source in zip(items, answer["sources"], strict=True):
        if not source["cut"] and item.text != stored[item.handle]:
            yield f"{item.handle} has another text"
