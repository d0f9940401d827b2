"""The services under measurement, and a caller."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

import aiohttp
import msgspec

from bench.assemble.data import CALLER, MISSION, questions
from local.database import NAME, create_database, create_roles, migrate
from local.process import free_ports, stop_together
from local.servers import Postgres, Valkey
from local.services import NAMES, Service, Tokens, variables


class Cluster:
    """A migrated database, and as many times the three services over it as a bench starts them."""

    def __init__(self, folder: Path, cleanup: ExitStack, *, durable: bool = False) -> None:
        self.tokens = Tokens.make()
        self.postgres = Postgres(folder / "postgres", durable=durable)
        self.valkey = Valkey(folder / "valkey")
        self.services: dict[str, list[Service]] = {}
        for server in (self.postgres, self.valkey):
            cleanup.callback(server.stop)
            server.start()
        asyncio.run(create_roles(self.postgres.dsn()))
        self.database = asyncio.run(create_database(self.postgres.dsn(), NAME))
        migrate(self.database.owner, folder / "migrations.log")
        self._folder = folder
        self._cleanup = cleanup

    def start(self, kind: str, settings: Mapping[str, str] = MappingProxyType({})) -> str:
        """The context's address. Owners of the kind without_sql remember their rows; any other kind is a name."""
        ports = dict(zip(NAMES, free_ports(len(NAMES)), strict=True))
        addresses = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        services = []
        for name in NAMES:
            given = variables(
                name,
                database_url=self.database.services[name],
                redis_url=self.valkey.url,
                tokens=self.tokens,
                addresses=addresses,
            )
            service = Service(
                name,
                self._folder / f"{kind}-{name}.log",
                ports[name],
                {**given, **settings, "BENCH_SERVICE": name},
            )
            if kind == "without_sql" and name != "context":
                service.module = "bench.assemble.without_sql"
            services.append(service)
        self.services[kind] = services
        self._cleanup.callback(stop_together, services[::-1])
        for service in services:
            service.launch()
        for service in services:
            service.await_ready()
        return addresses["context"]


class Caller:
    def __init__(
        self, session: aiohttp.ClientSession, url: str, *, log: bool, bodies: Sequence[bytes] = ()
    ) -> None:
        """Without `bodies`, it asks the questions of `bench.assemble`."""
        self._session, self._url = session, url + "/api/context/assemble"
        self._bodies = bodies or [
            msgspec.json.encode(
                {
                    "query": one,
                    "caller": CALLER,
                    "mission_namespace": MISSION,
                    "token_budget": 2000,
                    "log": log,
                }
            )
            for one in questions()
        ]
        self.ms: list[float] = []
        self.retrieval_ms: list[float] = []
        self.refused = self.degraded = 0
        self._next = 0

    async def once(self) -> None:
        self._next += 1
        started = time.perf_counter()
        body = self._bodies[self._next % len(self._bodies)]
        async with self._session.post(self._url, data=body) as response:
            answer = await response.read()
        if response.status != 200:
            self.refused += 1
            return
        self.ms.append((time.perf_counter() - started) * 1000)
        decoded = msgspec.json.decode(answer)
        self.retrieval_ms.append(decoded["retrieval_ms"])
        self.degraded += bool(decoded["degraded"])

    async def throughput(self, at_once: int, seconds: float) -> float:
        """Requests a second."""
        end = time.perf_counter() + seconds
        before, started = len(self.ms), time.perf_counter()

        async def worker() -> None:
            while time.perf_counter() < end:
                await self.once()

        await asyncio.gather(*(worker() for _ in range(at_once)))
        done = len(self.ms) - before
        self.degraded = 0
        del self.ms[before:], self.retrieval_ms[before:]
        return done / (time.perf_counter() - started)
