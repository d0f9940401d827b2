"""Costs that callers report: added up exactly, once each, and shown to those who may see them."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import until
from tests.support.cluster import Client

COSTS = "/api/context/costs"
MODEL = "claude-haiku-4-5"


async def spend(client: Client, headers: dict[str, str] | None = None, **call: Any) -> dict[str, Any]:
    answer = await client.post(COSTS, {"model": MODEL, **call}, headers=headers or {})
    assert answer.status == 201, answer
    return dict(answer.body)


async def read(client: Client, query: str = "") -> dict[str, Any]:
    answer = await client.get(COSTS + query)
    assert answer.status == 200, answer
    return dict(answer.body)


async def test_a_call_costs_what_the_table_says(client: Client) -> None:
    kinds: dict[str, Any] = {
        "input_tokens": 3,
        "output_tokens": 5,
        "cache_read_tokens": 7,
        "cache_write_tokens": 11,
    }
    made = await spend(client, agent="scout", mission="orders", session_id="s-1", **kinds)
    assert made["cost_usd"] == "0.00004245"  # 3 * 1 + 5 * 5 + 7 * .1 + 11 * 1.25 for a million each
    assert (await spend(client, cost_usd="0.5", input_tokens=3))["cost_usd"] == "0.5"
    assert (await spend(client, model="unheard-of", input_tokens=9))["cost_usd"] is None
    assert (await spend(client, outcome="abandoned"))["cost_usd"] is None
    assert (await spend(client, outcome="failed"))["cost_usd"] == "0"
    found = await read(client, "?by=agent")
    for span in ("today", "week", "all"):
        assert found[span]["cost_usd"] == "0.50004245"
        assert (found[span]["calls"], found[span]["unpriced_calls"]) == (5, 2)
        assert found[span]["input_tokens"] == 15
    assert found["unpriced_models"] == ["unheard-of"]
    assert {group["name"]: group["all"]["calls"] for group in found["data"]} == {None: 4, "scout": 1}
    (day,) = (await read(client, "?by=day"))["data"]
    assert (len(day["name"]), day["all"]["calls"]) == (len("2026-07-04"), 5)
    (row,) = (await read(client, "/calls?agent=scout"))["data"]
    assert {name: row[name] for name in kinds} == kinds
    assert (row["mission_id"], row["session_id"], row["service"]) == ("orders", "s-1", "caller")


async def test_a_retry_is_counted_once(client: Client) -> None:
    headers = {"idempotency-key": "one"}
    first = await spend(client, headers, input_tokens=5)
    assert (await spend(client, headers, input_tokens=5))["id"] == first["id"]
    answer = await client.post(COSTS, {"model": MODEL, "input_tokens": 6}, headers=headers)
    assert answer.status == 422
    assert (await read(client))["all"]["calls"] == 1


async def test_sums_are_exact(client: Client, sql: Connection) -> None:
    amounts = [f"0.{number:012d}" for number in range(1, 40)]
    for amount in amounts:
        await spend(client, cost_usd=amount, agent="scout")
    expected = sum(map(Decimal, amounts), Decimal(0))
    assert Decimal((await read(client))["all"]["cost_usd"]) == expected


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("agent", ["a-1", "a-2", "a-3"]),
        ("mission", ["m-1", "m-2", "m-3"]),
        ("session", ["s-1", "s-2", "s-3"]),
        ("model", ["model-1", "model-2", "model-3"]),
        ("kind", ["k-1", "k-2", "k-3"]),
    ],
)
async def test_groups_and_rows_come_in_pages(client: Client, by: str, names: list[str]) -> None:
    for n in (1, 2, 3, 3):
        await spend(
            client, agent=f"a-{n}", mission=f"m-{n}", session_id=f"s-{n}", model=f"model-{n}", kind=f"k-{n}"
        )
    page = await read(client, f"?by={by}&limit=2")
    assert page["all"]["calls"] == 4
    rest = await read(client, f"?by={by}&limit=2&cursor={page['next']}")
    groups = [*page["data"], *rest["data"]]
    assert rest["next"] is None
    assert [group["name"] for group in groups] == names
    assert [group["all"]["calls"] for group in groups] == [1, 1, 2]
    rows, cursor = [], ""
    while True:
        part = await read(client, f"/calls?limit=3{cursor}")
        rows += part["data"]
        if part["next"] is None:
            break
        cursor = f"&cursor={part['next']}"
    assert [row["agent_name"] for row in rows] == ["a-3", "a-3", "a-2", "a-1"]
    narrowed = "?agent=a-3&mission=m-3&session=s-3&model=model-3"
    assert (await read(client, narrowed))["all"]["calls"] == 2


async def test_a_key_sees_and_reports_its_own(tenant: Tenant, client: Client) -> None:
    for agent, mission in (("scout", "mine"), ("medic", "theirs")):
        await spend(client, agent=agent, mission=mission, input_tokens=1)
    of_agent = await tenant.client("write", agent="scout")
    of_mission = await tenant.client("write", missions=["mine"])
    for bound in (of_agent, of_mission):
        assert (await read(bound, "?by=agent"))["all"]["calls"] == 1
        assert [row["agent_name"] for row in (await read(bound, "/calls"))["data"]] == ["scout"]
    assert (await of_agent.get(f"{COSTS}?agent=medic")).status == 403
    assert (await of_mission.get(f"{COSTS}/calls?mission=theirs")).status == 403
    assert (await of_agent.post(COSTS, {"model": MODEL, "agent": "medic"})).status == 403
    assert (await of_mission.post(COSTS, {"model": MODEL, "mission": "theirs"})).status == 403
    await spend(of_agent)
    assert (await read(client, "?agent=scout"))["all"]["calls"] == 2


async def test_other_tenants_see_nothing(tenants: tuple[Tenant, Tenant]) -> None:
    await spend(await tenants[0].client("write"), input_tokens=1)
    other = await tenants[1].client("admin")
    assert (await read(other))["all"]["calls"] == 0
    assert (await read(other, "/calls"))["data"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "model"),
        ({"model": MODEL, "input_tokens": -1}, "input_tokens"),
        ({"model": MODEL, "input_tokens": 10**13}, "input_tokens"),
        ({"model": MODEL, "cost_usd": "1e5"}, "cost_usd"),
        ({"model": MODEL, "cost_usd": "-1"}, "cost_usd"),
        ({"model": MODEL, "cost_usd": "NaN"}, "cost_usd"),
        ({"model": MODEL, "cost_usd": 0.1}, "cost_usd"),
        ({"model": MODEL, "outcome": "free"}, "outcome"),
        ({"model": MODEL, "mission": "a/b"}, "mission"),
        ({"model": "a\x00"}, "model"),
    ],
)
async def test_bad_input_is_named(client: Client, body: dict[str, Any], field: str) -> None:
    answer = await client.post(COSTS, body)
    assert answer.status == 400, answer
    assert answer.body["errors"][0]["field"] == field


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?by=colour", "by"),
        ("?agent=%00", "agent"),
        ("?cursor=x", "cursor"),
        ("/calls?session=%00", "session"),
    ],
)
async def test_bad_queries_are_named(client: Client, query: str, field: str) -> None:
    answer = await client.get(COSTS + query)
    assert answer.status == 400, answer
    assert answer.body["errors"][0]["field"] == field


async def test_a_purge_takes_rows_ceilings_and_spending(
    admin_client: Client, sql: Connection, tenant: Tenant
) -> None:
    await spend(admin_client, mission="orders", cost_usd="1")
    ceiling = {"mission_id": "orders", "limit_usd": "5"}
    assert (await admin_client.call("PUT", f"{COSTS}/ceilings", ceiling)).status == 200
    assert (await admin_client.post("/api/context/purge", {"mission_id": "orders"})).status == 200
    assert (await read(admin_client))["all"]["calls"] == 0
    assert (await admin_client.get(f"{COSTS}/ceilings")).body["data"] == []
    left = await sql.fetch("select subject from timeline.spending where tenant = $1", tenant.name)
    # What the tenant and the key spent stays: a purge gives nobody the money back.
    assert {row["subject"].partition(":")[0] for row in left} == {"tenant", "key"}


_SUMS = """
select scope, kind, agent_name, mission_id, session_id, key, sum(calls)::int as calls, sum(cost_usd) as usd,
       sum(input_tokens)::int as tokens, sum(unpriced_calls)::int as unpriced
from timeline.costs_by_day where tenant = $1 group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
"""
_ADDED_UP = """
select scope, kind, agent_name, mission_id, session_id, key, count(*)::int as calls, coalesce(sum(cost_usd), 0) as usd,
       sum(input_tokens)::int as tokens, (count(*) filter (where cost_usd is null))::int as unpriced
from timeline.costs where tenant = $1 group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
"""


async def test_sums_by_day_are_those_of_the_calls_whatever_is_purged(
    admin_client: Client, sql: Connection, tenant: Tenant
) -> None:
    async def agree(calls: int) -> None:
        rows = await sql.fetch(_SUMS, tenant.name)
        assert rows == await sql.fetch(_ADDED_UP, tenant.name)
        assert sum(row["calls"] for row in rows) == calls

    longest = "\U0001f426" * 200
    for n in range(12):
        who: dict[str, Any] = {
            "agent": f"a{n % 2}",
            "mission": f"m{n % 3}",
            "session_id": f"{longest[:-1]}{n % 4}",
        }
        model: dict[str, Any] = {"cost_usd": "0.5"} if n % 2 else {"model": longest}
        await spend(admin_client, input_tokens=n, **who, **model)
    await spend(admin_client, agent="a1", mission="m2", cost_usd="1")
    await agree(13)
    await sql.execute("select timeline.forget_sessions($1, $2)", tenant.name, [f"{longest[:-1]}1"])
    await agree(13)
    assert (await read(admin_client, "?by=session"))["all"]["calls"] == 13
    assert (await admin_client.post("/api/context/purge", {"mission_id": "m0"})).status == 200
    await agree(9)
    assert (await admin_client.post("/api/context/purge", {"agent_name": "a1"})).status == 200
    await agree(4)
    assert (await read(admin_client))["all"]["calls"] == 4


async def test_a_report_that_a_purge_of_the_tenant_overtakes_is_refused(
    admin_client: Client, sql: Connection, tenant: Tenant
) -> None:
    async with sql.transaction():
        await sql.execute("select pg_advisory_xact_lock(7202615, 1)")
        reported = asyncio.create_task(admin_client.post(COSTS, {"model": MODEL, "cost_usd": "1"}))
        waiting = "select count(*) from pg_locks where locktype = 'advisory' and objid = 1 and not granted"

        async def waits() -> None:
            assert await sql.fetchval(waiting) >= 1

        await until(waits)
        await sql.execute("select timeline.mark_erased($1, array[''])", tenant.name)
    answer = await reported
    assert answer.status == 409, answer


async def test_what_paging_saves_has_an_interval(client: Client, sql: Connection, tenant: Tenant) -> None:
    none = (await client.get(f"{COSTS}/savings")).body
    assert (none["saved"], none["paged"]["sessions"]) == (None, 0)
    # Sessions of 1 and 3 dollars on the one side, of 2 and 6 on the other; one of a model without a price.
    spent = {"gateway_paged": (1, 3, None), "gateway_control": (2, 6, None)}
    for kind, amounts in spent.items():
        for number, usd in enumerate(amounts):
            await sql.execute(
                """insert into timeline.costs_by_day
                   select $1, current_date - 1, sha256(($2::text || $3::text)::bytea), 'shared', 'context', $2, 'm',
                          null, null, $3::text, 'key:1', 2, 0, 0, 0, 0, coalesce($4::numeric, 0), 0,
                          case when $4::numeric is null then 2 else 0 end, 0""",
                tenant.name,
                kind,
                f"s-{number}",
                usd,
            )
    # What callers report themselves counts on neither side.
    await spend(client, kind="gateway_paged", session_id="forged", cost_usd="1000")
    found = (await client.get(f"{COSTS}/savings?days=7")).body
    assert found["paged"]["sessions"] == found["control"]["sessions"] == 2
    assert found["paged"]["usd_per_session"] == 2.0
    assert found["saved"] == pytest.approx(0.5)
    assert found["saved_low"] < 0.5 < found["saved_high"] < 1
    assert (await client.get(f"{COSTS}/savings?days=0")).status == 400
