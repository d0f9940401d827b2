"""`make proof-deadlines`, P4: while a dependency is stopped, every call is answered by its deadline.

Postgres, Redis, cache, agent memory and the embedder are each stopped (SIGSTOP) under a steady rate of calls, which
their client times. A bare echo in another process is timed all the while: what is late by no more than the echo was in
that moment is the machine's, and is counted apart. The control waits for its database as `command_timeout` says.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path

from local.process import Process
from proofs.deadlines.calling import AGENT, KINDS, MISSION, Caller, Told, judged
from proofs.deadlines.embedder import Embedder
from proofs.ground import Ground, Proof, run
from proofs.noise import Noise
from tests.support.calls import lesson, note, until
from tests.support.cluster import Client, Cluster
from tests.support.fakes.fake_openai import FakeOpenAI

SEED = 4
_SECONDS, _SHORT_SECONDS = 15.0, 4.0
_TIMES, _SHORT_TIMES = 3, 1
_CONTROL_SECONDS = 4.0
_WELL_SECONDS = 2.0
_BEFORE_SECONDS = 1.0
_SHOWN = 30


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    seconds, times = (_SHORT_SECONDS, _SHORT_TIMES) if short else (_SECONDS, _TIMES)
    async with AsyncExitStack() as closing:
        noise = await closing.enter_async_context(Noise())
        embedder = Embedder(ground.folder / "embedder.log")
        closing.push_async_callback(asyncio.to_thread, embedder.stop)
        embedder.launch()
        await asyncio.to_thread(embedder.await_ready)
        control = await _control(ground, embedder, noise, seed)
        cluster = await closing.enter_async_context(_cluster(ground, embedder, "deadlines"))
        client = await closing.enter_async_context(cluster.client("write"))
        await _fill(client)
        stage = _Stage(Caller(client, seed), noise)
        for name, process in _dependencies(ground, cluster, embedder).items():
            for _ in range(times):
                await stage.stopped(name, process, seconds)
    return stage.proof(control)


def _cluster(ground: Ground, embedder: Embedder, name: str) -> Cluster:
    folder: Path = ground.folder / name
    folder.mkdir()
    settings = {
        "SCRUBJAY_EMBEDDER": "openai",
        "OPENAI_BASE_URL": embedder.url,
        "OPENAI_API_KEY": FakeOpenAI.key,
    }
    return Cluster(ground.database, ground.valkey.url, folder, settings=settings)


def _dependencies(ground: Ground, cluster: Cluster, embedder: Embedder) -> dict[str, Process]:
    owners = {name: cluster.replicas[name][0] for name in ("cache", "agent_memory")}
    return {"postgres": ground.postgres, "redis": ground.valkey, **owners, "embedder": embedder}


async def _control(ground: Ground, embedder: Embedder, noise: Noise, seed: int) -> int:
    """How many calls a build without deadlines answers late, or never."""
    cluster = _cluster(ground, embedder, "patient")
    for service in cluster.all:
        name = service.module.removeprefix("services.")
        service.variables = {**service.variables, "PROOF_SERVICE": name}
        service.module = "proofs.deadlines.patient"
    async with cluster, cluster.client("write") as client:
        await _fill(client)
        stage = _Stage(Caller(client, seed), noise)
        await stage.stopped("postgres", ground.postgres, _CONTROL_SECONDS, patient=True)
    found = judged(stage.caller.told, noise)
    return len(found.late) + len(found.hung)


async def _fill(client: Client) -> None:
    async def filled() -> None:
        for path, body in (
            ("/api/psychic-cache/write", note(MISSION, "the orders database lags")),
            ("/api/agent-memory/commit", lesson(AGENT, "Check the lag of the orders database first.")),
        ):
            answer = await client.post(path, body)
            assert answer.status == 201, answer

    await until(filled)


class _Stage:
    def __init__(self, caller: Caller, noise: Noise) -> None:
        self.caller, self._noise = caller, noise
        self._stops: list[str] = []
        self._well_after: dict[str, list[float]] = {}
        self._unwell: list[str] = []

    async def stopped(self, name: str, process: Process, seconds: float, *, patient: bool = False) -> None:
        """For so long, under calls that began before and go on afterwards."""
        await until(self._well)
        calls = asyncio.create_task(self.caller.go_on(_BEFORE_SECONDS + seconds + _WELL_SECONDS))
        await asyncio.sleep(_BEFORE_SECONDS)
        # In a thread: finding all its processes takes a while, and the loop measures times.
        await asyncio.to_thread(process.sigstop)
        try:
            await asyncio.sleep(seconds)
        finally:
            await asyncio.to_thread(process.sigcont)
        thawed = time.monotonic()
        self._stops.append(name)
        if not patient:
            await self._until_well(name, thawed)
        await calls

    async def _until_well(self, name: str, thawed: float) -> None:
        """When an answer of each kind that was asked for since lacked nothing."""
        await until(self._well)
        first = {
            kind: min(
                (one.began + one.seconds for one in self.caller.told if _is_whole(one, kind.name, thawed)),
                default=time.monotonic(),
            )
            for kind in KINDS
        }
        after = max(first.values()) - thawed
        self._well_after.setdefault(name, []).append(round(after, 2))
        # A call asked for within the time is in time even if the machine was late, as late as it was.
        if after > _WELL_SECONDS + self._noise.during(thawed, after):
            self._unwell.append(f"{name} was well after {after:.2f} s")

    async def _well(self) -> None:
        told = await asyncio.gather(*map(self.caller.ask, KINDS))
        assert all(one.whole for one in told), [(one.kind.name, one.status) for one in told if not one.whole]

    def proof(self, control: int) -> Proof:
        told = self.caller.told
        found = judged(told, self._noise)
        for one in [*found.hung, *found.late][:_SHOWN]:
            print(
                f"  {one.kind.name} answered {one.status} after {one.seconds:.2f} s of {one.kind.milliseconds} ms"
            )
        for line in self._unwell:
            print(f"  {line}")
        return Proof(
            n=len(told),
            faults=len(self._stops),
            violations=len(found.late) + len(found.hung) + len(self._unwell),
            control_violations=control,
            more={
                "late": len(found.late),
                "late_as_a_bare_echo_was": len(found.as_late_as_an_echo),
                "hangs": len(found.hung),
                "most_over_deadline": round(max(one.over for one in told) + 0.2, 3),
                "worst_echo": round(self._noise.during(0, time.monotonic()), 3),
                "well_after": self._well_after,
                "unwell": len(self._unwell),
            },
        )


def _is_whole(told: Told, name: str, since: float) -> bool:
    return told.kind.name == name and told.whole and told.began >= since


if __name__ == "__main__":
    run("P4", SEED, prove)
