"""One cluster with a fake embedding API for the run; each test has tenants of its own in it."""

from __future__ import annotations

import asyncio
import itertools
import re
import secrets
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import asyncpg
import pytest
from litestar.routes import HTTPRoute
from yarl import URL

import services.agent_memory.app
import services.agent_memory.settings
import services.cache.app
import services.cache.settings
import services.context.app
import services.context.settings
from local.database import Database
from services.context.keys import hash_token, queries
from services.context.keys.schemas import Limits
from services.context.keys.verification import PREFIX, REACH
from shared.auth import Access
from shared.database.postgres import Connection
from tests.support.cluster import Client, Cluster, PatientClient
from tests.support.fakes.fake_openai import FakeOpenAI

_numbers = itertools.count(1)


def embedder_settings(api: FakeOpenAI) -> dict[str, str]:
    return {
        "SCRUBJAY_EMBEDDER": "openai",
        "OPENAI_API_KEY": api.key,
        "OPENAI_BASE_URL": api.url,
        "SCRUBJAY_DEDUP_DISTANCE": "0.2",
    }


class Tenant:
    """Keys of one tenant and the clients that use them, all closed with the test."""

    def __init__(self, name: str, cluster: Cluster, sql: Connection, closing: AsyncExitStack) -> None:
        self.name = name
        self._cluster, self._sql, self._closing = cluster, sql, closing
        self._turn = asyncio.Lock()  # one connection runs one statement at a time

    async def key(self, access: Access = "write", **more: Any) -> str:
        """`more`: agent, missions, users, expires_at, and limits by name. Leaves no event in the timeline."""
        token = PREFIX + secrets.token_urlsafe(32)
        agent, missions, users, expires_at = (
            more.pop(name, None) for name in ("agent", "missions", "users", "expires_at")
        )
        reach, limits = sorted(REACH[access]), Limits(**more)
        made = (
            self.name,
            "test",
            hash_token(token),
            reach,
            agent,
            missions,
            users,
            expires_at,
            "test",
            limits,
        )
        async with self._turn:
            await queries.add_key(self._sql, *made)
        return token

    async def client(self, access: Access = "write", **more: Any) -> Client:
        client = PatientClient(self._cluster.url(), await self.key(access, **more))
        return await self._closing.enter_async_context(client)


@pytest.fixture(scope="session")
def embedding_api() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as api:
        yield api


@pytest.fixture(scope="session")
def vault_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tenants of the cluster may have folders."""
    return tmp_path_factory.mktemp("vaults")


@pytest.fixture(scope="session")
async def cluster(
    database: Database,
    redis_url: str,
    embedding_api: FakeOpenAI,
    tmp_path_factory: pytest.TempPathFactory,
    vault_root: Path,
) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    # Some tests write a hundred things at once, and not to be refused.
    settings = {**embedder_settings(embedding_api), "SCRUBJAY_IN_FLIGHT": "256"}
    own = {
        "agent_memory": {"VAULT_ROOT": str(vault_root)},
        # Receivers of webhooks are on this machine.
        "context": {"SCRUBJAY_WEBHOOK_PRIVATE": "127.0.0.0/8", "SCRUBJAY_WEBHOOK_HTTP": "yes"},
    }
    async with Cluster(database, redis_url, folder, settings=settings, settings_of=own) as running:
        yield running


@pytest.fixture
async def tenants(cluster: Cluster, sql: Connection) -> AsyncIterator[tuple[Tenant, Tenant]]:
    """Two that share nothing but the cluster."""
    async with AsyncExitStack() as closing:
        first, second = (Tenant(f"tenant-{next(_numbers)}", cluster, sql, closing) for _ in range(2))
        yield first, second


@pytest.fixture
async def tenant(tenants: tuple[Tenant, Tenant]) -> Tenant:
    return tenants[0]


@pytest.fixture
async def client(tenant: Tenant) -> Client:
    """Writes and reads for the test's tenant."""
    return await tenant.client("write")


@pytest.fixture
async def admin_client(tenant: Tenant) -> Client:
    return await tenant.client("admin")


@pytest.fixture
async def sql(database: Database) -> AsyncIterator[Connection]:
    """A superuser's connection, to look behind the services."""
    connection = await asyncpg.connect(database.admin)
    yield connection
    await connection.close()


NO_UUID = "00000000-0000-4000-8000-000000000000"


class Operation(NamedTuple):
    """A method of a route with the access it wants; `path` has its parameters in braces."""

    service: str
    method: str
    path: str
    access: str

    def address(self, values: Mapping[str, object] | None = None, default: object = 1) -> URL:
        """With each parameter replaced by its value, by name or type."""

        def value(match: re.Match[str]) -> str:
            name, kind = match[1], match[2]
            other = NO_UUID if kind == "uuid" else default
            found = (values or {}).get(name, (values or {}).get(kind, other))
            return quote(str(found), safe="/" if kind == "path" else "")

        return URL(re.sub(r"\{(\w+):(\w+)\}", value, self.path), encoded=True)


def operations() -> list[Operation]:
    """Every operation of every service but probes, as the apps declare them."""
    values = {
        "DATABASE_URL": "postgresql://",
        "REDIS_URL": "redis://",
        "SCRUBJAY_CACHE_SECRET": "x",
        "SCRUBJAY_AGENT_MEMORY_SECRET": "x",
        "SCRUBJAY_CACHE_URL": "http://cache",
        "SCRUBJAY_AGENT_MEMORY_URL": "http://memory",
    }
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        apps = {
            "cache": services.cache.app.create(services.cache.settings.Settings.from_env(values)),
            "agent_memory": services.agent_memory.app.create(
                services.agent_memory.settings.Settings.from_env(values)
            ),
            "context": services.context.app.create(services.context.settings.Settings.from_env(values)),
        }
    return [
        Operation(service, method, route.path, str(handler.opt.get("access", "admin")))
        for service, edge in apps.items()
        for route in edge.litestar.routes
        if isinstance(route, HTTPRoute)
        for method, (handler, _) in sorted(route.route_handler_map.items())
        if method != "OPTIONS" and handler.opt.get("access") != "public"
    ]
