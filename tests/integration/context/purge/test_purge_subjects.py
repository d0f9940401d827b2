"""A purge by agent, user or mission takes what is theirs, wherever it stands: a canary is in no row afterwards."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, until
from tests.support.cluster import Client

PURGE = "/api/context/purge"
CANARY = "xylocarp"

TABLES = """
select t.table_schema || '.' || t.table_name as table from information_schema.tables t
join information_schema.columns c using (table_schema, table_name)
where t.table_type = 'BASE TABLE' and c.column_name = 'tenant'
  and t.table_schema in ('cache', 'sessions', 'memory', 'context', 'timeline')
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
    before = await until(lambda: _settled(sql, tenant.name))
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
    assert await until(lambda: _settled(sql, tenant.name))
    receipt = await post(admin_client, PURGE, {"user_id": CANARY})
    assert receipt["erased"]["context"]["context_assembly_log"] == 2
    assert await holding(sql, tenant.name, CANARY) == {}
    assert (await holding(sql, tenant.name, "plantain"))["cache.psychic_cache"] == 2


async def told_of(client: Client, user: str, word: str) -> None:
    """What is remembered of a user: in missions that have others too, and outside; said twice, and keyed."""
    for mission in ("joint", "other", None):
        where = {} if mission is None else {"mission_namespace": mission, "session_id": "s"}
        messages = [
            {"role": "user", "content": f"The {word} of {mission} was never delivered."},
            {"role": "assistant", "content": f"Lesson learned: a {word} for {mission} needs a signature."},
        ]
        body = {"caller": "scout", "user_id": user, "messages": messages, **where}
        for _ in range(2):
            headers = {"idempotency-key": secrets.token_hex(8)}
            answer = await client.post("/api/context/remember", body, headers=headers)
            assert answer.status == 200, answer
    await post(
        client,
        "/api/context/remember",
        {"caller": "medic", "user_id": user, "text": f"I learned that a {word} rots within a day"},
    )


async def test_what_was_remembered_of_a_user_is_gone(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    await told_of(admin_client, "dana", "plantain")
    await told_of(admin_client, CANARY, CANARY)
    # What others say next in the session, and what was assembled for nobody in particular.
    for number, mission in enumerate(("joint", "other")):
        body = note(mission, "and then it rained", session_id="s", seq=number)
        await post(admin_client, "/api/psychic-cache/write", body)
        question = {"query": f"where is the {CANARY}?", "caller": "scout", "mission_namespace": mission}
        assert CANARY in (await post(admin_client, "/api/context/assemble", question))["context_block"]

    async def settled() -> dict[str, int]:
        logs = await sql.fetchval(
            "select count(*) from context.context_assembly_log where tenant = $1", tenant.name
        )
        waiting = await sql.fetchval(
            "select count(*) from memory.index_queue where tenant = $1", tenant.name
        ) + await sql.fetchval("select count(*) from cache.index_queue where tenant = $1", tenant.name)
        assert (logs, waiting) == (2, 0)
        return await holding(sql, tenant.name, CANARY)

    before = await until(settled)
    assert {table for table in before if not table.startswith("context.context_assembly_log")} == {
        "cache.psychic_cache",
        "cache.psychic_chunks",
        "memory.agent_memory",
        "memory.agent_memory_chunks",
        # Whom a keyed write was about.
        *("cache.idempotency", "context.idempotency", "memory.idempotency"),
    }
    confirmed = await sql.fetchval("select count(*) from memory.confirmations where tenant = $1", tenant.name)
    counts = {"cache.psychic_cache": 2, "memory.agent_memory": 5}
    assert {table: before[table] for table in counts} == counts
    receipt = await post(admin_client, PURGE, {"user_id": CANARY})
    assert await holding(sql, tenant.name, CANARY) == {}
    assert receipt["erased"]["cache"]["psychic_cache"] == 2
    assert receipt["erased"]["agent_memory"]["agent_memory"] == 5
    assert receipt["erased"]["context"]["context_assembly_log"] == 2
    left = await holding(sql, tenant.name, "plantain")
    assert {table: left[table] for table in counts} == counts
    kept = await sql.fetchval("select count(*) from memory.confirmations where tenant = $1", tenant.name)
    assert kept == confirmed / 2 > 0
    for mission in ("joint", "other"):
        stats = (await admin_client.get(f"/api/psychic-cache/{mission}/stats")).body["data"]
        entries = (await admin_client.get(f"/api/psychic-cache/{mission}/entries")).body["data"]
        assert stats["entry_count"] == len(entries) == 2
        assert stats["total_tokens"] == sum(entry["token_count"] for entry in entries)
        assert (stats["cleared_count"], stats["written_count"]) == (1, 3)
        counted = await sql.fetchval(
            "select array[tokens, entries] from cache.missions where tenant = $1 and mission_id = $2",
            tenant.name,
            mission,
        )
        assert counted == [stats["total_tokens"], 2]
    again = await post(admin_client, PURGE, {"user_id": CANARY})
    assert {count for tables in again["erased"].values() for count in tables.values()} == {0}


async def test_a_turn_keeps_no_words_of_another_users_turn(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    """A turn is found by the end of the one before it, too: of the same user."""
    for seq, (user, text) in enumerate([(CANARY, f"my {CANARY} is late"), ("dana", "so is mine")]):
        where = {"user_id": user, "session_id": "s", "seq": seq}
        await post(admin_client, "/api/psychic-cache/write", note("joint", text, **where))
        await post(admin_client, "/api/agent-memory/commit", lesson("scout", text, **where))
        await post(
            admin_client,
            "/api/agent-memory/commit",
            lesson("scout", f"{text} again", **where | {"seq": 2 + seq}),
        )
    await post(admin_client, PURGE, {"user_id": CANARY})
    assert await holding(sql, tenant.name, CANARY) == {}
    assert (await holding(sql, tenant.name, "dana"))["memory.agent_memory"] == 2


async def test_purges_of_a_user_and_writes_at_once(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    """Neither waits for the other in a circle, none fails, and counters stay true."""
    writers = [await tenant.client() for _ in range(4)]

    async def write(client: Client, number: int) -> None:
        for n in range(20):
            body = note(f"m{n % 3}", "it ripens " * 20, user_id=CANARY if n % 2 else "dana")
            assert (await client.post("/api/psychic-cache/write", body)).status == 201
            said = lesson(f"agent-{(n + number) % 3}", f"row {n % 4} is ripe", user_id=CANARY)
            assert (await client.post("/api/agent-memory/commit", said)).status == 201

    async def purge() -> None:
        for _ in range(12):
            assert (await admin_client.post(PURGE, {"user_id": CANARY})).status == 200
            await asyncio.sleep(0.02)

    await asyncio.gather(purge(), *(write(client, number) for number, client in enumerate(writers)))
    await post(admin_client, PURGE, {"user_id": CANARY})
    assert await holding(sql, tenant.name, CANARY) == {}
    rows = await sql.fetch(
        """select m.entries, m.tokens, count(e.id) as live, coalesce(sum(e.token_count), 0) as held
           from cache.missions m left join cache.psychic_cache e using (tenant, mission_id)
           where m.tenant = $1 group by m.tenant, m.mission_id""",
        tenant.name,
    )
    assert sum(row["live"] for row in rows) == 40
    assert all((row["entries"], row["tokens"]) == (row["live"], row["held"]) for row in rows)


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
