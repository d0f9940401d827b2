"""After a purge of a scope no table of the catalog holds a row of it; other scopes and tenants keep theirs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, page_through, until
from tests.support.cluster import Client
from tests.unit.cache.test_entries import COMMON, ENTRIES

WRITE = "/api/psychic-cache/write"
PURGE = "/api/context/purge"
GONE, STAYS = "gone", "stays"
# What their agents ask about: neither finds what the other has, as peers would.
SUBJECT = {GONE: "ibis", STAYS: "walrus"}

SCOPED = """
select c.table_schema || '.' || c.table_name as table, c.column_name as column
from information_schema.columns c
join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
where c.column_name in ('scope', 'scopes') and t.table_type = 'BASE TABLE'
  and c.table_schema not in ('pg_catalog', 'information_schema')
order by 1
"""


async def held(sql: Connection, tenant: str, scope: str) -> dict[str, int]:
    """Rows of the scope in every table that has scopes, partitions too."""
    counts = {}
    for table, column in await sql.fetch(SCOPED):
        condition = "scope = $2" if column == "scope" else "$2 = any(scopes)"
        counts[table] = await sql.fetchval(
            f"select count(*) from {table} where tenant = $1 and {condition}", tenant, scope
        )
    assert len(counts) > 15
    return counts


async def fill(client: Client, sql: Connection, tenant: str, name: str) -> None:
    """Something in every table for mission and agent `name`; what no route writes yet comes from here."""

    async def post(path: str, body: Any, **headers: str) -> Any:
        answer = await client.post(path, body, headers=headers)
        assert answer.status < 300, answer
        return answer.body

    for n in range(3):
        content = f"The {SUBJECT[name]} number {n} sleeps at noon."
        await post(f"{WRITE}?wait=indexed", note(name, content), **{"idempotency-key": f"{name}-{n}"})
        await post("/api/agent-memory/commit", lesson(name, content), **{"idempotency-key": f"m-{name}-{n}"})
    known = {"kind": "knowledge", "scope": f"agent:{name}", "content": f"The {SUBJECT[name]} sleeps at noon."}
    await post("/api/memory", known)
    await post("/api/vault/files", {"path": f"agents/{name}/notes.md", "text": known["content"]})
    scope = f"agent:{name}"
    fact = {"scope": scope, "subject": f"the {SUBJECT[name]}", "predicate": "sleeps", "object": "at noon"}
    await post("/api/kg/write", fact)
    await post("/api/kg/aliases", {"scope": scope, "alias": f"{name} bird", "entity": fact["subject"]})
    checkpoint = {"context_type": "thread_checkpoint", **COMMON, **ENTRIES["thread_checkpoint"]}
    await post(WRITE, checkpoint | {"mission_id": name, "session_id": name})
    await post("/api/dispatch/report", {"mission_id": name, "agent_name": name, "task": "watch"})
    await post("/api/psychic-cache/query", {"mission_id": name, "query": SUBJECT[name]})
    for mission in (name, None):
        session = (await post("/api/sessions", {"agent_name": name, "mission_id": mission}))["data"]["id"]
        said = {"messages": [{"role": "user", "text": f"the owner of {name} is Ana"}]}
        await post(f"/api/sessions/{session}/events", said)
        await post("/api/memory/consolidate", {"session_id": session})
    question = {"query": SUBJECT[name], "caller": name, "mission_namespace": name}
    made = await post("/api/context/assemble", question)
    assert len(made["sources"]) >= 3
    await post("/api/context/feedback", {"assembly_id": made["assembly_id"], "used_source_ids": []})
    for mission in (name, None):
        thread = {"agent_name": name, "mission_id": mission, "thread_id": name, "checkpoint_id": "1"}
        saved = await client.call("PUT", "/api/checkpoints", {**thread, "state": {"said": name}})
        assert saved.status == 200, saved
    profile = {"agent_name": name, "text": f"It works on {name}."}
    assert (await client.call("PUT", "/api/context/profiles", profile)).status == 200
    for scope in (f"mission:{name}", f"agent:{name}"):
        await _fill_by_hand(sql, tenant, scope)


async def _fill_by_hand(sql: Connection, tenant: str, scope: str) -> None:
    await sql.execute(
        "insert into timeline.costs (tenant, scope, service, kind, model) values ($1, $2, 'context', 'k', 'm')",
        tenant,
        scope,
    )
    await sql.execute(
        """insert into timeline.costs_by_day
           select $1, current_date, sha256($2::text::bytea), $2, 'context', 'k', 'm', null, null, null, null, 1,
                  0, 0, 0, 0, 0, 0, 1, 1""",
        tenant,
        scope,
    )
    await sql.execute(
        """insert into context.idempotency (tenant, key, route, scope, body_hash, status, answer)
           values ($1, 'by hand ' || $2, 'r', $2, '', 200, '{}')""",
        tenant,
        scope,
    )
    await sql.execute(
        """insert into memory.consolidation_file_hashes (tenant, path, scope, hash, run_id)
           values ($1, 'by hand ' || $2, $2, '', 1)""",
        tenant,
        scope,
    )
    await sql.execute(
        """insert into context.gateway_sessions (tenant, caller, session_id, scopes, version, state)
           values ($1, 'by hand', $2, array[$2], 1, '')""",
        tenant,
        scope,
    )
    await sql.execute(
        """insert into context.session_given (tenant, key, caller, session_id, handle, after, state, scopes)
           values ($1, 'by hand', $2, 's', 'cache:1', 0, '', array[$2])""",
        tenant,
        scope,
    )
    await sql.execute(
        "insert into timeline.review_rules (tenant, scope, set_by) values ($1, $2, 'by hand')", tenant, scope
    )
    for schema in ("cache", "memory"):
        await sql.execute(
            f"""insert into {schema}.reviews (tenant, store, state, scope, subjects)
                values ($1, 'by hand', 'waiting', $2, array[$2])""",
            tenant,
            scope,
        )
    # Of a paused webhook, which sends nothing.
    await sql.execute(
        """with hook as (
               insert into context.webhooks (tenant, url, held_by, secret, status, position)
               values ($1, 'https://example.com/hook', 'by hand', 'secret', 'paused', 0) returning id
           ), lane as (
               insert into context.webhook_lanes (tenant, webhook_id, scope) select $1, id, $2 from hook
           )
           insert into context.webhook_deliveries (tenant, webhook_id, seq, scope, kind, event_at)
           select $1, id, 1, $2, 'cache_write', now() from hook""",
        tenant,
        scope,
    )
    for schema, items in (("cache", "psychic_cache"), ("memory", "agent_memory")):
        await sql.execute(
            f"""insert into {schema}.index_queue (tenant, store, item_id, scope, model)
                select tenant, '{items}', id, scope, 'another model'
                from {schema}.{items} where tenant = $1 and scope = $2""",
            tenant,
            scope,
        )


async def filled(client: Client, sql: Connection, tenant: str, name: str) -> dict[str, dict[str, int]]:
    """The counts of both scopes, once what is written in the background is there."""
    await fill(client, sql, tenant, name)
    # The tables that hold nothing of such a scope.
    # Their scopes are users and sessions.
    of_others = ("sessions.persistent", "sessions.object_chunks", "sessions.object_vec")
    expected = {
        f"mission:{name}": ("memory.", "context.profiles", *of_others),
        f"agent:{name}": ("cache.", *of_others),
    }

    async def check() -> dict[str, dict[str, int]]:
        counts = {scope: await held(sql, tenant, scope) for scope in expected}
        for scope, others in expected.items():
            for table, count in counts[scope].items():
                partition = table.endswith("_default") or "_p20" in table
                assert count or partition or table.startswith(others), (scope, table)
        await asyncio.sleep(1)
        assert counts == {scope: await held(sql, tenant, scope) for scope in expected}
        return counts

    return await until(check)


@pytest.fixture
async def both(tenant: Tenant, admin_client: Client, sql: Connection) -> dict[str, dict[str, int]]:
    """Counts of the scopes that stay."""
    stays = await filled(admin_client, sql, tenant.name, STAYS)
    await filled(admin_client, sql, tenant.name, GONE)
    return stays


@pytest.mark.parametrize("kind", ["mission", "agent"])
async def test_nothing_of_a_purged_scope_is_left(
    tenant: Tenant, admin_client: Client, sql: Connection, both: dict[str, dict[str, int]], kind: str
) -> None:
    scope = f"{kind}:{GONE}"
    before = await held(sql, tenant.name, scope)
    receipt = await admin_client.post(PURGE, {"scope": scope})
    assert receipt.status == 200, receipt
    left = await held(sql, tenant.name, scope)
    assert left == dict.fromkeys(left, 0)
    for other, counts in both.items():
        assert _but_logs(await held(sql, tenant.name, other)) == _but_logs(counts)
    callers = await sql.fetch(
        "select caller from context.context_assembly_log where tenant = $1", tenant.name
    )
    assert [row["caller"] for row in callers] == [STAYS]
    assert receipt.body["scope"] == scope
    erased = {
        f"{service}.{table}": count
        for service, tables in receipt.body["erased"].items()
        for table, count in tables.items()
    }
    items = "cache.psychic_cache" if kind == "mission" else "agent_memory.agent_memory"
    assert erased[items] == before[items.replace("agent_memory.", "memory.")]
    assert erased["context.context_assembly_log"] == before["context.context_assembly_log"] > 0
    assert erased["context.events"] == before["timeline.events"] > 0


def _but_logs(counts: dict[str, int]) -> dict[str, int]:
    """An assembly that saw something of two scopes goes with either."""
    return {table: count for table, count in counts.items() if "assembly_log" not in table}


async def test_a_purged_mission_is_nowhere_to_be_seen(
    tenant: Tenant, admin_client: Client, both: dict[str, dict[str, int]]
) -> None:
    handles = [
        entry["id"] for entry in (await admin_client.get(f"/api/psychic-cache/{GONE}/entries")).body["data"]
    ]
    logged = [entry["id"] for entry in (await admin_client.get("/api/context/log")).body["data"]]
    await admin_client.post(PURGE, {"scope": f"mission:{GONE}"})
    assert (await admin_client.get(f"/api/psychic-cache/{GONE}/entries")).body["data"] == []
    assert (await admin_client.get(f"/api/psychic-cache/{GONE}/stats")).status == 404
    assert (await admin_client.get(f"/api/psychic-cache/checkpoint/{GONE}")).status == 404
    for mission in (GONE, "*"):
        found = await admin_client.post("/api/psychic-cache/query", {"mission_id": mission, "query": "ibis"})
        assert all(entry["mission_id"] == STAYS for entry in found.body["data"]["entries"])
    for id_ in handles:
        assert (await admin_client.get(f"/api/psychic-cache/all/entries/{id_}")).status == 404
        assert (await admin_client.get(f"/api/context/sources/cache:{id_}")).status == 404
    assert await page_through(admin_client, f"/api/timeline?mission={GONE}&kind=cache_write") == []
    left = [entry["id"] for entry in (await admin_client.get("/api/context/log")).body["data"]]
    assert set(left) < set(logged)
    body = {"query": "ibis", "caller": "zoe", "mission_namespace": GONE, "log": False}
    made = await admin_client.post("/api/context/assemble", body)
    assert all(source["store"] != "psychic_cache" for source in made.body["sources"])


async def test_a_purged_agent_is_nowhere_to_be_seen(
    admin_client: Client, both: dict[str, dict[str, int]]
) -> None:
    await admin_client.post(PURGE, {"scope": f"agent:{GONE}"})
    assert (await admin_client.post("/api/agent-memory/list", {"agent_name": GONE})).body["data"] == []
    for path, name in (("query", "agent_name"), ("peer-query", "target_agent")):
        found = await admin_client.post(f"/api/agent-memory/{path}", {name: GONE, "query": "ibis"})
        assert found.body["memories"] == []
    for name in (GONE, STAYS):
        body = {"query": SUBJECT[name], "caller": "zoe", "log": False}
        made = await admin_client.post("/api/context/assemble", body)
        assert {source["agent"] for source in made.body["sources"]} <= {STAYS}
        assert bool(made.body["sources"]) == (name == STAYS)


async def test_a_purge_can_be_repeated(
    tenant: Tenant, admin_client: Client, both: dict[str, dict[str, int]]
) -> None:
    first = await admin_client.post(PURGE, {"scope": f"mission:{GONE}"})
    again = await admin_client.post(PURGE, {"scope": f"mission:{GONE}"})
    assert first.body["erased"]["cache"]["psychic_cache"] == 4
    assert set(_counts(again.body)) == {0}


def _counts(receipt: dict[str, Any]) -> list[int]:
    return [count for tables in receipt["erased"].values() for count in tables.values()]


@pytest.mark.parametrize("scope", ["user:eve", "project:x", "shared", "mission:never was", "agent:nobody"])
async def test_a_scope_without_rows_has_a_receipt_too(admin_client: Client, scope: str) -> None:
    receipt = await admin_client.post(PURGE, {"scope": scope})
    assert receipt.status == 200
    assert set(receipt.body["erased"]) == {"cache", "agent_memory", "context"}
    assert set(_counts(receipt.body)) == {0}


@pytest.mark.parametrize(
    "scope", ["", "mission", "mission:", "tenant:x", "*", "mission: ", "Mission:m", "shared:x"]
)
async def test_what_is_no_scope_is_refused(admin_client: Client, scope: str) -> None:
    answer = await admin_client.post(PURGE, {"scope": scope})
    assert answer.status == 400
    assert answer.body["errors"][0]["field"] == "scope"


async def test_the_same_scope_of_another_tenant_stays(
    tenants: tuple[Tenant, Tenant], sql: Connection
) -> None:
    first, second = [await tenant.client("admin") for tenant in tenants]
    await filled(first, sql, tenants[0].name, GONE)
    counts = await filled(second, sql, tenants[1].name, GONE)
    for kind in ("mission", "agent"):
        await first.post(PURGE, {"scope": f"{kind}:{GONE}"})
    for scope, before in counts.items():
        assert await held(sql, tenants[1].name, scope) == before


async def test_what_was_read_just_before_leaves_nothing_behind(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    """Logs and query events are written in the background, off the path of what they record."""
    await admin_client.post(f"{WRITE}?wait=indexed", note(GONE, "The ibis sleeps at noon."))
    question = {"query": "ibis", "caller": "zoe", "mission_namespace": GONE}
    for _ in range(5):
        await asyncio.gather(
            *(admin_client.post("/api/context/assemble", question) for _ in range(4)),
            *(
                admin_client.post("/api/psychic-cache/query", {"mission_id": GONE, "query": "ibis"})
                for _ in range(4)
            ),
        )
        assert (await admin_client.post(PURGE, {"scope": f"mission:{GONE}"})).status == 200
    await asyncio.sleep(2)
    left = await held(sql, tenant.name, f"mission:{GONE}")
    assert left == dict.fromkeys(left, 0)


async def test_purges_and_writes_at_once(tenant: Tenant, admin_client: Client, sql: Connection) -> None:
    """Neither waits for the other in a circle, and counters stay true."""
    writers = [await tenant.client() for _ in range(4)]

    async def write(client: Client, number: int) -> None:
        for n in range(40):
            body = note("busy", "The ibis sleeps. " * 60, seq=n, session_id=f"s-{number}")
            answer = await client.post(WRITE, body, headers={"idempotency-key": f"{number}-{n}"})
            assert answer.status == 201, answer

    async def purge() -> None:
        for _ in range(25):
            answer = await admin_client.post(PURGE, {"scope": "mission:busy"})
            assert answer.status == 200, answer
            await asyncio.sleep(0.01)

    await asyncio.gather(purge(), *(write(client, n) for n, client in enumerate(writers)))
    row = await sql.fetchrow(
        """select m.entries, m.tokens, count(e.id) as live, coalesce(sum(e.token_count), 0) as held
           from cache.missions m left join cache.psychic_cache e using (tenant, mission_id)
           where m.tenant = $1 group by m.tenant, m.mission_id""",
        tenant.name,
    )
    assert row is None or (row["entries"], row["tokens"]) == (row["live"], row["held"])
    assert (await admin_client.post(PURGE, {"scope": "mission:busy"})).status == 200
    left = await held(sql, tenant.name, "mission:busy")
    assert left == dict.fromkeys(left, 0)
