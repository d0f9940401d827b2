"""Which long-term memories a key sees, changes and erases."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from shared.database.postgres import Connection
from tests.integration.agent_memory.long_term.test_long_term import MEMORY, block, preference, promise, write
from tests.integration.conftest import Tenant
from tests.support.cluster import Client

SCOPES = ("user:ana", "user:ben", "mission:moria", "mission:lorien", "agent:scout", "agent:wren", "shared")


class Known(NamedTuple):
    anyone: Client
    ids: dict[str, int]


def of(scope: str) -> dict[str, Any]:
    return {"kind": "knowledge", "content": f"The treasure of {scope} lies deep.", "scope": scope}


@pytest.fixture
async def known(tenant: Tenant) -> Known:
    anyone = await tenant.client("admin")
    return Known(anyone, {scope: await write(anyone, of(scope)) for scope in SCOPES})


@pytest.mark.parametrize(
    ("bounds", "hidden"),
    [
        ({"users": ["ana"]}, {"user:ben"}),
        ({"missions": ["moria"]}, {"mission:lorien"}),
        ({"agent": "scout"}, {"agent:wren"}),
        (
            {"agent": "scout", "missions": ["moria"], "users": ["ana"]},
            {"user:ben", "mission:lorien", "agent:wren"},
        ),
    ],
    ids=["user", "mission", "agent", "all"],
)
async def test_a_key_sees_what_is_in_its_bounds(
    tenant: Tenant, known: Known, bounds: dict[str, Any], hidden: set[str]
) -> None:
    key = await tenant.client("write", **bounds)
    seen = {one["scope"] for one in (await key.get(MEMORY, params={"limit": "100"})).body["data"]}
    assert seen == set(SCOPES) - hidden
    for scope, memory_id in known.ids.items():
        read = await key.get(f"{MEMORY}/{memory_id}")
        assert read.status == (404 if scope in hidden else 200)
        if scope in hidden:
            search = {"query": "the treasure", "scopes": [scope]}
            assert (await key.post(f"{MEMORY}/search", search)).status == 403
            assert (await key.post(MEMORY, of(scope))).status == 403
            assert (await key.call("PATCH", f"{MEMORY}/{memory_id}", {"topics": ["x"]})).status == 404
            assert (await key.delete(f"{MEMORY}/{memory_id}")).status == 404


async def test_a_key_changes_only_what_is_its_own(tenant: Tenant, known: Known) -> None:
    anas = await tenant.client("write", users=["ana"])
    own = await write(anas, {"kind": "knowledge", "content": "Mine.", "scope": "shared"})
    for memory_id, status in (
        (known.ids["user:ana"], 200),
        (own, 200),
        (known.ids["shared"], 403),
        (known.ids["agent:scout"], 403),
    ):
        assert (await anas.call("PATCH", f"{MEMORY}/{memory_id}", {"topics": ["x"]})).status == status


async def test_a_purge_of_a_user_leaves_nothing_and_others_stay(known: Known, sql: Connection) -> None:
    await write(known.anyone, {**of("shared"), "content": "Ana again.", "user_id": "ana"})
    await write(known.anyone, promise("Send the invoice.", owed_by="scout", owed_to="ana"))
    answer = await known.anyone.post("/api/context/purge", {"user_id": "ana"})
    assert answer.status == 200, answer
    left = {one["scope"] for one in (await known.anyone.get(MEMORY)).body["data"]}
    assert left == set(SCOPES) - {"user:ana"}
    assert await block(known.anyone, "the treasure", user_id="ana") != []


async def test_a_purge_of_an_agent_erases_what_it_wrote_anywhere(known: Known) -> None:
    written = await write(known.anyone, preference("Ana likes tea.", agent_name="scout"))
    answer = await known.anyone.post("/api/context/purge", {"agent_name": "scout"})
    assert answer.status == 200, answer
    assert (await known.anyone.get(f"{MEMORY}/{written}")).status == 404
    left = {one["scope"] for one in (await known.anyone.get(MEMORY)).body["data"]}
    assert left == set(SCOPES) - {"agent:scout"}


async def test_an_event_tells_no_content(tenant: Tenant, known: Known, sql: Connection) -> None:
    rows = await sql.fetch(
        "select kind, scope, payload::text from timeline.events where tenant = $1 and kind = 'long_term_write'",
        tenant.name,
    )
    assert {row["scope"] for row in rows} == set(SCOPES)
    assert not [row for row in rows if "treasure" in row["payload"]]
