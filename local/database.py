"""The roles and the database that a deployment creates before the first migration."""

import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from local.process import environment, run

ROOT = Path(__file__).resolve().parent.parent
NAME = "scrubjay"
OWNER = "scrubjay_owner"
SERVICE_ROLES = {
    "cache": "scrubjay_cache",
    "agent_memory": "scrubjay_agent_memory",
    "context": "scrubjay_context",
}
_ROLE_SETTINGS = {
    "statement_timeout": "10s",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "200",
}
# Tells migrations whom to grant to.
ROLE_VARIABLES = {f"SCRUBJAY_ROLE_{service.upper()}": role for service, role in SERVICE_ROLES.items()}


@dataclass(frozen=True)
class Database:
    """Where one database is reached: as superuser, as its owner (migrations), and as each service."""

    admin: str
    owner: str
    services: dict[str, str]

    @classmethod
    def on(cls, admin_dsn: str, name: str) -> "Database":
        return cls(
            admin=_as(admin_dsn, name),
            owner=_as(admin_dsn, name, OWNER),
            services={service: _as(admin_dsn, name, role) for service, role in SERVICE_ROLES.items()},
        )

    @property
    def name(self) -> str:
        return urlsplit(self.owner).path[1:]


async def create_roles(admin_dsn: str) -> None:
    """Create the owner and the services' roles, or bring their password and settings up to date."""
    password = urlsplit(admin_dsn).password
    connection = await asyncpg.connect(admin_dsn)
    try:
        # Until the library is loaded Postgres takes any value for any hnsw.* name, misspelt ones too.
        await connection.execute("LOAD 'vector'")
        existing = {row["rolname"] for row in await connection.fetch("SELECT rolname FROM pg_roles")}
        for role in (OWNER, *SERVICE_ROLES.values()):
            verb = "ALTER" if role in existing else "CREATE"
            await connection.execute(f"{verb} ROLE {role} LOGIN PASSWORD '{password}'")
        for role in SERVICE_ROLES.values():
            for setting, value in _ROLE_SETTINGS.items():
                await connection.execute(f"ALTER ROLE {role} SET {setting} = '{value}'")
    finally:
        await connection.close()


async def create_database(admin_dsn: str, name: str, *, template: str = "template1") -> Database:
    """Create a database of the owner's unless it is there; `template` must have no open connection."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", name):
            await connection.execute(f'CREATE DATABASE "{name}" OWNER {OWNER} TEMPLATE "{template}"')
    finally:
        await connection.close()
    return Database.on(admin_dsn, name)


async def drop_database(admin_dsn: str, name: str) -> None:
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    finally:
        await connection.close()


def migrate(owner_dsn: str, log: Path, *, grants: bool = True, revision: str = "head") -> None:
    variables = {"DATABASE_URL": owner_dsn, **(ROLE_VARIABLES if grants else {})}
    run(
        [sys.executable, "-m", "alembic", "upgrade", revision], log, cwd=ROOT, env=environment(variables)
    )


def _as(dsn: str, database: str, role: str | None = None) -> str:
    parts = urlsplit(dsn)
    user = role or parts.username
    return urlunsplit(parts._replace(netloc=f"{user}:{parts.password}@{parts.hostname}:{parts.port}", path=f"/{database}"))
