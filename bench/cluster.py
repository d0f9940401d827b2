"""The cluster that a bench talks to: the one that the environment names, or a throw-away one."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from local.database import NAME, Database, create_database, create_roles, migrate
from local.process import LocalError, free_ports, stop_together
from local.servers import Postgres, Valkey, reachable
from local.services import NAMES, Service, Tokens, variables
from shared.auth import Principal

# For a user whose own temporary folder is private.
_SHARED = ("/tmp", "/var/tmp")  # noqa: S108


Differing: TypeAlias = Mapping[str, Mapping[str, str]]
"""The settings in which further services of these names differ."""


@dataclass(frozen=True)
class Cache:
    """The cache service behind the context service, for who asks it without the latter."""

    url: str
    identity: Mapping[str, str] = field(repr=False)
    """The header with which the context service names an admin of the tenant `default`."""
    dsn: str = field(repr=False)
    """The database as the service sees it: under the policies of the tables."""


@dataclass(frozen=True)
class Address:
    """The context service and an admin's token for it; `other_urls` are of further context services."""

    url: str
    token: str = field(repr=False)
    throw_away: bool
    other_urls: Sequence[str] = ()
    dsn: str = field(default="", repr=False)
    """The database's administrator, of a throw-away cluster."""
    cache: Cache | None = None
    """Of a throw-away cluster."""


@contextmanager
def cluster(
    environment: Mapping[str, str] = os.environ, others: Sequence[Differing] = ()
) -> Iterator[Address]:
    """A throw-away cluster has a further context service for each of `others`.

    Raises LocalError where only one of SCRUBJAY_URL and SCRUBJAY_ADMIN_TOKEN is set, or nothing starts.
    """
    url, token = environment.get("SCRUBJAY_URL"), environment.get("SCRUBJAY_ADMIN_TOKEN")
    if bool(url) != bool(token):
        raise LocalError(
            "SCRUBJAY_URL and SCRUBJAY_ADMIN_TOKEN go together: set both, or neither for a throw-away cluster"
        )
    if url and token:
        yield Address(url.rstrip("/"), token, throw_away=False)
        return
    # Without a handler the folder would stay behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as cleanup:
        yield _start(_folder(cleanup), cleanup, others)


@contextmanager
def temporary_database() -> Iterator[Database]:
    """A migrated database on a server of its own, which goes with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as cleanup:
        folder = _folder(cleanup)
        postgres = Postgres(folder / "postgres", durable=False)
        cleanup.callback(postgres.stop)
        postgres.start()
        database = asyncio.run(_database(postgres.dsn()))
        migrate(database.owner, folder / "migrations.log")
        yield database


def _folder(cleanup: ExitStack) -> Path:
    """A temporary folder that the user who runs PostgreSQL can enter."""
    parent = next(path for path in (tempfile.gettempdir(), *_SHARED) if reachable(Path(path)))
    folder = Path(tempfile.mkdtemp(prefix="scrubjay-bench-", dir=parent))
    cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o711)
    return folder


def _start(folder: Path, cleanup: ExitStack, others: Sequence[Differing]) -> Address:
    postgres, valkey = Postgres(folder / "postgres", durable=False), Valkey(folder / "valkey")
    for server in (postgres, valkey):
        cleanup.callback(server.stop)
        server.start()
    database = asyncio.run(_database(postgres.dsn()))
    migrate(database.owner, folder / "migrations.log")
    free = iter(free_ports(len(NAMES) * (1 + len(others))))
    ports = {name: next(free) for name in NAMES}
    addresses = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    tokens = Tokens.make()
    services = [
        Service(
            name,
            folder / f"{name}.log",
            ports[name],
            variables(
                name,
                database_url=database.services[name],
                redis_url=valkey.url,
                tokens=tokens,
                addresses=addresses,
            ),
        )
        for name in NAMES
    ]
    replicas = [_replicas(services, differing, folder / str(n), free) for n, differing in enumerate(others)]
    services += chain.from_iterable(replicas)
    cleanup.callback(stop_together, services[::-1])
    for service in services:
        service.launch()
    for service in services:
        service.await_ready()
    urls = [context.url for *_, context in replicas]
    admin = Principal("default", "env:admin", frozenset({"read", "write", "admin"}))
    cache = Cache(addresses["cache"], tokens.identity("cache", admin), database.services["cache"])
    return Address(
        addresses["context"],
        tokens.admin,
        throw_away=True,
        other_urls=urls,
        dsn=database.admin,
        cache=cache,
    )


def _replicas(
    services: Sequence[Service], differing: Differing, folder: Path, free: Iterator[int]
) -> list[Service]:
    """A context service and the owners that differ, beside the same database."""
    folder.mkdir()
    made: list[Service] = []
    addresses: dict[str, str] = {}
    for name, service in zip(NAMES, services, strict=True):
        if name in differing or name == "context":
            changed = {**service.variables, **addresses, **differing.get(name, {})}
            made.append(Service(name, folder / f"{name}.log", next(free), changed))
            addresses[f"SCRUBJAY_{name.upper()}_URL"] = made[-1].url
    return made


async def _database(server_dsn: str) -> Database:
    await create_roles(server_dsn)
    return await create_database(server_dsn, NAME)
