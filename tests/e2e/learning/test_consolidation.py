"""Replicas of the services consolidate the same sessions, and the work is done once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import Servers
from tests.support.calls import Json, metric, until
from tests.support.cluster import Client, Cluster
from tests.support.clusters import own_cluster

SESSIONS, CONSOLIDATE = "/api/sessions", "/api/memory/consolidate"
RUNS = "/api/memory/consolidations"
EVENTS = 250
SILENT_SECONDS = "3"
REQUESTS = "scrubjay_http_requests_total"
ROUTES = ("/internal/consolidation/begin", "/internal/consolidation/step")


@pytest.fixture(scope="module")
async def pair(
    servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    folder: Path = tmp_path_factory.mktemp("consolidating")
    own = {"context": {"SCRUBJAY_CONSOLIDATE_SECONDS": SILENT_SECONDS}}
    async with own_cluster(
        "consolidating", servers, template, folder, replicas=2, settings_of=own
    ) as cluster:
        yield cluster


async def _ok(client: Client, method: str, path: str, body: Json | None = None) -> Json:
    answer = await client.call(method, path, body)
    assert answer.status < 300, answer
    found: Json = answer.body
    return found


async def _spoken(client: Client, user: str, texts: list[str]) -> str:
    made = await _ok(client, "POST", SESSIONS, {"agent_name": "scout", "user_id": user})
    session: str = made["data"]["id"]
    await _say(client, session, texts)
    return session


async def _say(client: Client, session: str, texts: list[str]) -> None:
    for start in range(0, len(texts), 100):
        messages = [{"role": "user", "text": text} for text in texts[start : start + 100]]
        await _ok(client, "POST", f"{SESSIONS}/{session}/events", {"messages": messages})


async def _learned_by_now(client: Client, session: str, last: int) -> list[Json]:
    """The session's runs, oldest first, once one is through."""
    page = await _ok(client, "GET", f"{RUNS}?session_id={session}")
    runs: list[Json] = page["data"][::-1]
    assert runs, session
    assert (runs[-1]["position"], runs[-1]["status"]) == (last, "finished")
    return runs


async def _require_once(client: Client, runs: list[Json], turns: int) -> None:
    """Each run begins where the one before it ended, and each turn's fact is opened once."""
    assert [run["after"] for run in runs] == [0, *(run["through"] for run in runs[:-1])]
    opened: Counter[int] = Counter()
    for run in runs:
        cursor: str | None = ""
        while cursor is not None:
            query = f"?limit=100&cursor={cursor}" if cursor else "?limit=100"
            page = await _ok(client, "GET", f"{RUNS}/{run['id']}/changes{query}")
            opened.update(each["turns"][0] for each in page["data"] if _opens_fact(each))
            cursor = page["next"]
    assert opened == Counter(range(1, turns + 1))


def _opens_fact(change: Json) -> bool:
    return (change["kind"], change["action"]) == ("fact", "opened")


def _towns(count: int, first: int = 0) -> list[str]:
    numbers = range(first, first + count)
    return [f"I live in Town{chr(97 + each // 26)}{chr(97 + each % 26)}." for each in numbers]


async def test_two_replicas_of_each_service_do_the_work_once(pair: Cluster) -> None:
    async with pair.client() as client:
        sessions = [await _spoken(client, user, _towns(EVENTS)) for user in ("Ana", "Bo")]

        async def run(url: str, session: str) -> None:
            """As callers do that are told to call again."""
            async with Client(url, pair.tokens.write) as own:
                while True:
                    done = await _ok(own, "POST", CONSOLIDATE, {"session_id": session})
                    if done["status"] in ("finished", "nothing_new"):
                        return
                    await asyncio.sleep(0.05)

        replicas = [service.url for service in pair.replicas["context"]]
        await asyncio.gather(*(run(url, each) for url in 2 * replicas for each in sessions))
        for session in sessions:
            await _require_once(client, await _learned_by_now(client, session, EVENTS), EVENTS)
    for service in pair.replicas["agent_memory"]:
        async with Client(service.url, None) as own:
            page = (await own.get("/metrics")).body
        assert sum(metric(page, REQUESTS, {"route": route}) for route in ROUTES) > 0


async def test_a_silent_session_is_learned_from_once_by_both_replicas(pair: Cluster) -> None:
    async with pair.client() as client:
        session = await _spoken(client, "Cleo", _towns(20))
        await until(lambda: _learned_by_now(client, session, 20))
        await _say(client, session, _towns(20, 20))
        runs = await until(lambda: _learned_by_now(client, session, 40))
        await _require_once(client, runs, 40)
        assert {run["written_by"] for run in runs} == {"consolidation"}
