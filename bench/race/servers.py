"""Everything that a race needs: one Postgres with a database for each system, Valkey, the stub, and the servers."""

from __future__ import annotations

import asyncio
import http.client
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import asyncpg

from bench.race.material import MODEL, Addresses
from local.database import NAME, ROOT, Database, create_database, create_roles, migrate
from local.process import Server, free_ports, stop_together
from local.servers import Postgres, Valkey
from local.services import NAMES, Service, Tokens, variables

TENANTS = ("missions", "memories")


class Field(NamedTuple):
    """The servers of a race. `processes` are the ids of each server's own processes."""

    addresses: Addresses
    processes: dict[str, list[int]]


class _Answering(Server):
    """A server that is ready when it answers a GET."""

    start_seconds = 240

    def __init__(
        self,
        name: str,
        log: Path,
        argv: Sequence[str | Path],
        port: int,
        settings: Mapping[str, str],
        path: str = "/health",
    ) -> None:
        super().__init__(name, log)
        self._argv, self._port, self._settings, self._path = argv, port, settings, path

    def launch(self) -> None:
        self.spawn(self._argv, cwd=ROOT, env={**os.environ, **self._settings})

    def ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=2)
        try:
            connection.request("GET", self._path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


@contextmanager
def started(folder: Path, environments: Mapping[str, Path]) -> Iterator[Field]:
    with ExitStack() as cleanup:
        ports = dict(zip((*NAMES, "stub", "hindsight"), free_ports(len(NAMES) + 2), strict=True))
        urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        argv = [sys.executable, "-m", "bench.race.stub", str(ports["stub"])]
        model = _Answering("stub", folder / "stub.log", argv, ports["stub"], {})
        postgres, valkey = Postgres(folder / "postgres"), Valkey(folder / "valkey")
        below: list[Server] = [model, postgres, valkey]
        for server in below:
            cleanup.callback(server.stop)
            server.start()
        database = asyncio.run(_databases(postgres, list(environments)))
        migrate(database.owner, folder / "migrations.log")
        ours = _scrubjay(folder, database, valkey.url, ports, f"{urls['stub']}/v1")
        peers = []
        if "hindsight" in environments:
            argv = [str(environments["hindsight"] / "bin/hindsight-api")]
            settings = _hindsight(postgres, ports["hindsight"], f"{urls['stub']}/v1")
            peers.append(
                _Answering("hindsight", folder / "hindsight.log", argv, ports["hindsight"], settings)
            )
        _launch([*ours, *peers], cleanup)
        addresses = Addresses(
            folder=str(folder),
            stub=f"{urls['stub']}/v1",
            context=urls["context"],
            hindsight=urls["hindsight"],
            dsn={name: postgres.dsn(name) for name in (*environments, NAME)},
            keys={tenant: _key(tenant, database.services["context"]) for tenant in TENANTS},
        )
        processes: dict[str, Sequence[Server]] = {
            "postgres": [postgres],
            "scrubjay": ours,
            "hindsight": peers,
        }
        yield Field(addresses, {name: [server.pid for server in of] for name, of in processes.items()})


def _launch(servers: Sequence[Server], cleanup: ExitStack) -> None:
    cleanup.callback(stop_together, servers[::-1])
    for server in servers:
        server.launch()
    for server in servers:
        server.await_ready()


async def _databases(postgres: Postgres, peers: Sequence[str]) -> Database:
    await create_roles(postgres.dsn())
    for name in peers:
        server = await asyncpg.connect(postgres.dsn())
        await server.execute(f"create database {name}")
        await server.close()
        connection = await asyncpg.connect(postgres.dsn(name))
        await connection.execute("create extension vector")
        await connection.close()
    return await create_database(postgres.dsn(), NAME)


def _scrubjay(
    folder: Path, database: Database, redis_url: str, ports: Mapping[str, int], stub: str
) -> list[Server]:
    tokens = Tokens.make()
    addresses = {name: f"http://127.0.0.1:{ports[name]}" for name in NAMES}
    embedder = {
        "SCRUBJAY_EMBEDDER": "openai",
        "OPENAI_BASE_URL": stub,
        "OPENAI_API_KEY": "none",
        "SCRUBJAY_EMBEDDING_MODEL": MODEL,
    }
    return [
        Service(
            name,
            folder / f"{name}.log",
            ports[name],
            embedder
            | variables(
                name,
                database_url=database.services[name],
                redis_url=redis_url,
                tokens=tokens,
                addresses=addresses,
            ),
        )
        for name in NAMES
    ]


def _hindsight(postgres: Postgres, port: int, stub: str) -> dict[str, str]:
    """Without a language model and without its cross-encoder."""
    settings = {
        "DATABASE_URL": postgres.dsn("hindsight"),
        "LLM_PROVIDER": "none",
        "EMBEDDINGS_PROVIDER": "openai",
        "EMBEDDINGS_OPENAI_API_KEY": "none",
        "EMBEDDINGS_OPENAI_MODEL": MODEL,
        "EMBEDDINGS_OPENAI_BASE_URL": stub,
        "RERANKER_PROVIDER": "rrf",
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "LOG_LEVEL": "warning",
    }
    return {**{f"HINDSIGHT_API_{name}": value for name, value in settings.items()}, "HF_HUB_OFFLINE": "1"}


def _key(tenant: str, dsn: str) -> str:
    argv = [sys.executable, "-m", "services.context", "key", "make", "--tenant", tenant, "--name", "race"]
    made = subprocess.run(
        [*argv, "--access", "admin"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": dsn},
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.split()[0]
