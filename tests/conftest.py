"""Servers and databases for the tests that need them; each run has its own and removes them."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from local.database import Database, create_database, create_roles, drop_database, migrate
from local.servers import Postgres, Valkey, temporary_folder

if TYPE_CHECKING:
    from tests.support.containers import ContainerPostgres, ContainerRedis

_KEPT = {"SCRUBJAY_TEST_SERVERS", "SCRUBJAY_PG_BIN", "SCRUBJAY_REDIS_BIN"}
_TEMPLATE = "scrubjay_template"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Servers:
    """Both have start, stop, kill, sigstop and sigcont, and keep their address over all of these."""

    postgres: Postgres | ContainerPostgres
    redis: Valkey | ContainerRedis


@pytest.fixture(scope="session", autouse=True)
def own_environment() -> Iterator[None]:
    """Without the settings of the person who runs the tests: keys of paid APIs, addresses of real servers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("SCRUBJAY_", "VOYAGE_", "OPENAI_", "OTEL_")) and name not in _KEPT:
                patch.delenv(name)
        for name in ("DATABASE_URL", "REDIS_URL"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    with temporary_folder("scrubjay-tests-") as folder:
        yield folder


@pytest.fixture(scope="session")
def servers(server_folder: Path, choice: str | None) -> Iterator[Servers]:
    """Containers where a Docker engine answers, the embedded pair otherwise."""
    with ExitStack() as cleanup:
        pair = None if choice == "embedded" else _containers(cleanup, forced=choice == "docker")
        yield pair or _embedded(server_folder, cleanup)


@pytest.fixture(scope="session")
def choice() -> str | None:
    """SCRUBJAY_TEST_SERVERS: docker or embedded, without asking whether an engine answers."""
    given = os.environ.get("SCRUBJAY_TEST_SERVERS")
    if given not in (None, "", "docker", "embedded"):
        pytest.exit(f"SCRUBJAY_TEST_SERVERS is docker or embedded: {given!r}", returncode=4)
    return given or None


def _containers(cleanup: ExitStack, *, forced: bool) -> Servers | None:
    """None where there is no engine; and where one answers but has no such image, unless it is forced."""
    if not (forced or os.environ.get("DOCKER_HOST") or Path("/var/run/docker.sock").exists()):
        return None
    from docker.errors import DockerException  # type: ignore[import-untyped]

    from tests.support.containers import ContainerPostgres, ContainerRedis, engine_answers

    if not (forced or engine_answers()):
        return None
    postgres, redis = ContainerPostgres(), ContainerRedis()
    try:
        for server in (postgres, redis):
            cleanup.callback(server.remove)
            server.start()
    except DockerException as error:
        if forced:
            raise
        warnings.warn(f"a Docker engine answers, but: {error}; using the embedded servers", stacklevel=1)
        return None
    return Servers(postgres, redis)


def _embedded(folder: Path, cleanup: ExitStack) -> Servers:
    pair = Servers(Postgres(folder / "postgres", durable=False), Valkey(folder / "valkey"))
    for server in (pair.postgres, pair.redis):
        cleanup.callback(server.kill)
        server.start()
    return pair


@pytest.fixture(scope="session")
def redis_url(servers: Servers) -> str:
    return servers.redis.url


@pytest.fixture(scope="session")
async def template(servers: Servers, server_folder: Path) -> str:
    """A migrated database that nobody connects to, so that others are copied from it."""
    server = servers.postgres.dsn()
    await create_roles(server)
    database = await create_database(server, _TEMPLATE)
    migrate(database.owner, server_folder / "migrate.log")
    return database.name


@pytest.fixture(scope="session")
async def database(servers: Servers, template: str) -> Database:
    """One migrated database for the whole run: tests keep apart by tenant or mission."""
    return await create_database(servers.postgres.dsn(), "scrubjay", template=template)


@pytest.fixture
async def fresh_database(servers: Servers, template: str) -> AsyncIterator[Database]:
    """A migrated database of the test's own."""
    server = servers.postgres.dsn()
    database = await create_database(server, f"fresh_{next(_numbers)}", template=template)
    yield database
    await drop_database(server, database.name)


@pytest.fixture
async def empty_database(servers: Servers) -> AsyncIterator[Database]:
    """A database with roles and pgvector, before any migration."""
    server = servers.postgres.dsn()
    await create_roles(server)
    database = await create_database(server, f"empty_{next(_numbers)}")
    yield database
    await drop_database(server, database.name)
