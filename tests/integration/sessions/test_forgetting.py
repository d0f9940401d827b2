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
KEPT = {"sessions.persistent_objects", "sessions.persistent_chunks", "sessions.persistent_vec"}
# Of these, no column can hold the word.
WORDLESS = {
    "sessions.fault_history",
    "sessions.fidelity_transitions",
    "sessions.object_vec",
    "sessions.persistent_vec",
}


async def filled(client: Client, word: str) -> str:
    async def ask(path: str, body: dict[str, Any]) -> Any:
        return await ok(client, "POST", path, body)

    return await fill_session(ask, word, f"the {word} session", kept=f"{word} matters", **PARTIES)


async def in_every_table(sql: Connection, tenant: str, word: str) -> None:
    rows = await sql.fetch(TABLES)
    tables = {row["name"] for row in rows}
    assert len(tables) > 7
    assert tables <= (await rows_of(sql, tenant)).keys()
    assert tables <= (await holding(sql, word)).keys() | WORDLESS


@pytest.mark.parametrize("kind", PURGES)
async def test_nothing_of_an_erased_session_is_left(
    tenant: Tenant, admin_client: Client, sql: Connection, kind: str
) -> None:
    word = f"{WORD}_{kind}"
    session = await filled(admin_client, word)
    await until(lambda: in_every_table(sql, tenant.name, word))
    purge = PURGES[kind]
    if purge is None:
        await ok(admin_client, "DELETE", session)
    else:
        await ok(admin_client, "POST", "/api/context/purge", purge)
    await asyncio.sleep(1)
    # What was kept for the user is the user's, and forgets the session.
    own = KEPT if kind in ("session", "mission") else set()
    assert await holding(sql, word) == dict.fromkeys(own - WORDLESS, 1)
    assert await holding(sql, session.rsplit("/", 1)[1]) == {}
    left = await rows_of(sql, tenant.name)
    assert {table for table in left if table.startswith("sessions.")} == own


async def test_nothing_of_a_tenants_sessions_is_left(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    word = f"{WORD}_tenant"
    await filled(admin_client, word)
    await until(lambda: in_every_table(sql, tenant.name, word))
    await ok(admin_client, "POST", "/api/context/purge", {"scope": "tenant", "confirm": tenant.name})
    await asyncio.sleep(1)
    assert await holding(sql, word) == {}
