"""Turns a second, and reads beside their SQL alone: `make bench-sessions`, SESSIONS=1000 with 500 objects each."""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias
from uuid import UUID

import asyncpg

from bench.client import ApiError, Client
from bench.cluster import Address, Cache, cluster
from bench.race.usage import processor_seconds
from bench.sessions import rungs

SECONDS, AGENTS, OBJECTS = 20.0, 8, 500
_PATH = "/api/sessions"
# Sessions and objects like those that the API made.
_SESSIONS = """
insert into sessions.sessions (tenant, id, external_id, scope, agent_name, marks, written_by, total_objects)
select s.tenant, gen_random_uuid(), s.external_id || '-' || n, s.scope, s.agent_name, s.marks, s.written_by, $2
from sessions.sessions s cross join generate_series(1, $3::int) n where s.id = $1
"""
_OBJECTS = """
insert into sessions.semantic_objects (tenant, session_id, object_type, source_key, segment, content_full, content_hash,
    stub, current_fidelity, sent_fidelity, place, created_turn, last_accessed_turn, tokens_l0, tokens_l3)
select s.tenant, s.id, 'file_context', 'file' || n % 50, n, repeat('word ' || n || ' ', 40), sha256(n::text::bytea),
       'line ' || n, case when n > 460 then 0 else 3 + n % 2 end, case when n > 460 then 0 else 3 + n % 2 end, n, 0, 0,
       100, 10
from sessions.sessions s cross join generate_series(1, $2::int) n where s.external_id like $1 || '-%' order by s.id, n
"""


Turn: TypeAlias = Callable[[Client, str, Any], Awaitable[None]]


def main() -> None:
    count = int(os.environ.get("SESSIONS") or 1_000)
    with cluster() as address:
        result = asyncio.run(_measure(address, count))
    for name, value in result.items():
        print(f"{name:28} {value}")
    print(json.dumps(result))


async def _measure(address: Address, count: int) -> dict[str, Any]:
    async with Client(address.url, address.token, connections=AGENTS, patience=0) as client:
        result = await _turns(client, _in_one_call)
        more = await _turns(client, _in_three_calls)
        result |= {f"{name}_in_three_calls": value for name, value in more.items()}
        if address.cache is not None:
            result |= await _reads(client, address, address.cache, count)
    return result


async def _turns(client: Client, turn: Turn) -> dict[str, Any]:
    """A turn: the result of a tool, of some 1,500 tokens, the context with it, and the turn's end."""
    statuses: Counter[int] = Counter()
    seconds: list[float] = []
    end = time.monotonic() + SECONDS
    spent = processor_seconds([os.getpid()])
    await asyncio.gather(*(_agent(client, number, turn, end, statuses, seconds) for number in range(AGENTS)))
    return {
        "turns_a_second": round(len(seconds) / SECONDS, 1),
        "turn_p50_ms": _p50(seconds),
        # Of every process: this one, the services with what they embed meanwhile, and both servers.
        "turn_processor_ms": round(
            (processor_seconds([os.getpid()]) - spent) * 1000 / max(1, len(seconds)), 1
        ),
        "failed": dict(statuses),
    }


async def _agent(
    client: Client, number: int, turn: Turn, end: float, statuses: Counter[int], seconds: list[float]
) -> None:
    chance = random.Random(number)
    made = await client.post(_PATH, {"agent_name": f"agent-{number}", "config": {"token_budget": 16_000}})
    path = f"{_PATH}/{made['data']['id']}"
    while time.monotonic() < end:
        began = time.perf_counter()
        body = {"content": _text(chance), "object_type": "tool_result", "source_tool": "Bash"}
        try:
            await turn(client, path, body)
        except ApiError as error:
            statuses[error.status] += 1
        else:
            seconds.append(time.perf_counter() - began)


async def _in_one_call(client: Client, path: str, body: Any) -> None:
    await client.post(f"{path}/turns", {"admit": [body], "context": True})


async def _in_three_calls(client: Client, path: str, body: Any) -> None:
    await client.post(f"{path}/objects", body)
    await client.call("GET", f"{path}/context")
    await client.post(f"{path}/turns", {})


def _text(chance: random.Random) -> str:
    """Some 1,500 tokens of a log."""
    lines = (
        f"{chance.random():.9f} worker {n}: event {chance.randrange(10**9)} was sent" for n in range(110)
    )
    return "\n".join(lines)


async def _reads(client: Client, address: Address, cache: Cache, count: int) -> dict[str, Any]:
    name = "page"
    made = await client.post(_PATH, {"agent_name": "reader", "external_id": name})
    c = await asyncpg.connect(address.dsn)
    try:
        await c.execute(_SESSIONS, UUID(made["data"]["id"]), OBJECTS, count)
        await c.execute(_OBJECTS, name, OBJECTS)
        await c.execute("analyze sessions.sessions, sessions.semantic_objects")
        rows = await c.fetch(
            "select tenant, id from sessions.sessions where external_id like $1 || '-%'", name
        )
    finally:
        await c.close()
    return {"objects": count * OBJECTS} | await rungs.measure(
        address, cache, rows[0]["tenant"], [row["id"] for row in rows]
    )


def _p50(seconds: Sequence[float]) -> float:
    return round(statistics.median(seconds) * 1000, 2) if seconds else 0.0


if __name__ == "__main__":
    main()
