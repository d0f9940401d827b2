"""Clusters of a test module's own, on a database of its own, since these tests break what they use."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from local.database import Database, create_database, drop_database
from local.process import free_port
from local.services import Service
from tests.conftest import Servers
from tests.support.cluster import Cluster


@asynccontextmanager
async def own_cluster(
    name: str, servers: Servers, template: str, folder: Path, **options: Any
) -> AsyncIterator[Cluster]:
    server = servers.postgres.dsn()
    database = await create_database(server, f"e2e_{name}", template=template)
    async with Cluster(database, servers.redis.url, folder, **options) as cluster:
        yield cluster
    await drop_database(server, database.name)


@asynccontextmanager
async def spare(cluster: Cluster, name: str, **settings: str) -> AsyncIterator[Service]:
    """One more replica of a service, with other settings, reached at its own address only."""
    first = cluster.replicas[name][0]
    port = free_port()
    service = Service(name, first.log.with_name(f"{name}-{port}.log"), port, {**first.variables, **settings})
    try:
        await cluster.start(service)
        yield service
    finally:
        service.sigcont()
        await cluster.stop(service)


@asynccontextmanager
async def locked(database: Database, table: str) -> AsyncIterator[None]:
    """Nobody else reads or writes the table meanwhile."""
    connection = await asyncpg.connect(database.admin)
    try:
        async with connection.transaction():
            await connection.execute(f"lock table {table} in access exclusive mode")
            yield
    finally:
        await connection.close()
