"""A cluster at several times its capacity, and beside clients that take their time: what a client sees of it."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from bench.load import Load, Tally
from bench.slow import SlowClients
from tests.support.cluster import Cluster

TIMES = 5
SLOW_CLIENTS = 200
ONSET_SECONDS = 1.0
"""Until the limits hold: what had piled up by then is answered late."""
_PAUSE_SECONDS = 1.5
_MISSION, _CALLER = "orders", "agent-0"
_SUBJECTS = ("orders database", "payment worker", "ledger replica", "webhook queue", "search index")
_EVENTS = ("failover took minutes", "lost its lease", "lagged behind", "ran out of space")
_ALLOWED = {200, 201, 429, 503}


def texts(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [
        f"The {chance.choice(_SUBJECTS)} {chance.choice(_EVENTS)} in run {number}, said owner {chance.randrange(99)}"
        for number in range(count)
    ]


async def fill(cluster: Cluster, seed: int) -> None:
    async with cluster.client("write") as client:
        for text in texts(100, seed):
            entry = {"context_type": "intel", "mission_id": _MISSION, "content": text, "intel_source": "e2e"}
            lesson = {"agent_name": _CALLER, "memory_type": "lesson_learned", "content": text}
            for path, body in (("/api/psychic-cache/write", entry), ("/api/agent-memory/commit", lesson)):
                answer = await client.post(path, body)
                assert answer.status == 201, answer


def requests(cluster: Cluster, seed: int) -> list[bytes]:
    """Half of them assemble; the others ask the mission or write to it."""
    questions = [f"What happens when the {subject} {event}?" for subject in _SUBJECTS for event in _EVENTS]
    asked = {"caller": _CALLER, "mission_namespace": _MISSION, "token_budget": 2_000}
    written = {"context_type": "intel", "mission_id": _MISSION, "intel_source": "load"}
    half = len(questions) // 2
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("/api/context/assemble", {"query": one, **asked}) for one in questions),
        *(("/api/psychic-cache/query", {"query": one, "mission_id": _MISSION}) for one in questions[:half]),
        *(("/api/psychic-cache/write", {"content": one, **written}) for one in texts(half, seed)),
    ]
    return [_request(cluster, path, body) for path, body in calls]


def _request(cluster: Cluster, path: str, body: Any) -> bytes:
    content = json.dumps(body).encode()
    return _head(cluster, path, f"content-length: {len(content)}") + content


def _head(cluster: Cluster, path: str, length: str) -> bytes:
    lines = (
        f"POST {path} HTTP/1.1",
        "host: load",
        f"authorization: Bearer {cluster.tokens.write}",
        "content-type: application/json",
        length,
    )
    return "\r\n".join((*lines, "", "")).encode()


@dataclass
class Seen:
    """`slower`, `beside_slow` and `served` have one figure a round."""

    capacity: float = 0.0
    """Requests a second."""
    slower: list[float] = field(default_factory=list)
    """The accepted requests' p99 over that of one caller alone."""
    beside_slow: list[float] = field(default_factory=list)
    """One caller's p99 beside slow clients over that without them."""
    served: list[float] = field(default_factory=list)
    """Of the capacity."""
    memory: dict[str, float] = field(default_factory=dict)
    """The highest resident memory, over that before, by service."""
    statuses: Counter[int] = field(default_factory=Counter)
    without_retry_after: int = 0
    broken: int = 0
    not_413: list[str] = field(default_factory=list)
    """What else bodies beyond the limit were answered."""

    @property
    def n(self) -> int:
        return sum(self.statuses.values()) + self.broken

    @property
    def refused(self) -> int:
        return self.statuses[429] + self.statuses[503]

    def add(self, tally: Tally) -> None:
        self.statuses += tally.statuses
        self.without_retry_after += tally.without_retry_after
        self.broken += tally.broken + tally.unsent

    def violations(self, slower: float, memory: float) -> list[str]:
        """What was not as promised, with these as the most that p99 and memory may grow."""
        checks = {
            "slow answers": statistics.median_low(self.slower) > slower,
            "slow beside slow clients": statistics.median_low(self.beside_slow or [0.0]) > slower,
            "memory": max(self.memory.values()) > memory,
            "refused without Retry-After": self.without_retry_after > 0,
            "no answer": self.broken > 0,
            "other answers": not self.statuses.keys() <= _ALLOWED,
            "nothing refused": self.refused == 0,
            "large bodies": bool(self.not_413),
        }
        return [name for name, failed in checks.items() if failed]


async def overload(cluster: Cluster, seconds: float, rounds: int, seed: int) -> Seen:
    """One caller, then TIMES the capacity, in turn."""
    seen = Seen()
    load = _load(cluster, seed)
    await load.closed(32, seconds)
    seen.capacity = max([len((await load.closed(c, seconds)).seconds) / seconds for c in (8, 16)])
    before = memory(cluster)
    for _ in range(rounds):
        alone = await load.closed(1, seconds)
        async with _Peak(cluster) as peak:
            tally = await load.at(TIMES * seen.capacity, seconds, onset=ONSET_SECONDS)
        seen.add(tally)
        seen.served.append(len(tally.seconds) / seconds / seen.capacity)
        seen.slower.append(_p99(tally) / _p99(alone))
        for name, kilobytes in peak.highest.items():
            seen.memory[name] = max(seen.memory.get(name, 0.0), kilobytes / before[name])
        await asyncio.sleep(_PAUSE_SECONDS)
    load.close()
    return seen


async def beside_slow_clients(cluster: Cluster, seconds: float, rounds: int, seed: int, seen: Seen) -> None:
    """One caller, then one beside many who take their time, in turn; and bodies that are too large."""
    load = _load(cluster, seed)
    for _ in range(rounds):
        alone = await load.closed(1, seconds)
        async with SlowClients("127.0.0.1", _port(cluster), cluster.tokens.write, SLOW_CLIENTS):
            beside = await load.closed(1, seconds)
        seen.add(beside)
        seen.beside_slow.append(_p99(beside) / _p99(alone))
    load.close()
    seen.not_413 = await too_large(cluster)


def _load(cluster: Cluster, seed: int) -> Load:
    return Load("127.0.0.1", _port(cluster), requests(cluster, seed), seed)


def _port(cluster: Cluster) -> int:
    return int(cluster.url().rsplit(":", 1)[1])


def _p99(tally: Tally) -> float:
    """Infinite where nothing was answered."""
    return tally.percentile(0.99) if tally.seconds else float("inf")


def memory(cluster: Cluster) -> dict[str, int]:
    """Resident kilobytes by service."""
    return {service.name: _resident(service.pid) for service in cluster.all}


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class _Peak:
    """The highest resident memory of each service meanwhile."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.highest = memory(cluster)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            now = memory(self._cluster)
            self.highest = {name: max(now[name], most) for name, most in self.highest.items()}


async def too_large(cluster: Cluster) -> list[str]:
    """Answers other than 413 to bodies beyond the limit: by their length alone, and once they are too long."""
    missed = []
    for path in ("/api/context/assemble", "/api/psychic-cache/write", "/api/agent-memory/commit", "/mcp"):
        for length, piece in (
            ("content-length: 1000000000", b""),
            ("transfer-encoding: chunked", b"10000\r\n" + b" " * 65_536 + b"\r\n"),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", _port(cluster))
            writer.write(_head(cluster, path, length) + 40 * piece)
            line = await asyncio.wait_for(reader.readline(), 20)
            if b" 413 " not in line:
                missed.append(f"{path}, {length}: {line.decode().strip()}")
            writer.close()
    return missed
