"""Calls through the official MCP client, and a ledger of what each client was told.

Every call has two tries, the second over a new connection.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

from mcp import Client

from tests.support.calls import pages
from tests.support.cluster import Client as Rest
from tests.support.cluster import Cluster
from tests.support.mcp.client import connect

MISSION = "proof"
WORKERS = 4
_PAUSE_SECONDS = 0.5
"""Before a second try, in which a busy machine may get well."""
_TEXTS = (
    "The orders replica lags by nine seconds at noon.",
    "We decided to fail over because the primary's disk is full.",
    "Lesson learned: promote a replica only once its lag is below a second.",
    "I moved the ledger from zone a to zone b.",
)


@dataclass
class Call:
    place: int
    name: str
    arguments: dict[str, Any]


@dataclass
class Ledger:
    """What one client was told."""

    client: str
    done: int = 0
    retried: int = 0
    done_at_the_kill: int = 0
    lost: list[str] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    """Ids of the entries that were acknowledged."""


def plan(count: int, client: str, seed: int, mission: str = MISSION) -> list[Call]:
    """A mix of reads and writes; every write has a key of its own."""
    choose = random.Random(f"{seed}-{client}")
    calls = []
    for place in range(count):
        text = f"{choose.choice(_TEXTS)} ({client} {place})"
        key = {"idempotency_key": f"{client}-{place}"}
        kind = place % 5
        if kind == 0:
            entry = {"context_type": "intel", "mission_id": mission, "intel_source": client, "content": text}
            calls.append(Call(place, "write_psychic_cache", {**entry, **key}))
        elif kind == 1:
            question = {"query": choose.choice(_TEXTS), "caller": client, "mission_namespace": mission}
            calls.append(Call(place, "assemble_context", question))
        elif kind == 2:
            said = {"caller": client, "mission_namespace": mission, "source_kind": "tool", "text": text}
            calls.append(Call(place, "remember", {**said, **key}))
        elif kind == 3:
            calls.append(Call(place, "memory_search", {"query": text, "caller": client, "limit": 3}))
        else:
            learned = {"agent_name": client, "memory_type": "lesson_learned", "content": text}
            calls.append(Call(place, "commit_agent_memory", {**learned, **key}))
    return calls


def note(ledger: Ledger, call: Call, tries: int, answer: Any, error: str | None) -> None:
    ledger.done += 1
    ledger.retried += tries > 1
    if error is not None:
        ledger.lost.append(f"{call.name} {call.place}: {error}")
    elif call.name == "write_psychic_cache":
        ledger.written.append(answer["data"]["id"])
    elif call.name == "remember":
        ledger.written += [item["id"] for item in answer["items"] if item["store"] == "psychic_cache"]


async def run_python(url: str, token: str, era: str, calls: list[Call], ledger: Ledger) -> None:
    queue = list(reversed(calls))
    await asyncio.gather(*(_Worker(url, token, era, queue, ledger).work() for _ in range(WORKERS)))


class _Worker:
    """One connection at a time, a new one after each failure; each call has two tries."""

    def __init__(self, url: str, token: str, era: str, queue: list[Call], ledger: Ledger) -> None:
        self._address = (url, token, era)
        self._queue, self._ledger = queue, ledger
        self._call: Call | None = None
        self._tries = 0

    async def work(self) -> None:
        while self._next():
            try:
                async with connect(*self._address) as client:
                    while self._next() and await self._try(client):
                        pass
            except Exception as error:
                self._failed(repr(error))
            await asyncio.sleep(_PAUSE_SECONDS)

    def _next(self) -> bool:
        if self._call is None and self._queue:
            self._call, self._tries = self._queue.pop(), 0
        return self._call is not None

    async def _try(self, client: Client) -> bool:
        """Whether the connection may go on."""
        assert self._call is not None
        try:
            answer = await client.call_tool(self._call.name, self._call.arguments)
        except Exception as error:
            self._failed(repr(error))
            return False
        if answer.is_error:
            self._failed(" ".join(getattr(part, "text", "") for part in answer.content))
            return False
        note(self._ledger, self._call, self._tries + 1, answer.structured_content, None)
        self._call = None
        return True

    def _failed(self, error: str) -> None:
        if not self._next():
            return
        assert self._call is not None
        self._tries += 1
        if self._tries == 2:
            note(self._ledger, self._call, 2, None, error)
            self._call = None


async def killed_midway(cluster: Cluster, ledgers: list[Ledger], share: int) -> None:
    """Kills a replica of the context service as soon as each client has done a quarter of its calls."""
    while min(one.done for one in ledgers) < share / 4:
        await asyncio.sleep(0.005)
    for one in ledgers:
        one.done_at_the_kill = one.done
    assert any(one.done < share for one in ledgers), "the calls were over before the kill"
    await asyncio.to_thread(cluster.replicas["context"][1].kill)


async def unlike(rest: Rest, ledgers: list[Ledger]) -> int:
    """Entries that were acknowledged and are not there, there and not acknowledged, or there twice."""
    entries = [entry for page in await pages(rest, f"/api/psychic-cache/{MISSION}/entries") for entry in page]
    contents = [entry["content"] for entry in entries]
    told = {one for ledger in ledgers for one in ledger.written}
    found = {entry["id"] for entry in entries}
    return len(told ^ found) + len(contents) - len(set(contents))


async def make_room(rest: Rest) -> None:
    limits = {"entry_budget": 100_000, "token_budget": 10_000_000}
    assert (await rest.call("PUT", f"/api/psychic-cache/{MISSION}/limits", limits)).status == 200
