"""Many writers append to one session, each until its event is acknowledged, whatever happens to the service."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.support.calls import Json
from tests.support.cluster import Client

SESSIONS = "/api/sessions"
WRITERS = 8
# Of the answers that a client sends the same request again for, and how long it does so.
_AGAIN = (429, 502, 503, 504)
_PAUSE, _PATIENCE = 0.1, 120.0
# Of acknowledged requests, how many are sent once more.
_REPEATED = 0.2
_PAGE = 1_000


@dataclass
class Ledger:
    """What the writers sent, and what was acknowledged."""

    sent: set[str] = field(default_factory=set)
    acknowledged: dict[int, str] = field(default_factory=dict)
    """The texts by the numbers that they were given."""
    requests: int = 0
    tries: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def keep(self, texts: list[str], answer: Json) -> None:
        given = range(answer["first_seq"], answer["last_seq"] + 1)
        self.wrong["of another length"] += len(given) != len(texts)
        self.wrong["a number given twice"] += sum(seq in self.acknowledged for seq in given)
        self.acknowledged |= dict(zip(given, texts, strict=False))


async def write(client: Client, session: str, name: str, ledger: Ledger, ended: asyncio.Event) -> None:
    """Appends until the end. Some requests are sent again once they are acknowledged, and must get the same answer."""
    chance, number = random.Random(name), 0
    while not ended.is_set():
        number += 1
        texts = [f"{name}-{number}-{part}" for part in range(chance.randint(1, 3))]
        ledger.sent |= set(texts)
        ledger.requests += 1
        body = {"messages": [{"role": "user", "content": text} for text in texts]}
        headers = {"idempotency-key": secrets.token_hex(8)}
        answer = await told(client, f"{session}/events", body, headers, ledger)
        ledger.keep(texts, answer)
        if chance.random() < _REPEATED:
            again = await told(client, f"{session}/events", body, headers, ledger)
            ledger.wrong["another answer to a repeat"] += again != answer


async def compact(client: Client, session: str, ledger: Ledger, ended: asyncio.Event) -> None:
    """Now and then takes the oldest two thirds out of the conversation."""
    while not ended.is_set():
        await asyncio.sleep(0.5)
        headers = {"idempotency-key": secrets.token_hex(8)}
        done = await told(client, f"{session}/compact", {"force": True, "summary": "so far"}, headers, ledger)
        if done["compacted"]:
            ledger.acknowledged[done["seq"]] = "so far"


async def follow(client: Client, session: str, ledger: Ledger, ended: asyncio.Event) -> None:
    """Reads the history as it grows. An event that appears behind one that was read already was hidden from it."""
    last, cursor = 0, ""
    while not ended.is_set():
        page = await told(client, f"{session}/history?full=true&limit={_PAGE}{cursor}", None, {}, ledger)
        for event in page["data"]:
            if event["seq"] > last:
                ledger.wrong["a gap in the history"] += event["seq"] != last + 1
                last = event["seq"]
        if page["next"]:
            cursor = f"&cursor={page['next']}"
        await asyncio.sleep(_PAUSE)


async def told(client: Client, path: str, body: Any, headers: dict[str, str], ledger: Ledger) -> Json:
    """The answer, asked for until there is one."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            ledger.tries += 1
            method = "GET" if body is None else "POST"
            try:
                answer = await client.call(method, path, body, headers=headers)
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(_PAUSE)
                continue
            if answer.status < 300:
                kept: Json = answer.body
                return kept
            if answer.status not in _AGAIN:
                ledger.wrong[f"answered {answer.status}"] += 1
            await asyncio.sleep(_PAUSE)


async def compared(client: Client, session: str, ledger: Ledger) -> Counter[str]:
    """What is wrong with the trail and the conversation, compared with what was acknowledged."""
    events = await history(client, session, ledger)
    before = await told(client, f"{session}/conversation", None, {}, ledger)
    rebuilt = await told(client, f"{session}/rebuild", {}, {}, ledger)
    texts = {event["seq"]: event["content"][0]["text"] for event in events}
    said = [texts[event["seq"]] for event in events if event["kind"] == "message"]
    wrong = Counter({name: count for name, count in ledger.wrong.items() if count})
    wrong["lost or moved"] += sum(texts.get(seq) != text for seq, text in ledger.acknowledged.items())
    wrong["twice"] += len(said) - len(set(said))
    wrong["never sent"] += len(set(said) - ledger.sent)
    wrong["numbers left out"] += [event["seq"] for event in events] != [*range(1, len(events) + 1)]
    wrong["a snapshot unlike the trail"] += rebuilt["changed"]
    wrong["a conversation unlike the trail"] += [each["seq"] for each in before["messages"]] != [
        event["seq"] for event in events if event["seq"] > before["since"] and event["kind"] == "message"
    ]
    return +wrong


async def history(client: Client, session: str, ledger: Ledger) -> list[Json]:
    events: list[Json] = []
    cursor = ""
    while True:
        page = await told(client, f"{session}/history?full=true&limit={_PAGE}{cursor}", None, {}, ledger)
        events += page["data"]
        if page["next"] is None:
            return events
        cursor = f"&cursor={page['next']}"
