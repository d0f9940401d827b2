"""Asks a cluster: assemble and the owners' queries, by one caller and by eight, and what the processes take for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from bench.assemble.cluster import Cluster
from bench.client import Client
from bench.growth.data import SEED, Layout, questions
from bench.load import Load
from bench.race.usage import own_megabytes, processor_seconds

Figures = dict[str, Any]
CALLERS = (1, 8)
COPIES, SQL = "copies", "sql"
# Searches of copies in the owners' memory, and searches that Postgres does.
KINDS: dict[str, dict[str, str]] = {COPIES: {}, SQL: {"SCRUBJAY_HOT_SCOPES_MB": "0"}}
_WARM_SECONDS = 4.0


class Asked(NamedTuple):
    """One layout's cluster, and requests by operation for each kind of services."""

    layout: Layout
    cluster: Cluster
    loads: dict[tuple[str, str], Load]


async def asked(cluster: Cluster, layout: Layout, urls: Mapping[str, str]) -> Asked:
    keys = await _keys(urls[COPIES], cluster.tokens.admin, {place.tenant for place in layout.asked})
    loads = {
        (kind, name): _load(url, requests)
        for kind, url in urls.items()
        for name, requests in _requests(layout, keys).items()
    }
    return Asked(layout, cluster, loads)


async def _keys(url: str, admin: str, tenants: set[str]) -> dict[str, str]:
    async with Client(url, admin) as client:
        return {
            tenant: (
                await client.post("/api/context/keys", {"name": "bench", "access": "write", "tenant": tenant})
            )["token"]
            for tenant in tenants
        }


def _requests(layout: Layout, keys: Mapping[str, str]) -> dict[str, list[bytes]]:
    made: dict[str, list[bytes]] = {"assemble": [], "memories": [], "entries": []}
    for place in layout.asked:
        for question in questions():
            bodies = {
                "assemble": (
                    "/api/context/assemble",
                    {"caller": place.name, "mission_namespace": place.name},
                ),
                "memories": ("/api/agent-memory/query", {"agent_name": place.name}),
                "entries": ("/api/psychic-cache/query", {"mission_id": place.name}),
            }
            authorization = {"authorization": f"Bearer {keys[place.tenant]}"}
            for name, (path, body) in bodies.items():
                made[name].append(request(path, {"query": question, **body}, authorization))
    return made


def request(path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
    encoded = msgspec.json.encode(body)
    lines = {
        **headers,
        "host": "bench",
        "content-type": "application/json",
        "content-length": str(len(encoded)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + encoded


def _load(url: str, requests: Sequence[bytes]) -> Load:
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    return Load(address.hostname, address.port, requests, SEED)


async def rounds(systems: Sequence[Asked], count: int, seconds: float) -> list[Figures]:
    """For each system, the medians over rounds in which all of them are asked in turn."""
    for system in systems:
        for load in system.loads.values():
            await load.closed(4, _WARM_SECONDS)
    seen: list[dict[str, list[Figures]]] = [{} for _ in systems]
    for _ in range(count):
        for (kind, name), callers in ((key, c) for key in systems[0].loads for c in CALLERS):
            for system, runs in zip(systems, seen, strict=True):
                run = await _run(system, kind, name, callers, seconds)
                runs.setdefault(f"{kind} {name} c{callers}", []).append(run)
    return [{name: _median(of) for name, of in runs.items()} for runs in seen]


async def _run(system: Asked, kind: str, name: str, callers: int, seconds: float) -> Figures:
    processes = processes_of(system.cluster, kind)
    before = {process: processor_seconds([pid]) for process, pid in processes.items()}
    tally = await system.loads[kind, name].closed(callers, seconds)
    answered = len(tally.seconds)
    if not answered:
        raise RuntimeError(f"{kind} {name}: nothing was answered: {dict(tally.statuses)}")
    spent = {process: processor_seconds([pid]) - before[process] for process, pid in processes.items()}
    return {
        "p50": 1000 * tally.percentile(0.5),
        "p95": 1000 * tally.percentile(0.95),
        "per_s": answered / seconds,
        "failed": tally.sent - answered,
        **{f"cpu_{process}": 1000 * spent[process] / answered for process in processes},
    }


def processes_of(cluster: Cluster, kind: str) -> dict[str, int]:
    servers = {"postgres": cluster.postgres, "valkey": cluster.valkey}
    services = {service.name: service for service in cluster.services[kind]}
    return {name: server.pid for name, server in {**servers, **services}.items()}


def megabytes(cluster: Cluster) -> dict[str, float]:
    return {name: own_megabytes([pid]) for name, pid in processes_of(cluster, COPIES).items()}


def _median(runs: Sequence[Figures]) -> Figures:
    return {name: round(median(run[name] for run in runs), 2) for name in runs[0]}


def measure(systems: Sequence[Asked], count: int, seconds: float) -> list[Figures]:
    figures = asyncio.run(rounds(systems, count, seconds))
    for system, found in zip(systems, figures, strict=True):
        found["megabytes"] = megabytes(system.cluster)
    return figures
