"""Deploys drop nothing (P8): rolling restarts of every service under load, two replicas each behind HAProxy.

The context service is reached over HTTP as through an ingress; the owners over plain TCP as through a Kubernetes
Service. Streams must end cleanly and go on at the other replica without a gap. The control ends replicas without
letting them drain. Needs `haproxy` on the PATH.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import itertools
import json
import shutil
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from local.process import LocalError, Server, free_ports
from local.services import NAMES, Service, Tokens, variables
from local.warm import WarmService
from proofs.ground import Ground, Proof, run
from tests.support.cluster import Client

SEED = 20_268
PER_SECOND = 30
STREAMS = 4
REPLICAS = 2
_DRAIN_LIMIT = 10.0
# As deployments have it; the embedded stack is in more of a hurry.
_LINGER = {"SCRUBJAY_LINGER_SECONDS": "2.5"}

_CONFIG = """
global
    hard-stop-after 5s
    stats socket {folder}/haproxy.sock mode 600
defaults
    timeout connect 2s
    # A replica that answers its check late on a busy machine is not away.
    timeout check 10s
    timeout client 60s
    timeout server 60s
    option redispatch 1
    retries 3
frontend context
    mode http
    bind 127.0.0.1:{fronts[context]}
    default_backend context
backend context
    mode http
    balance roundrobin
    retry-on conn-failure empty-response
    # Only what may run twice: reads, and writes that say so with a key.
    http-request disable-l7-retry unless METH_GET or {{ req.hdr(idempotency-key) -m found }}
    option httpchk GET /readyz
{context}
frontend cache
    mode tcp
    bind 127.0.0.1:{fronts[cache]}
    default_backend cache
backend cache
    mode tcp
    balance roundrobin
    option httpchk GET /readyz
{cache}
frontend agent_memory
    mode tcp
    bind 127.0.0.1:{fronts[agent_memory]}
    default_backend agent_memory
backend agent_memory
    mode tcp
    balance roundrobin
    option httpchk GET /readyz
{agent_memory}
"""


class Proxy(Server):
    def __init__(self, folder: Path, fronts: dict[str, int], ports: dict[str, list[int]]) -> None:
        super().__init__("HAProxy", folder / "haproxy.log")
        found = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
        if found is None:
            raise LocalError("this proof needs haproxy: install its package")
        self._binary = found
        self._stats = folder / "haproxy.sock"
        self._servers = {f"{name}-{n}" for name, of in ports.items() for n in range(len(of))}
        self._config = folder / "haproxy.cfg"
        servers = {
            name: "\n".join(
                f"    server {name}-{n} 127.0.0.1:{port} check inter 300ms fall 2 rise 1"
                for n, port in enumerate(of)
            )
            for name, of in ports.items()
        }
        self._config.write_text(_CONFIG.format(folder=folder, fronts=fronts, **servers))

    def launch(self) -> None:
        self.spawn([self._binary, "-db", "-f", str(self._config)])

    def ready(self) -> bool:
        return self.up() == self._servers

    def up(self) -> set[str]:
        """The servers that have passed their last check."""
        with socket.socket(socket.AF_UNIX) as asking:
            try:
                asking.connect(str(self._stats))
            except OSError:
                return set()
            asking.sendall(b"show stat\n")
            lines = asking.makefile().read().removeprefix("# ").splitlines()
        rows = csv.DictReader(lines)
        return {row["svname"] for row in rows if (row["status"], row["check_status"]) == ("UP", "L7OK")}


@dataclass
class Load:
    """Requests at a steady rate, whatever the answers do."""

    client: Client
    sent: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    written: list[int] = field(default_factory=list)

    async def go_on(self) -> None:
        tasks: set[asyncio.Task[None]] = set()
        try:
            for number in itertools.count():
                task = asyncio.create_task(self._one(number))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                await asyncio.sleep(1 / PER_SECOND)
        finally:
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _one(self, number: int) -> None:
        path, body, keyed = next(itertools.islice(_requests(number), number % 4, None))
        headers = {"idempotency-key": f"restarts-{number}"} if keyed else {}
        self.sent += 1
        try:
            answer = await self.client.post(path, body, headers=headers)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.failed[type(error).__name__] += 1
            return
        if answer.status >= 300:
            self.failed[f"{path} {answer.status}"] += 1
        elif path.endswith("/write"):
            self.written.append(answer.body["data"]["id"])


def _requests(number: int) -> Iterator[tuple[str, dict[str, Any], bool]]:
    text = f"finding {number}: the orders database failed over"
    entry = {"context_type": "intel", "mission_id": "m", "content": text, "intel_source": "proof"}
    yield "/api/psychic-cache/write", entry, True
    question = {"query": "what of the orders database?", "caller": "scout", "mission_namespace": "m"}
    yield "/api/context/assemble", question, False
    memory = {"agent_name": "scout", "content": f"lesson {number}: fence it", "memory_type": "lesson_learned"}
    yield "/api/agent-memory/commit", memory, True
    yield "/api/psychic-cache/query", {"mission_id": "m", "query": "orders database"}, False


@dataclass
class Follower:
    """A reader of the timeline that resumes whenever its stream ends."""

    client: Client
    last: int = 0
    seen: set[int] = field(default_factory=set)
    ended: int = 0
    broken: int = 0

    async def go_on(self) -> None:
        while True:
            headers = {"accept": "text/event-stream", "last-event-id": str(self.last)}
            timeout = aiohttp.ClientTimeout(total=None, sock_read=40)
            try:
                async with self.client.session.get(
                    "/api/timeline", headers=headers, timeout=timeout
                ) as answer:
                    if answer.status != 200:
                        await asyncio.sleep(0.2)
                        continue
                    await self._read(answer.content)
                self.ended += 1
            except (aiohttp.ClientError, TimeoutError, OSError):
                self.broken += 1
                await asyncio.sleep(0.2)

    async def _read(self, lines: aiohttp.StreamReader) -> None:
        async for raw in lines:
            name, _, value = raw.decode().rstrip("\n").partition(": ")
            if name != "data":
                continue
            event = json.loads(value)
            self.last = event["seq"]
            if event["kind"] == "cache_write":
                self.seen.add(event["payload"]["id"])


class Fleet:
    """Two replicas of each service behind the proxy."""

    def __init__(self, ground: Ground) -> None:
        self.tokens = Tokens.make()
        self.ports = {name: free_ports(REPLICAS) for name in NAMES}
        self.fronts = dict(zip(NAMES, free_ports(len(NAMES)), strict=True))
        addresses = {name: f"http://127.0.0.1:{port}" for name, port in self.fronts.items()}
        self.url = addresses["context"]
        self.replicas = {
            name: [
                WarmService(
                    name,
                    ground.folder / f"{name}-{n}.log",
                    port,
                    {
                        **variables(
                            name,
                            database_url=ground.database.services[name],
                            redis_url=ground.valkey.url,
                            tokens=self.tokens,
                            addresses=addresses,
                        ),
                        **_LINGER,
                        **ground.vectors,
                    },
                )
                for n, port in enumerate(self.ports[name])
            ]
            for name in NAMES
        }
        self._proxy = Proxy(ground.folder, self.fronts, self.ports)
        self.slow_drains = 0

    async def __aenter__(self) -> Fleet:
        await self.start(*(one for name in NAMES for one in self.replicas[name]))
        self._proxy.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._proxy.stop)
        for name in reversed(NAMES):
            await asyncio.gather(*(asyncio.to_thread(one.stop) for one in self.replicas[name]))

    async def start(self, *services: Service) -> None:
        for service in services:
            service.launch()
        await asyncio.gather(*(asyncio.to_thread(service.await_ready) for service in services))

    async def restart(self, service: Service, *, drained: bool = True) -> None:
        began = asyncio.get_running_loop().time()
        if not drained:
            service.kill()
        await asyncio.to_thread(service.stop)
        self.slow_drains += asyncio.get_running_loop().time() - began > _DRAIN_LIMIT + 1
        await self.start(service)
        # As a rollout waits until a new replica has its share, before it takes the next one.
        await asyncio.to_thread(self._proxy.await_ready)
        await asyncio.sleep(1)


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    restarts = 1 if short else 10
    async with Fleet(ground) as fleet, Client(fleet.url, fleet.tokens.write) as client:
        load, followers = Load(client), [Follower(client) for _ in range(STREAMS)]
        tasks = [asyncio.create_task(load.go_on())]
        tasks += [asyncio.create_task(one.go_on()) for one in followers]
        await asyncio.sleep(2)
        for name in NAMES:
            for n in range(restarts):
                await fleet.restart(fleet.replicas[name][n % REPLICAS])
        await asyncio.sleep(1)
        broken = sum(one.broken for one in followers)
        ended = sum(one.ended for one in followers)
        failed, sent, written = Counter(load.failed), load.sent, set(load.written)
        await _caught_up(followers, written)
        missed = sum(len(written - one.seen) for one in followers)
        for n in range(REPLICAS if short else 2 * REPLICAS):
            await fleet.restart(fleet.replicas["context"][n % REPLICAS], drained=False)
        control = load.failed.total() - failed.total() + sum(one.broken for one in followers) - broken
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return Proof(
        n=sent,
        faults=restarts * len(NAMES),
        violations=failed.total() + broken + missed + fleet.slow_drains,
        control_violations=control,
        more={
            "failed": dict(failed),
            "streams_ended_cleanly": ended,
            "streams_broken": broken,
            "events_missed": missed,
            "drains_above_10_s": fleet.slow_drains,
        },
    )


async def _caught_up(followers: list[Follower], written: set[int]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(30):
            while any(written - one.seen for one in followers):
                await asyncio.sleep(0.1)


def main() -> None:
    run("P8", SEED, prove)


if __name__ == "__main__":
    main()
