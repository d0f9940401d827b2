"""Every admin action is one row of the audit, in the transaction of the action, and nobody can change it."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from local.database import Database
from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, until
from tests.support.cluster import Client

AUDIT = "/api/context/audit"


async def call(client: Client, method: str, path: str, body: Any = None, **headers: str) -> Any:
    answer = await client.call(method, path, body, headers=headers or None)
    assert answer.status < 300, answer
    return answer.body


async def rows(client: Client, **wanted: str) -> list[dict[str, Any]]:
    query = "&".join(f"{name}={value}" for name, value in wanted.items())
    data: list[dict[str, Any]] = (await call(client, "GET", f"{AUDIT}?{query}"))["data"]
    return data


async def every_action(client: Client) -> None:
    made = await call(client, "POST", "/api/context/keys", {"name": "ci", "agent": "scout"})
    key = made["key"]["id"]
    await call(client, "PATCH", f"/api/context/keys/{key}", {"name": "nightly"})
    await call(client, "POST", f"/api/context/keys/{key}/rotate", {})
    await call(client, "DELETE", f"/api/context/keys/{key}")
    weight = {"caller": "scout", "source": "psychic_cache", "weight": 1.5}
    await call(client, "PUT", "/api/context/weights", weight)
    await call(client, "DELETE", "/api/context/weights?caller=scout&source=psychic_cache")
    await call(client, "PUT", "/api/context/budgets", {"caller": "scout", "default_budget": 900})
    await call(client, "DELETE", "/api/context/budgets?caller=scout")
    await call(client, "POST", "/api/context/eval")
    await call(client, "PUT", "/api/context/secrets", {"policy": "refuse"})
    await call(client, "PUT", "/api/context/profiles", {"agent_name": "scout", "text": "Scouts ahead."})
    await call(client, "DELETE", "/api/context/profiles?agent_name=scout")
    await call(client, "PUT", "/api/context/language", {"language": "de"})
    await call(client, "PUT", "/api/context/costs/ceilings", {"mission_id": "m", "limit_usd": "2.50"})
    await call(client, "DELETE", "/api/context/costs/ceilings?mission=m")
    await call(client, "POST", "/api/psychic-cache/write", note("m", "it rained"))
    await call(client, "PUT", "/api/psychic-cache/m/limits", {"entry_budget": 50})
    await call(client, "DELETE", "/api/psychic-cache/m?reason=operator")
    await call(client, "POST", "/api/agent-memory/commit", lesson("scout", "rain makes wet"))
    exported = await client.call("GET", "/api/agent-memory/export?agent_name=scout")
    assert exported.status == 200
    lines = {"content-type": "application/x-ndjson"}
    await call(client, "POST", "/api/agent-memory/import", exported.body, **lines)
    await call(client, "POST", "/api/agent-memory/forget", {"agent_name": "scout"})
    await call(client, "POST", "/api/context/purge", {"mission_id": "m"})


ACTIONS = [
    "key_make",
    "key_change",
    "key_rotate",
    "key_revoke",
    "weight_set",
    "weight_reset",
    "budget_set",
    "budget_reset",
    "evaluate",
    "secret_policy_set",
    "profile_set",
    "profile_delete",
    "language_set",
    "ceiling_set",
    "ceiling_reset",
    "limits_set",
    "clear",
    "export",
    "import",
    "forget",
    "purge",
]


async def test_every_admin_action_is_one_row_and_one_event(tenant: Tenant, admin_client: Client) -> None:
    await every_action(admin_client)
    found = await rows(admin_client)
    assert [row["action"] for row in reversed(found)] == ACTIONS
    assert len({row["actor"] for row in found}) == 1
    assert len({row["request_id"] for row in found}) == len(ACTIONS)

    async def published() -> list[Any]:
        events = (await call(admin_client, "GET", "/api/timeline?kind=audit"))["data"]
        assert len(events) == len(ACTIONS)
        return list(events)

    for event, row in zip(await until(published), reversed(found), strict=True):
        assert event["payload"] == {"id": row["id"], "action": row["action"]}
        assert (event["scope"], event["agent_name"], event["mission_id"]) == ("audit", None, None)


async def test_a_row_says_what_was_before_and_after(admin_client: Client) -> None:
    for weight in (1.5, 2.5):
        body = {"caller": "scout", "source": "psychic_cache", "weight": weight}
        headers = {"x-request-id": f"weight-{weight}"}
        answer = await admin_client.call("PUT", "/api/context/weights", body, headers=headers)
        assert answer.status == 200
    newest, oldest = await rows(admin_client, action="weight_set")
    assert (oldest["before"]["weight"], oldest["after"]["weight"]) == (1.0, 1.5)
    assert (newest["before"]["weight"], newest["after"]["weight"]) == (1.5, 2.5)
    assert (newest["target"], newest["request_id"]) == ("agent:scout", "weight-2.5")
    assert newest["actor"].startswith("key:")


async def test_a_refused_or_undone_action_leaves_no_row(admin_client: Client) -> None:
    await call(admin_client, "POST", "/api/psychic-cache/write", note("m", "it rained"))
    await call(admin_client, "PUT", "/api/psychic-cache/m/limits?dry_run=true", {"entry_budget": 50})
    body = {"caller": "scout", "default_budget": 10_000_000}
    assert (await admin_client.call("PUT", "/api/context/budgets", body)).status == 400
    assert (await admin_client.call("DELETE", "/api/context/keys/999999999")).status == 404
    assert await rows(admin_client) == []


async def test_no_secret_is_in_the_audit(tenant: Tenant, admin_client: Client, sql: Connection) -> None:
    made = await call(admin_client, "POST", "/api/context/keys", {"name": "ci"})
    again = await call(admin_client, "POST", f"/api/context/keys/{made['key']['id']}/rotate", {})
    kept = await sql.fetchval(
        "select string_agg(a::text, '') from timeline.audit a where tenant = $1", tenant.name
    )
    assert "ci" in kept
    assert made["token"] not in kept
    assert again["token"] not in kept


@pytest.mark.parametrize("bounds", [{"agent": "scout"}, {"missions": ["m"]}, {"users": ["ana"]}])
async def test_only_admins_without_bounds_read_it(tenant: Tenant, bounds: dict[str, Any]) -> None:
    assert (await (await tenant.client("admin", **bounds)).get(AUDIT)).status == 403
    assert (await (await tenant.client("write")).get(AUDIT)).status == 403


async def test_a_tenant_reads_its_own_rows_only(tenants: tuple[Tenant, Tenant]) -> None:
    first, second = [await tenant.client("admin") for tenant in tenants]
    await call(first, "POST", "/api/context/eval")
    assert len(await rows(first)) == 1
    assert await rows(second) == []
    assert (await second.get(f"{AUDIT}?tenant={tenants[0].name}")).status == 403


async def test_pages_and_filters(admin_client: Client) -> None:
    for _ in range(5):
        await call(admin_client, "POST", "/api/context/eval")
    await call(admin_client, "PUT", "/api/context/budgets", {"caller": "a", "default_budget": 900})
    seen, cursor = [], ""
    while True:
        page = await call(admin_client, "GET", f"{AUDIT}?limit=2{cursor}")
        seen += [row["id"] for row in page["data"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert len(seen) == 6
    assert seen == sorted(seen, reverse=True)
    assert len(await rows(admin_client, action="evaluate")) == 5
    assert len(await rows(admin_client, target="agent:a")) == 1
    assert await rows(admin_client, actor="key:0") == []
    assert await rows(admin_client, since="2100-01-01T00:00:00Z") == []


@pytest.mark.parametrize("service", ["cache", "agent_memory", "context"])
@pytest.mark.parametrize(
    "statement",
    [
        "insert into timeline.audit (tenant, actor, action, target) values ('t', 'a', 'purge', 't')",
        "update timeline.audit set actor = 'nobody'",
        "delete from timeline.audit",
        "truncate timeline.audit",
    ],
)
async def test_no_service_can_change_it(database: Database, service: str, statement: str) -> None:
    connection = await asyncpg.connect(database.services[service])
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    finally:
        await connection.close()


async def test_a_purge_takes_names_out_and_leaves_that_it_happened(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    await every_action(admin_client)
    await call(admin_client, "POST", "/api/context/purge", {"agent_name": "scout"})
    found = await rows(admin_client)
    assert [row["action"] for row in found] == ["purge", *reversed(ACTIONS)]
    assert found[0]["target"] == "agent"
    assert found[0]["after"]["agent_memory"]["agent_memory"] == 0
    kept = await sql.fetch("select a::text from timeline.audit a where tenant = $1", tenant.name)
    assert not [row for (row,) in kept if "scout" in row]
