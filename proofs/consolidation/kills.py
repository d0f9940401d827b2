"""Runs over a long session, while the service that learns is killed at random points."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import aiohttp
import asyncpg

from tests.support.cluster import Client, Cluster

CONSOLIDATE, SESSIONS = "/api/memory/consolidate", "/api/sessions"
_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
_AT_ONCE = 100
_SHOWN = 3
_FACTS = """
select predicate, object, valid_from, valid_to, superseded_at is null as believed, single, source_kind, source_claim
from memory.facts where user_id = $1 and revision_of is null
"""
_MEMORIES = """
select kind, replace(content, $1, 'somebody') as content, due_at, status from memory.long_term where user_id = $1
"""
_CHANGES = """
select c.kind, c.action, c.turns, c.trust, c.why from memory.consolidation_changes c
join memory.consolidation_runs r on r.tenant = c.tenant and r.id = c.run_id where r.user_id = $1
"""
# As if half a minute had passed.
_LET_GO = "update memory.consolidation_state set leased_until = now() where leased_until > now()"


class Disturbed(NamedTuple):
    kills: int
    differing: int
    """Rows that only one of the two sessions has."""


def said(events: int) -> Iterator[dict[str, Any]]:
    """A town that changes, an employer that stays, promises, and talk."""
    for number in range(events):
        texts = (
            f"I live in Town{chr(65 + number % 26)}{chr(97 + number // 26 % 26)}.",
            f"Bo{chr(97 + number % 26)} works at Acme.",
            f"I'll call them by 2031-{number % 12 + 1:02}-{number % 28 + 1:02}.",
            "That sounds like a long day.",
        )
        at = _BEGAN + timedelta(minutes=number)
        yield {"role": "user", "text": texts[number % len(texts)], "occurred_at": at.isoformat()}


async def spoken(client: Client, user: str, events: int) -> str:
    """The id of a session with the user."""
    made = await client.post(SESSIONS, {"agent_name": "scout", "user_id": user})
    session: str = made.body["data"]["id"]
    messages = list(said(events))
    for start in range(0, events, _AT_ONCE):
        body = {"messages": messages[start : start + _AT_ONCE]}
        answer = await client.post(f"{SESSIONS}/{session}/events", body)
        assert answer.status == 201, answer
    return session


async def finished(client: Client, session: str) -> None:
    while True:
        answer = await client.post(CONSOLIDATE, {"session_id": session})
        assert answer.status == 200, answer
        if answer.body["status"] in ("finished", "nothing_new"):
            return


async def disturbed(
    cluster: Cluster, superuser: str, name: str, *, events: int, kills: int, seed: int
) -> Disturbed:
    chance, loop = random.Random(seed), asyncio.get_running_loop()
    sql = await asyncpg.connect(superuser)
    try:
        async with cluster.client() as client:
            calm, rough = [await spoken(client, f"{kind} {name}", events) for kind in ("calm", "wild")]
            began = loop.time()
            await finished(client, calm)
            step = (loop.time() - began) / (events / _AT_ONCE)
            done = 0
            for _ in range(kills):
                done += await _killed(cluster, client, rough, chance.uniform(0, 2 * step))
                await sql.execute(_LET_GO)
            await finished(client, rough)
            return Disturbed(done, await _differing(sql, f"calm {name}", f"wild {name}"))
    finally:
        await sql.close()


async def _killed(cluster: Cluster, client: Client, session: str, after: float) -> bool:
    """Whether it was killed while a run was under way."""
    (service,) = cluster.replicas["agent_memory"]
    running = asyncio.create_task(client.post(CONSOLIDATE, {"session_id": session}))
    await asyncio.sleep(after)
    in_time = not running.done()
    await asyncio.to_thread(service.kill)
    with suppress(aiohttp.ClientError):
        await running
    await cluster.start(service)
    return in_time


async def _differing(sql: Any, calm: str, rough: str) -> int:
    differing = 0
    for query in (_FACTS, _MEMORIES, _CHANGES):
        both = [Counter(map(_row, await sql.fetch(query, user))) for user in (calm, rough)]
        only = [both[0] - both[1], both[1] - both[0]]
        differing += sum(each.total() for each in only)
        for kind, each in zip(("undisturbed", "disturbed"), only, strict=True):
            for row in list(each)[:_SHOWN]:
                print(f"only {kind}: {row}")
    return differing


def _row(row: Any) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row.values())
