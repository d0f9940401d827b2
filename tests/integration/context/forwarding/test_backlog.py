"""What of a tenant waits for its vectors."""

from __future__ import annotations

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import note, until
from tests.support.cluster import Client

BACKLOG = "/api/context/backlog"
STORES = ["psychic_cache", "session_objects", "persistent_objects", "agent_memory", "memory", "vault_index"]


async def test_what_waits_is_counted_by_store(
    tenants: tuple[Tenant, Tenant], sql: Connection, client: Client
) -> None:
    own, other = tenants
    written = await client.post("/api/psychic-cache/write", note("m", "The gate is painted green."))
    number = written.body["data"]["id"]

    async def done() -> None:
        answer = (await client.get(BACKLOG)).body
        assert answer["degraded"] == []
        found = [(store["store"], store["items"], store["expected_at"]) for store in answer["stores"]]
        assert found == [(store, 0, None) for store in STORES]

    await until(done)
    model = await sql.fetchval("select model from cache.psychic_vec where tenant = $1 limit 1", own.name)
    queue = """
        insert into cache.index_queue (tenant, store, item_id, scope, model, due_at)
        select $1, 'psychic_cache', $2 + n, 'mission:m', $3, now() + interval '1 hour' from generate_series(1, 7) n"""
    await sql.execute(queue, own.name, number, model)
    assert (await client.get(BACKLOG)).body["stores"][0]["items"] == 7
    stranger = await other.client()
    assert (await stranger.get(BACKLOG)).body["stores"][0]["items"] == 0


async def test_a_bound_key_learns_nothing_of_the_tenant(tenant: Tenant) -> None:
    for bound in ({"agent": "scout"}, {"missions": ["m"]}, {"users": ["ana"]}):
        refused = await (await tenant.client("admin", **bound)).get(BACKLOG)
        assert refused.status == 403, (bound, refused)
