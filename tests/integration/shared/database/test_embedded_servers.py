"""The servers from wheels: nothing is lost over a crash, nothing outlives the process that started them."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import redis.asyncio
from redis.exceptions import AuthenticationError

from local.database import ROOT, SERVICE_ROLES, create_database, create_roles
from local.process import LocalError, Process, ProcessFailedError, alive, descendants, wait_for
from local.servers import Postgres, ServerMissingError, Valkey


@pytest.fixture(scope="module")
def postgres(server_folder: Path) -> Iterator[Postgres]:
    server = Postgres(server_folder / "embedded", durable=False)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def valkey(server_folder: Path) -> Iterator[Valkey]:
    server = Valkey(server_folder / "embedded-valkey")
    server.start()
    yield server
    server.kill()


async def test_roles_carry_the_settings_of_search(postgres: Postgres) -> None:
    await create_roles(postgres.dsn())
    await create_roles(postgres.dsn())  # every start does it again
    database = await create_database(postgres.dsn(), "roles")
    assert set(database.services) == set(SERVICE_ROLES)
    for dsn in database.services.values():
        connection = await asyncpg.connect(dsn)
        # Loading the library is what checks the values: a wrong one would be dropped with a warning.
        await connection.execute("SELECT '[1]'::vector")
        shown = [
            await connection.fetchval(f"SHOW {name}")
            for name in ("statement_timeout", "hnsw.iterative_scan", "hnsw.ef_search")
        ]
        await connection.close()
        assert shown == ["10s", "relaxed_order", "200"]


async def test_a_commit_outlives_kill_9_of_every_process(postgres: Postgres) -> None:
    connection = await asyncpg.connect(postgres.dsn())
    assert await connection.fetchval("SHOW synchronous_commit") == "on"
    await connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    family = [postgres.pid, *descendants(postgres.pid)]
    postgres.kill()
    assert len(family) > 3
    assert not any(map(alive, family))
    postgres.start()
    connection = await asyncpg.connect(postgres.dsn())
    assert await connection.fetchval("SELECT answer FROM kept") == 42
    await connection.close()


async def test_a_stopped_server_is_silent_until_it_continues(postgres: Postgres, valkey: Valkey) -> None:
    connection = await asyncpg.connect(postgres.dsn())
    client = redis.asyncio.Redis.from_url(valkey.url)
    questions: list[tuple[Process, Callable[[], Awaitable[Any]]]] = [
        (postgres, lambda: connection.fetchval("SELECT 1")),
        (valkey, lambda: client.set("key", "value")),
    ]
    for server, ask in questions:
        assert await ask()
        server.sigstop()
        answer = asyncio.ensure_future(ask())
        try:
            assert not (await asyncio.wait({answer}, timeout=0.3))[0]
        finally:
            server.sigcont()
        assert await answer
    await connection.close()
    await client.aclose()


async def test_neither_server_answers_without_its_password(postgres: Postgres, valkey: Valkey) -> None:
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(postgres.dsn().replace(postgres.password, "guess"))
    client = redis.asyncio.Redis(port=valkey.port)
    with pytest.raises(AuthenticationError):
        await client.ping()
    await client.aclose()


_STARTS_BOTH = """
import sys, time
from pathlib import Path
from local.servers import Postgres, Valkey
folder = Path(sys.argv[1])
servers = Postgres(folder / "postgres", durable=False), Valkey(folder / "valkey")
for server in servers:
    server.start()
print(*(server.pid for server in servers), flush=True)
time.sleep(600)
"""


def test_both_end_when_their_parent_is_killed(server_folder: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _STARTS_BOTH, server_folder / "orphans"], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    roots = [int(pid) for pid in parent.stdout.readline().split()]
    family = roots + [child for pid in roots for child in descendants(pid)]
    assert all(map(alive, family))
    assert len(family) > 4
    parent.kill()
    parent.communicate()
    assert wait_for(lambda: not any(map(alive, family)), 120)


def test_a_server_that_cannot_start_says_why(server_folder: Path, postgres: Postgres) -> None:
    second = Postgres(server_folder / "second", durable=False)
    second.port = postgres.port
    with pytest.raises(ProcessFailedError, match="in use"):
        second.start()


def test_data_of_another_version_is_refused(server_folder: Path) -> None:
    server = Postgres(server_folder / "old", durable=False)
    server.data.mkdir(parents=True)
    (server.data / "PG_VERSION").write_text("12\n")
    with pytest.raises(ServerMissingError, match="made by PostgreSQL 12"):
        server.start()


def test_binaries_can_be_named(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_PG_BIN", str(server_folder))
    with pytest.raises(ServerMissingError, match="SCRUBJAY_PG_BIN"):
        Postgres(server_folder / "named", durable=False).start()
    monkeypatch.setenv("SCRUBJAY_REDIS_BIN", str(server_folder / "absent"))
    with pytest.raises(LocalError, match="absent"):
        Valkey(server_folder / "named").start()
