"""A purge by agent, user or mission takes what is theirs, wherever it stands: a canary is in no row afterwards."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shared.postgres import Connection
from tests.cluster import Client
from tests.e2e.calls import lesson, note, until
from tests.integration.conftest import Tenant

PURGE = "/api/context/purge"
CANARY = "xylocarp"

TABLES = """
select t.table_schema || '.' || t.table_name as table from information_schema.tables t
join information_schema.columns c using (table_schema, table_name)
where t.table_type = 'BASE TABLE' and c.column_name = 'tenant'
  and t.table_schema in ('cache', 'memory', 'context', 'timeline')
order by 1
"""


async def holding(sql: Connection, tenant: str, word: str) -> dict[str, int]:
    """Rows of any table that say the word, as a text, a tag, a name or a word of an index."""
    found = {}
    for (table,) in await sql.fetch(TABLES):
        count = await sql.fetchval(
            f"select count(*) from {table} t where tenant = $1 and t::text ilike '%' || $2 || '%'",
            tenant,
            word,
        )
        if count:
            found[table] = count
    return found


async def post(client: Client, path: str, body: Any) -> Any:
    answer = await client.post(path, body)
    assert answer.status < 300, answer
    return answer.body


async def work_of(client: Client, agent: str, word: str, **more: Any) -> None:
    """Entries, dispatches, memories and assemblies of an agent, in missions that others work in too."""
    for mission in ("joint", "other"):
        await post(
            client,
            "/api/psychic-cache/write",
            note(mission, f"{word} of {mission}", agent_name=agent, tags=[word]),
        )
        await post(
            client,
            "/api/dispatch/report",
            {"mission_id": mission, "agent_name": agent, "task": f"find {word}"},
        )
        question = {"query": f"where is {word}?", "caller": agent, "mission_namespace": mission, **more}
        made = await post(client, "/api/context/assemble", question)
        assert made["assembly_id"] > 0
    await post(client, "/api/agent-memory/commit", lesson(agent, f"{word} ripens in winter"))
    weight = {"caller": agent, "source": "psychic_cache", "weight": 1.5}
    assert (await client.call("PUT", "/api/context/weights", weight)).status == 200


async def test_an_agent_is_gone_from_every_mission(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    await work_of(admin_client, CANARY, CANARY)
    await work_of(admin_client, "medic", "plantain")
    before = await until(lambda: _settled(sql, tenant.name), 20)
    assert {
        "cache.psychic_cache",
        "cache.agent_dispatch",
        "memory.agent_memory",
        "context.source_weights",
    } <= set(before)
    receipt = await post(admin_client, PURGE, {"agent_name": CANARY})
    assert await holding(sql, tenant.name, CANARY) == {}
    assert receipt["erased"]["cache"]["psychic_cache"] == 2
    assert receipt["erased"]["cache"]["agent_dispatch"] == 2
    assert receipt["erased"]["agent_memory"]["agent_memory"] == 1
    assert receipt["erased"]["context"]["source_weights"] == 1
    left = await holding(sql, tenant.name, "plantain")
    assert left["cache.psychic_cache"] == 2
    for mission in ("joint", "other"):
        stats = (await admin_client.get(f"/api/psychic-cache/{mission}/stats")).body["data"]
        entries = (await admin_client.get(f"/api/psychic-cache/{mission}/entries")).body["data"]
        assert stats["entry_count"] == len(entries) == 1
        assert stats["total_tokens"] == entries[0]["token_count"]


async def _settled(sql: Connection, tenant: str) -> dict[str, int]:
    """The log and the events follow in the background."""
    before = await holding(sql, tenant, CANARY)
    assert any("assembly_log" in table for table in before), before
    await asyncio.sleep(0.7)
    assert before == await holding(sql, tenant, CANARY)
    return before


async def test_a_users_assemblies_are_gone(tenant: Tenant, admin_client: Client, sql: Connection) -> None:
    await work_of(admin_client, "scout", "plantain", user_id=CANARY)
    assert await until(lambda: _settled(sql, tenant.name), 20)
    receipt = await post(admin_client, PURGE, {"user_id": CANARY})
    assert receipt["erased"]["context"]["context_assembly_log"] == 2
    assert await holding(sql, tenant.name, CANARY) == {}
    assert (await holding(sql, tenant.name, "plantain"))["cache.psychic_cache"] == 2


async def test_a_mission_by_its_name(tenant: Tenant, admin_client: Client, sql: Connection) -> None:
    await post(admin_client, "/api/psychic-cache/write", note(CANARY, "it ripens in winter"))
    receipt = await post(admin_client, PURGE, {"mission_id": CANARY})
    assert receipt["scope"] == f"mission:{CANARY}"
    assert receipt["erased"]["cache"]["psychic_cache"] == 1
    assert await holding(sql, tenant.name, CANARY) == {}


@pytest.mark.parametrize(
    "body", [{}, {"scope": "agent:a", "agent_name": "a"}, {"user_id": "u", "mission_id": "m"}]
)
async def test_exactly_one_is_needed(admin_client: Client, body: dict[str, str]) -> None:
    answer = await admin_client.post(PURGE, body)
    assert answer.status == 400
    assert answer.body["errors"][0]["field"] == "scope"
