"""`make bench-conflict`: whether the newest of statements that contradict each other comes first.

Every statement is written through the public API into a mission's cache, into an agent's memory, and with `remember`.
Each fact is then asked for through assemble.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from bench.client import Client
from bench.cluster import Address
from bench.conflict.statements import Fact, Material, Statement
from bench.quality.asking import Progress, ask_until_whole, at_once, raise_limits

STORES = ("cache", "memory", "remember")
BUDGET = 500
_AGENT = "keeper"


class Place(NamedTuple):
    """Where a run keeps what it writes into a store."""

    agent: str
    mission: str


class Asked(NamedTuple):
    """How a fact came out. `wrong` are neighbours that the answer says are superseded."""

    newest_first: bool
    older_absent: bool
    wrong: frozenset[str]


async def measure(address: Address, material: Material) -> dict[str, Any]:
    run = f"conflict-{secrets.token_hex(4)}"
    async with Client(address.url, address.token) as client:
        return {store: await _measure_store(client, run, store, material) for store in STORES}


async def _measure_store(client: Client, run: str, store: str, material: Material) -> dict[str, float]:
    place = Place(f"{run}-{store}", f"{run}-{store}")
    await raise_limits(client, place.mission)
    try:
        written = await _write(client, store, place, material.statements)
        asked = await _ask(client, store, place, material.facts, written)
    finally:
        # The agent's memories would be those of a peer for the next store.
        for scope in (f"mission:{place.mission}", f"agent:{place.agent}"):
            await client.post("/api/context/purge", {"scope": scope})
    return _figures(asked, material)


def _figures(asked: Sequence[Asked], material: Material) -> dict[str, float]:
    wrong = frozenset[str]().union(*(each.wrong for each in asked))
    return {
        "newest_first": round(fmean(each.newest_first for each in asked), 4),
        "older_absent_or_marked": round(fmean(each.older_absent for each in asked), 4),
        "wrongly_superseded": round(len(wrong) / len({each.text for each in material.neighbours}), 4),
    }


async def _write(
    client: Client, store: str, place: Place, statements: Sequence[Statement]
) -> dict[str, Statement]:
    """The statements by handle. Written one after the other: many have no time but that of their arrival."""
    progress = Progress(f"{store}: written", len(statements))
    written: dict[str, Statement] = {}
    for statement in statements:
        written[await _WRITES[store](client, place, statement)] = statement
        progress.step()
    await _until_indexed(client, place)
    return written


async def _until_indexed(client: Client, place: Place) -> None:
    """Vectors come about in the order of the writes, so the last entry's comes when nearly all are there."""
    body = _entry(place, Statement("The end of the bench.", None, "", None))
    key = secrets.token_hex(8)
    await client.post("/api/psychic-cache/write", body, key=key)
    await client.indexed([("/api/psychic-cache/write", body, key)])


async def _write_entry(client: Client, place: Place, statement: Statement) -> str:
    answer = await client.post("/api/psychic-cache/write", _entry(place, statement))
    return f"cache:{answer['data']['id']}"


def _entry(place: Place, statement: Statement) -> dict[str, Any]:
    kind = {"context_type": "intel", "intel_source": "bench", "mission_id": place.mission}
    return {**kind, "agent_name": place.agent, "content": statement.text, **_time(statement)}


async def _write_memory(client: Client, place: Place, statement: Statement) -> str:
    body = {"agent_name": place.agent, "memory_type": "domain_pattern", "content": statement.text}
    answer = await client.post("/api/agent-memory/commit", {**body, **_time(statement)})
    return f"own:{answer['memory_id']}"


async def _remember(client: Client, place: Place, statement: Statement) -> str:
    body = {"caller": place.agent, "mission_namespace": place.mission, "text": statement.text}
    answer = await client.post("/api/context/remember", {**body, **_time(statement)})
    return str(answer["items"][0]["handle"])


_WRITES: Mapping[str, Callable[[Client, Place, Statement], Awaitable[str]]] = {
    "cache": _write_entry,
    "memory": _write_memory,
    "remember": _remember,
}


def _time(statement: Statement) -> dict[str, str]:
    at = statement.occurred_at
    return {} if at is None else {"occurred_at": at.isoformat()}


async def _ask(
    client: Client, store: str, place: Place, facts: Sequence[Fact], written: Mapping[str, Statement]
) -> list[Asked]:
    progress = Progress(f"{store}: asked", len(facts))
    asked: list[Asked] = []

    async def ask(fact: Fact) -> None:
        request = {"query": fact.question, "caller": place.agent, "mission_namespace": place.mission}
        answer = await ask_until_whole(client, {**request, "token_budget": BUDGET})
        gone = [each["handle"] for each in answer["candidates"] if each["outcome"] == "superseded"]
        wrong = {
            written[handle].text for handle in gone if handle in written and written[handle].fact is None
        }
        asked.append(judged(fact, texts(answer["context_block"]), frozenset(wrong)))
        progress.step()

    await at_once(map(ask, facts))
    return asked


def texts(block: str) -> list[str]:
    """The texts of a block's items, in order."""
    return [line.partition("] ")[2] for line in block.splitlines()]


def judged(fact: Fact, block: Sequence[str], wrong: frozenset[str]) -> Asked:
    """A line that begins with `was:` marks what it holds as superseded."""
    newest = next((place for place, text in enumerate(block) if fact.newest.text in text), None)
    older = {statement.text for statement in fact.older}
    left = [place for place, text in enumerate(block) if text in older]
    first = newest is not None and all(newest < place for place in left)
    return Asked(first, not left, wrong)
