"""`make proof-degraded`, P5: whatever is away, and however, the answer says so.

Proxies make each dependency dead, slow and erroring. In each cell every kind of call is made, and its answer is
compared with the documented one; so is its time. The control is a context service that names nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import aiohttp

from local.process import free_port
from local.services import Service
from proofs.degraded.answers import AGENT, CALLS, DEPENDENCIES, MISSION, Call, Dependency, Given, wrong
from proofs.degraded.faulty import WAYS, Faulty, Way
from proofs.ground import Ground, Proof, run
from proofs.noise import Noise
from tests.support.calls import SLACK, lesson, note, until, within
from tests.support.cluster import Client, Cluster
from tests.support.fakes.fake_openai import FakeOpenAI

SEED = 5
_REQUESTS, _SHORT_REQUESTS = 50, 12
_DEADLINE_MS = 1_500
_AT_ONCE = 6
_HANGS_SECONDS = 15.0
_CONTROL: tuple[Dependency, ...] = ("cache", "agent_memory", "embedder")
_SHOWN = 40


class Broken(NamedTuple):
    dependency: Dependency
    way: Way
    call: str
    what: str


class Seen:
    def __init__(self) -> None:
        self.requests = Counter[tuple[Dependency, Way]]()
        self.broken: list[Broken] = []
        self.late_by_echo = 0


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    requests = _SHORT_REQUESTS if short else _REQUESTS
    async with AsyncExitStack() as closing:
        noise = await closing.enter_async_context(Noise())
        stage = await _Stage.build(ground, closing, seed, noise)
        control, seen = Seen(), Seen()
        for dependency in _CONTROL:
            await stage.cell(control, stage.silent, dependency, "dead", len(CALLS))
        for dependency, way in itertools.product(DEPENDENCIES, WAYS):
            await stage.cell(seen, stage.client, dependency, way, requests)
    for one in seen.broken[:_SHOWN]:
        print(f"  {one.dependency} {one.way}: {one.call} {one.what[:300]}")
    bare = sum(one.what.startswith("answers 500") for one in seen.broken)
    unmade = [cell for cell in itertools.product(DEPENDENCIES, WAYS) if seen.requests[cell] < requests]
    return Proof(
        n=seen.requests.total(),
        faults=len(seen.requests),
        violations=len(seen.broken) + len(unmade),
        control_violations=len(control.broken),
        more={"cells": len(seen.requests), "bare_500": bare, "late_as_a_bare_echo_was": seen.late_by_echo},
    )


class _Stage:
    """A cluster that reaches everything through proxies, and a silent context service beside it."""

    def __init__(self, proxies: dict[Dependency, Faulty], noise: Noise, seed: int) -> None:
        self._proxies, self._noise, self._seed = proxies, noise, seed
        self._numbers = itertools.count()

    client: Client
    silent: Client

    @classmethod
    async def build(cls, ground: Ground, closing: AsyncExitStack, seed: int, noise: Noise) -> _Stage:
        api = closing.enter_context(FakeOpenAI())
        plain = Cluster(ground.database, ground.valkey.url, ground.folder)
        targets: dict[Dependency, str] = {
            "postgres": ground.database.services["context"],
            "redis": ground.valkey.url,
            "cache": plain.url("cache"),
            "agent_memory": plain.url("agent_memory"),
            "embedder": api.url,
        }
        proxies = {name: await closing.enter_async_context(Faulty(url)) for name, url in targets.items()}
        stage = cls(proxies, noise, seed)
        for service in plain.all:
            service.variables = {**service.variables, **_through(proxies, service.variables, api.key)}
        await closing.enter_async_context(plain)
        stage.client = await closing.enter_async_context(plain.client("write"))
        stage.silent = await closing.enter_async_context(await _silent(plain, closing))
        await stage._fill()
        return stage

    async def cell(self, seen: Seen, client: Client, dependency: Dependency, way: Way, requests: int) -> None:
        await until(lambda: self._well(client))
        await self._proxies[dependency].becomes(way)
        turns = asyncio.Semaphore(_AT_ONCE)

        async def one(call: Call) -> None:
            async with turns:
                if what := await self._asked(seen, client, call, dependency):
                    seen.broken.append(Broken(dependency, way, call.name, what))
                seen.requests[dependency, way] += 1

        try:
            await asyncio.gather(*map(one, itertools.islice(itertools.cycle(CALLS), requests)))
        finally:
            await self._proxies[dependency].becomes("well")

    async def _asked(
        self, seen: Seen, client: Client, call: Call, dependency: Dependency | None
    ) -> str | None:
        mark = f"{self._seed}x{next(self._numbers)}"
        began = time.monotonic()
        try:
            async with asyncio.timeout(_HANGS_SECONDS):
                answer = await client.call(
                    call.method, call.path, call.body(mark), headers=within(_DEADLINE_MS)
                )
        except TimeoutError:
            return "hangs"
        except aiohttp.ClientError as error:
            return f"breaks off: {error!r}"
        took = time.monotonic() - began
        if took > _DEADLINE_MS / 1000 + SLACK:
            if took > _DEADLINE_MS / 1000 + SLACK + self._noise.during(began, took):
                return f"answers after {took:.2f} s"
            seen.late_by_echo += 1
        return wrong(call, dependency, Given(answer.status, answer.body, answer.headers))

    async def _well(self, client: Client) -> None:
        for call in CALLS:
            said = await self._asked(Seen(), client, call, None)
            assert said is None, (call.name, said)

    async def _fill(self) -> None:
        for path, body in (
            ("/api/psychic-cache/write", note(MISSION, "the orders replica lags by nine seconds")),
            ("/api/agent-memory/commit", lesson(AGENT, "Check the lag of the orders replica first.")),
        ):
            answer = await self.client.post(path, body)
            assert answer.status == 201, answer


def _through(proxies: Mapping[Dependency, Faulty], variables: Mapping[str, str], key: str) -> dict[str, str]:
    port = str(urlsplit(proxies["postgres"].url).port)
    through = {
        "DATABASE_URL": _at_port(variables["DATABASE_URL"], port),
        "REDIS_URL": proxies["redis"].url,
        "SCRUBJAY_EMBEDDER": "openai",
        "OPENAI_API_KEY": key,
        "OPENAI_BASE_URL": proxies["embedder"].url,
    }
    owners: dict[str, Dependency] = {
        "SCRUBJAY_CACHE_URL": "cache",
        "SCRUBJAY_AGENT_MEMORY_URL": "agent_memory",
    }
    return through | {name: proxies[owner].url for name, owner in owners.items() if name in variables}


def _at_port(dsn: str, port: str) -> str:
    parts = urlsplit(dsn)
    return urlunsplit(parts._replace(netloc=f"{parts.netloc.rpartition(':')[0]}:{port}"))


async def _silent(cluster: Cluster, closing: AsyncExitStack) -> Client:
    """Of one more context service, beside the cluster's own."""
    first = cluster.replicas["context"][0]
    service = Service("context", first.log.with_name("silent.log"), free_port(), dict(first.variables))
    service.module = "proofs.degraded.silent"
    service.launch()
    closing.push_async_callback(asyncio.to_thread, service.stop)
    await asyncio.to_thread(service.await_ready)
    return Client(service.url, cluster.tokens.write)


if __name__ == "__main__":
    run("P5", SEED, prove)
