"""Postgres frozen or killed: every call answers 503 in time, no acknowledged write is lost, none doubled."""

import asyncio
import itertools
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field
from functools import partial

import pytest

from local.database import ROOT
from local.process import environment, wait_for
from tests.conftest import Servers
from tests.support.calls import (
    BUSY_SLACK,
    Json,
    Timed,
    assert_unavailable,
    lesson,
    note,
    pages,
    question,
    timed,
    until,
    within,
)
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import own_cluster

PER_SECOND = 20
# The last one outlasts a write's own deadline of 5 s.
FROZEN_SECONDS = (2.5, 2.5, 6.0)
WELL_AGAIN_SECONDS = 2.0


@pytest.fixture(scope="module")
async def cluster(
    servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("postgres-away")
    async with own_cluster("postgres_away", servers, template, folder) as running:
        yield running


@dataclass
class Callers:
    """Every kind of call, each with a deadline of its own; keeps what was asked and what was answered."""

    agent: Client
    keyed: Client
    """A client with an API key, which is looked up in Postgres."""
    mission: str
    kinds: dict[str, int] = field(
        default_factory=lambda: {
            "write": 800,
            "commit": 800,
            "query": 600,
            "memories": 600,
            "assemble": 700,
            "page": 400,
            "stats": 500,
            "key": 300,
            "forwarded key": 300,
            "default read": 2000,
            "default write": 5000,
        }
    )
    """The deadline of each in milliseconds; the default ones are not asked for."""
    writes: dict[str, tuple[str, Json]] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)
    answers: list[tuple[str, Timed]] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def go_on(self, seconds: float) -> None:
        """A call every 1/PER_SECOND, in turn, whatever became of those before; returns when all are answered."""
        end = time.monotonic() + seconds
        calls = []
        for kind in itertools.cycle(self.kinds):
            calls.append(asyncio.create_task(self.ask(kind)))
            await asyncio.sleep(1 / PER_SECOND)
            if time.monotonic() > end:
                break
        await asyncio.gather(*calls)

    async def ask(self, kind: str) -> Timed:
        done = await timed(self._call(kind, next(self._numbers)))
        self.answers.append((kind, done))
        return done

    def _call(self, kind: str, number: int) -> Awaitable[Answer]:
        headers = {} if kind.startswith("default") else within(self.kinds[kind])
        match kind:
            case "write" | "default write":
                body = note(self.mission, f"finding {number} about the orders database")
                return self._write(f"{self.mission}-{number}", "/api/psychic-cache/write", body, headers)
            case "commit":
                body = lesson(
                    self.mission, f"Lesson {number}: of {number} retries {number + 1} are too many."
                )
                return self._write(f"{self.mission}-{number}", "/api/agent-memory/commit", body, headers)
            case "query" | "default read":
                body = {"mission_id": self.mission, "query": "orders database"}
                return self.agent.post("/api/psychic-cache/query", body, headers=headers)
            case "memories":
                body = {"agent_name": self.mission, "query": "retries"}
                return self.agent.post("/api/agent-memory/query", body, headers=headers)
            case "assemble":
                return self.agent.post("/api/context/assemble", question(self.mission), headers=headers)
            case "page":
                return self.agent.get(f"/api/timeline?mission={self.mission}", headers=headers)
            case "stats":
                return self.agent.get(f"/api/psychic-cache/{self.mission}/stats", headers=headers)
            case "key":
                return self.keyed.get(f"/api/timeline?mission={self.mission}", headers=headers)
            case _:
                return self.keyed.post("/api/agent-memory/list", {"agent_name": "x"}, headers=headers)

    async def _write(self, key: str, path: str, body: Json, headers: dict[str, str]) -> Answer:
        self.writes[key] = (path, body)
        return await self.write(key, headers)

    async def write(self, key: str, headers: dict[str, str] | None = None) -> Answer:
        path, body = self.writes[key]
        answer = await self.agent.post(path, body, headers={**(headers or {}), "idempotency-key": key})
        if answer.status == 201:
            self.acknowledged[key] = _id_of(answer)
        return answer


def _id_of(answer: Answer) -> int:
    body = answer.body.get("data") or answer.body
    return int(body.get("id") or body["memory_id"])


@pytest.fixture
async def callers(cluster: Cluster, request: pytest.FixtureRequest) -> AsyncIterator[Callers]:
    token = await _new_key(cluster)
    async with cluster.client("write") as agent, cluster.client(token) as keyed:
        yield Callers(agent, keyed, request.node.name)


async def _new_key(cluster: Cluster) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.context", "key", "make", "--name", "e2e", "--access", "write"),
        cwd=ROOT,
        env=environment(cluster.replicas["context"][0].variables),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode().strip()


async def test_frozen(cluster: Cluster, servers: Servers, callers: Callers) -> None:
    for seconds in FROZEN_SECONDS:
        before = len(callers.answers)
        await callers.go_on(1.0)
        assert {kind: done for kind, done in callers.answers[before:] if done.status > 201} == {}
        try:
            # In a thread: finding all its processes takes a while, and the loop measures times.
            await asyncio.to_thread(servers.postgres.sigstop)
            frozen = time.monotonic()
            calls = asyncio.create_task(callers.go_on(seconds + 1.0))
            await asyncio.sleep(seconds)
        finally:
            thawed = time.monotonic()
            await asyncio.to_thread(servers.postgres.sigcont)
        await _all_well(callers, WELL_AGAIN_SECONDS)
        await calls
        _answered_in_time(callers, frozen, thawed)
    await _nothing_lost_or_doubled(callers)


async def _all_well(callers: Callers, seconds: float) -> None:
    async def well(kind: str) -> None:
        done = await callers.ask(kind)
        assert done.status in (200, 201), (kind, done)
        assert done.answer.body.get("degraded", []) == [], (kind, done)

    await asyncio.gather(*(until(partial(well, kind), seconds) for kind in callers.kinds))


def _answered_in_time(callers: Callers, frozen: float, thawed: float) -> None:
    late = [
        (kind, done.status, round(done.seconds, 2), done.answer.body.get("detail"))
        for kind, done in callers.answers
        if done.seconds >= callers.kinds[kind] / 1000 + BUSY_SLACK
    ]
    assert late == [], f"of {len(callers.answers)}"
    for _, done in callers.answers:
        if done.started > frozen and done.started + done.seconds < thawed:
            assert_unavailable(done.answer, "postgres", "cache", "agent_memory")


async def _nothing_lost_or_doubled(callers: Callers) -> None:
    acknowledged = dict(callers.acknowledged)
    assert acknowledged
    for key in callers.writes:
        answer = await callers.write(key)
        assert answer.status == 201, answer
        assert _id_of(answer) == acknowledged.get(key, _id_of(answer)), "a retry made another"
    entries = await pages(callers.agent, f"/api/psychic-cache/{callers.mission}/entries")
    memories = await _memories(callers)
    for path, found in (
        ("/api/psychic-cache/write", [entry for page in entries for entry in page]),
        ("/api/agent-memory/commit", memories),
    ):
        wanted = sorted(body["content"] for one, body in callers.writes.values() if one == path)
        assert sorted(entry["content"] for entry in found) == wanted


async def _memories(callers: Callers) -> list[Json]:
    body = {"agent_name": callers.mission}
    found = await pages(callers.agent, "/api/agent-memory/list", 100, body)
    return [memory for page in found for memory in page]


async def test_killed(cluster: Cluster, servers: Servers, callers: Callers) -> None:
    """Every process of it at once; then a new server on the same data."""
    calls = asyncio.create_task(callers.go_on(1.5))
    await asyncio.sleep(0.5)
    await asyncio.to_thread(servers.postgres.kill)
    await calls
    killed = time.monotonic()
    await callers.go_on(1.5)
    _answered_in_time(callers, killed, time.monotonic())
    async with cluster.client(None) as probe:
        assert_unavailable(await probe.get("/readyz"), "postgres")
        assert (await probe.get("/livez")).status == 200
    servers.postgres.start()
    await _all_well(callers, 10)
    await _nothing_lost_or_doubled(callers)
    assert all(service.running for service in cluster.all)


async def test_services_end_while_it_is_frozen(cluster: Cluster, servers: Servers, callers: Callers) -> None:
    await asyncio.to_thread(servers.postgres.sigstop)
    try:
        calls = asyncio.create_task(callers.go_on(0.5))
        await asyncio.sleep(0.5)
        for service in cluster.all:
            service.send(signal.SIGTERM)
        ended = await asyncio.to_thread(wait_for, lambda: not any(s.running for s in cluster.all), 10)
    finally:
        await asyncio.to_thread(servers.postgres.sigcont)
    assert ended
    assert [service.returncode for service in cluster.all] == [0, 0, 0]
    await calls
    assert {done.status for _, done in callers.answers} == {503}
