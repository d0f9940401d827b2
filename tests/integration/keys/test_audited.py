"""Every operation of the API's document that needs an admin leaves a row of the audit."""

from __future__ import annotations

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.attacks.sending import OPERATIONS, Attempt, attempts, send
from tests.support.attacks.victim import settle

READS = {
    "context_audit": "reads the audit itself",
    "context_list_keys": "reads names of keys, no content",
    "context_get_key": "reads names of keys, no content",
    "context_ceilings": "reads amounts, no content",
    "context_review_rules": "reads names of missions and agents, no content",
    "webhooks_list": "reads addresses and filters, no content",
    "webhooks_get": "reads addresses and filters, no content",
    "webhooks_deliveries": "reads what became of events, no content",
}
NOT_ADMIN = {
    "agent_memory_export": "copies out what an agent learned",
    "cache_clear": "erases a mission's entries",
}
WITHOUT_SETTINGS = {
    "context_evaluate": "is recorded as it begins; source_weight_history has what each part changed",
    "context_reset_ceiling": "the first attempt removes one that is not there",
}
ADMIN = {name for name, operation in OPERATIONS.items() if operation.told["x-access"] == "admin"}
ROWS = "select actor, request_id, action, before, after from timeline.audit where tenant = $1"


def test_the_exceptions_exist() -> None:
    assert READS.keys() <= ADMIN
    assert not NOT_ADMIN.keys() & ADMIN


@pytest.mark.parametrize("operation", sorted((ADMIN | NOT_ADMIN.keys()) - READS.keys()))
async def test_an_admin_operation_leaves_a_row(tenant: Tenant, sql: Connection, operation: str) -> None:
    client = await tenant.client("admin")
    victim = await settle(client, "audited")
    statement = f"{ROWS} and request_id = $2"
    tried: list[Attempt] = []
    for attempt in attempts(victim):
        if attempt.operation == operation and attempt.tool is None and attempt.uri is None:
            request_id = f"audited-{len(tried)}"
            client.session.headers["x-request-id"] = request_id
            reply = await send(client, attempt)
            tried.append(attempt)
            if reply.status < 300:
                rows = await sql.fetch(statement, tenant.name, request_id)
                assert rows, f"{attempt} leaves no row"
                assert all(row["actor"].startswith("key:") for row in rows)
                settings = [row for row in rows if row["before"] is not None or row["after"] is not None]
                assert bool(settings) is (operation not in WITHOUT_SETTINGS), attempt
                return
    pytest.fail(f"no attempt succeeds: {tried}")
