"""The purge of a tenant leaves no row of it in any table of the catalog, and no word of it anywhere."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shared.database.erasure import ERASED
from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.attacks.canaries import holding, rows_of
from tests.support.calls import lesson, note, until
from tests.support.cluster import Client, Cluster

PURGE = "/api/context/purge"
# In no other test.
WORD = "quercitron"


async def post(client: Client, path: str, body: Any, **headers: str) -> Any:
    answer = await client.post(path, body, headers=headers)
    assert answer.status < 300, answer
    return answer.body


async def fill(tenant: Tenant, word: str) -> None:
    """Something in every table that a tenant has rows in."""
    client = await tenant.client("admin")
    content = f"the {word} sleeps at noon"
    entry = note(f"m-{word}", content, agent_name=word, session_id=f"s-{word}", user_id=f"u-{word}")
    await post(client, "/api/psychic-cache/write?wait=indexed", entry, **{"idempotency-key": f"e-{word}"})
    report = {"mission_id": f"m-{word}", "agent_name": word, "task": f"watch the {word}"}
    await post(client, "/api/dispatch/report", report)
    task: dict[str, Any] = {
        "task_description": f"watch the {word}",
        "skills_used": [word],
        "outcome": "success",
    }
    task["mission_namespace"] = f"m-{word}"
    memory = lesson(word, content, user_id=f"u-{word}", task_context=task)
    for n in range(2):
        await post(client, "/api/agent-memory/commit", memory, **{"idempotency-key": f"{n}-{word}"})
    question = {"query": f"where is the {word}?", "caller": word, "mission_namespace": f"m-{word}"}
    made = await post(client, "/api/context/assemble", question)
    await post(client, "/api/context/feedback", {"assembly_id": made["assembly_id"], "used_source_ids": []})
    told = {"caller": word, "text": f"I learned that the {word} bites"}
    await post(client, "/api/context/remember", told, **{"idempotency-key": f"r-{word}"})
    weight = {"caller": word, "source": "psychic_cache", "weight": 1.5}
    assert (await client.call("PUT", "/api/context/weights", weight)).status == 200
    budget = {"caller": word, "default_budget": 900}
    assert (await client.call("PUT", "/api/context/budgets", budget)).status == 200
    await post(client, "/api/context/keys", {"name": f"key of {word}", "agent": word})
    spent = {"agent": word, "mission": f"m-{word}", "session_id": f"s-{word}", "model": word, "cost_usd": "1"}
    await post(client, "/api/context/costs", spent, **{"idempotency-key": f"c-{word}"})
    ceiling = {"mission_id": f"m-{word}", "limit_usd": "5"}
    assert (await client.call("PUT", "/api/context/costs/ceilings", ceiling)).status == 200
    thread = {"agent_name": word, "thread_id": f"t-{word}", "checkpoint_id": "1"}
    assert (await client.call("PUT", "/api/checkpoints", {**thread, "state": {word: word}})).status == 200
    wrote = {"place": 0, "channel": word, "value": {word: word}}
    writes = {**thread, "task_id": "1", "writes": [wrote]}
    assert (await client.call("PUT", "/api/checkpoints/writes", writes)).status == 200
    block = {"name": word, "stability": "stable", "text": f"You watch the {word}."}
    await post(client, "/api/context/prompt", {"blocks": [block], "context": question})


USAGE = "context.api_key_usage"
FILLED = {
    "cache.psychic_cache",
    "cache.psychic_vec",
    "cache.agent_dispatch",
    "cache.idempotency",
    "cache.checkpoint_threads",
    "cache.checkpoints",
    "cache.checkpoint_writes",
    "memory.agent_memory",
    "memory.agent_memory_vec",
    "memory.confirmations",
    "memory.idempotency",
    "context.idempotency",
    "context.context_assembly_log",
    "context.source_weights",
    "context.source_weight_history",
    "context.caller_budget_config",
    "context.api_keys",
    USAGE,
    "timeline.events",
    "timeline.audit",
    "timeline.costs",
    "timeline.costs_by_day",
    "timeline.spending",
    "timeline.ceilings",
}


async def filled(tenant: Tenant, sql: Connection, word: str) -> dict[str, int]:
    await fill(tenant, word)

    async def settled() -> dict[str, int]:
        before = await rows_of(sql, tenant.name)
        assert set(before) >= FILLED
        assert not any(table.endswith(".index_queue") for table in before)
        await asyncio.sleep(1)
        assert before == await rows_of(sql, tenant.name)
        return before

    return await until(settled)


async def test_nothing_of_a_tenant_is_left(tenants: tuple[Tenant, Tenant], sql: Connection) -> None:
    gone, stays = tenants
    before = await filled(gone, sql, WORD)
    kept = await filled(stays, sql, "plantain")
    clients = [await gone.client("write") for _ in range(2)]
    admin = await gone.client("admin")
    receipt = await post(admin, PURGE, {"scope": "tenant", "confirm": gone.name})
    assert await rows_of(sql, gone.name) == {}
    assert await holding(sql, WORD) == {}
    assert await holding(sql, gone.name) == {}
    erased = receipt["erased"]
    assert receipt["scope"] == "tenant"
    assert erased["cache"]["psychic_cache"] == before["cache.psychic_cache"]
    assert erased["agent_memory"]["agent_memory_vec"] == before["memory.agent_memory_vec"]
    assert erased["context"]["context_assembly_log"] == before["context.context_assembly_log"]
    assert erased["context"]["api_keys"] >= before["context.api_keys"]
    for client in (*clients, admin):
        assert (await client.get("/api/context/weights")).status == 401
    after = await rows_of(sql, stays.name)
    assert {table: after[table] for table in kept} == kept


async def test_the_audit_keeps_that_it_happened(
    tenant: Tenant, admin_client: Client, sql: Connection, cluster: Cluster
) -> None:
    await post(admin_client, "/api/context/keys", {"name": WORD, "agent": WORD})
    actor = await sql.fetchval("select actor from timeline.audit where tenant = $1", tenant.name)
    receipt = await post(admin_client, PURGE, {"scope": "tenant", "confirm": tenant.name})
    async with cluster.client("admin") as installation:
        answer = await installation.get(f"/api/context/audit?tenant={ERASED}&actor={actor}")
    made, purged = answer.body["data"][::-1]
    assert (made["action"], made["target"], made["after"]) == ("key_make", "key", None)
    assert (purged["action"], purged["target"], purged["after"]) == ("purge", "tenant", receipt["erased"])


async def test_who_runs_the_installation_names_the_tenant(
    tenants: tuple[Tenant, Tenant], sql: Connection, cluster: Cluster
) -> None:
    await fill(tenants[0], WORD)
    other = await tenants[1].client("admin")
    body = {"scope": "tenant", "tenant": tenants[0].name, "confirm": tenants[0].name}
    assert (await other.post(PURGE, body)).status == 403
    async with cluster.client("admin") as installation:
        assert (await installation.post(PURGE, body | {"confirm": "another"})).status == 400
        await post(installation, PURGE, body)
    assert await rows_of(sql, tenants[0].name) == {}


@pytest.mark.parametrize("bounds", [{"agent": "a"}, {"missions": ["m"]}, {"users": ["u"]}])
async def test_a_bound_key_erases_no_tenant(tenant: Tenant, sql: Connection, bounds: dict[str, Any]) -> None:
    client = await tenant.client("admin", **bounds)
    before = await rows_of(sql, tenant.name)
    assert (await client.post(PURGE, {"scope": "tenant", "confirm": tenant.name})).status == 403
    after = await rows_of(sql, tenant.name)
    # That the key was used is written behind the answer.
    assert after.get(USAGE, 0) >= before.get(USAGE, 0)
    assert {**after, USAGE: before.get(USAGE)} == {**before, USAGE: before.get(USAGE)}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scope": "tenant"}, "confirm"),
        ({"scope": "tenant", "confirm": "another"}, "confirm"),
        ({"mission_id": "m", "confirm": "m"}, "confirm"),
        ({"mission_id": "m", "tenant": "t"}, "tenant"),
    ],
)
async def test_a_tenant_must_be_confirmed(admin_client: Client, body: dict[str, str], field: str) -> None:
    answer = await admin_client.post(PURGE, body)
    assert answer.status == 400
    assert answer.body["errors"][0]["field"] == field


async def test_an_interrupted_purge_of_a_tenant_finishes(tenant: Tenant, sql: Connection) -> None:
    """As if the replica that ran it had been killed after its first step."""
    await fill(tenant, WORD)
    await sql.execute(
        """insert into context.tenant_purges (tenant, actor, begun_at, worked_at)
           values ($1, 'key:0', now() - interval '1 minute', now() - interval '1 minute')""",
        tenant.name,
    )

    async def gone() -> None:
        assert await rows_of(sql, tenant.name) == {}

    await until(gone, 120, every=0.5)
    assert await holding(sql, WORD) == {}


async def test_two_purges_of_a_tenant_at_once(tenant: Tenant, sql: Connection) -> None:
    await fill(tenant, WORD)
    client = await tenant.client("admin")
    body = {"scope": "tenant", "confirm": tenant.name}
    answers = await asyncio.gather(*(client.post(PURGE, body) for _ in range(2)))
    # A busy service may refuse the second of a tenant.
    assert sorted(answer.status for answer in answers)[0] == 200
    assert {answer.status for answer in answers} <= {200, 429}
    assert await rows_of(sql, tenant.name) == {}
