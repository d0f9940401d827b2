"""Creates the roles and the database that the first migration expects."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from local.process import LocalError, environment, run

ROOT = Path(__file__).resolve().parent.parent
NAME = "scrubjay"
OWNER = "scrubjay_owner"
SERVICE_ROLES = {
    "cache": "scrubjay_cache",
    "agent_memory": "scrubjay_agent_memory",
    "context": "scrubjay_context",
}
# Migrations grant to these roles.
ROLE_VARIABLES = {f"SCRUBJAY_ROLE_{service.upper()}": role for service, role in SERVICE_ROLES.items()}
_ROLE_SETTINGS = {
    "statement_timeout": "10s",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "200",
}


@dataclass(frozen=True)
class Database:
    """The addresses of one database: as superuser, as its owner (for migrations), and as each service."""

    name: str
    admin: str
    owner: str
    services: dict[str, str]

    @classmethod
    def on(cls, server_dsn: str, name: str) -> "Database":
        return cls(
            name=name,
            admin=_dsn_as(server_dsn, name),
            owner=_dsn_as(server_dsn, name, OWNER),
            services={service: _dsn_as(server_dsn, name, role) for service, role in SERVICE_ROLES.items()},
        )


async def create_roles(server_dsn: str) -> None:
    """Creates the owner's and the services' roles, or updates their password and settings.

    `server_dsn` is a superuser's, and every role gets its password.
    """
    password = urlsplit(server_dsn).password
    async with connected(server_dsn) as connection:
        try:
            # Until the library is loaded, Postgres accepts any hnsw.* setting, even a misspelt one.
            await connection.execute("LOAD 'vector'")
        except asyncpg.UndefinedFileError as error:
            raise LocalError(f"this PostgreSQL has no pgvector: {error}") from error
        existing = {row["rolname"] for row in await connection.fetch("SELECT rolname FROM pg_roles")}
        for role in (OWNER, *SERVICE_ROLES.values()):
            verb = "ALTER" if role in existing else "CREATE"
            await connection.execute(f"{verb} ROLE {role} LOGIN PASSWORD '{password}'")
        for role in SERVICE_ROLES.values():
            for setting, value in _ROLE_SETTINGS.items():
                await connection.execute(f"ALTER ROLE {role} SET {setting} = '{value}'")


async def create_database(server_dsn: str, name: str, *, template: str = "template1") -> Database:
    """Creates the owner's database unless it exists. `template` must have no open connection.

    It also creates the extension, because only a superuser may create pgvector.
    """
    async with connected(server_dsn) as connection:
        if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", name):
            await connection.execute(f'CREATE DATABASE "{name}" OWNER {OWNER} TEMPLATE "{template}"')
    database = Database.on(server_dsn, name)
    async with connected(database.admin) as connection:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    return database


async def drop_database(server_dsn: str, name: str) -> None:
    async with connected(server_dsn) as connection:
        await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def migrate(owner_dsn: str, log: Path, *, grants: bool = True, distributed: str = "") -> None:
    """Runs all pending migrations, with grants to the services' roles."""
    variables = {"DATABASE_URL": owner_dsn, "SCRUBJAY_DISTRIBUTED": distributed}
    variables |= ROLE_VARIABLES if grants else {}
    argv = [sys.executable, "-m", "alembic", "upgrade", "head"]
    run("the migration", argv, log, cwd=ROOT, env=environment(variables))


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


def _dsn_as(dsn: str, database: str, role: str | None = None) -> str:
    parts = urlsplit(dsn)
    user = role or parts.username
    netloc = f"{user}:{parts.password}@{parts.hostname}:{parts.port}"
    return urlunsplit(parts._replace(netloc=netloc, path=f"/{database}"))
