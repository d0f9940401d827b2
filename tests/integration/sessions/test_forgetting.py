"""Nothing of a session that was erased, alone or with its user, agent, mission or tenant, is left in any table."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import ok
from tests.support.attacks.canaries import holding, rows_of
from tests.support.calls import until
from tests.support.cluster import Client
from tests.support.sessions.filling import fill_session

WORD = "quokka"
PARTIES = {"agent_name": "ana", "mission_id": "apollo", "user_id": "alice"}
PURGES: dict[str, dict[str, str] | None] = {
    "session": None,
    "user": {"user_id": "alice"},
    "agent": {"agent_name": "ana"},
    "mission": {"mission_id": "apollo"},
}
TABLES = """
select c.oid::regclass::text as name from pg_class c
where c.relnamespace = 'sessions'::regnamespace and c.relkind = 'r'
"""
# Of these, no column can hold the word.
WORDLESS = {"sessions.fault_history", "sessions.fidelity_transitions", "sessions.object_vec"}


async def filled(client: Client) -> str:
    async def ask(path: str, body: dict[str, Any]) -> Any:
        return await ok(client, "POST", path, body)

    return await fill_session(ask, WORD, f"the {WORD} session", **PARTIES)


async def in_every_table(sql: Connection, tenant: str) -> None:
    rows = await sql.fetch(TABLES)
    tables = {row["name"] for row in rows}
    assert len(tables) > 7
    assert tables <= (await rows_of(sql, tenant)).keys()
    assert tables <= (await holding(sql, WORD)).keys() | WORDLESS


@pytest.mark.parametrize("kind", PURGES)
async def test_nothing_of_an_erased_session_is_left(
    tenant: Tenant, admin_client: Client, sql: Connection, kind: str
) -> None:
    session = await filled(admin_client)
    await until(lambda: in_every_table(sql, tenant.name))
    purge = PURGES[kind]
    if purge is None:
        await ok(admin_client, "DELETE", session)
    else:
        await ok(admin_client, "POST", "/api/context/purge", purge)
    await asyncio.sleep(1)
    for word in (WORD, session.rsplit("/", 1)[1]):
        assert await holding(sql, word) == {}, word
    left = await rows_of(sql, tenant.name)
    assert not [table for table in left if table.startswith("sessions.")]


async def test_nothing_of_a_tenants_sessions_is_left(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    await filled(admin_client)
    await until(lambda: in_every_table(sql, tenant.name))
    await ok(admin_client, "POST", "/api/context/purge", {"scope": "tenant", "confirm": tenant.name})
    await asyncio.sleep(1)
    assert await holding(sql, WORD) == {}
