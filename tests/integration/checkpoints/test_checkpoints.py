"""Checkpoints: what comes back, what stays, who reaches it, and what is erased."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from local.database import Database as Ground
from services.cache.checkpoints.service import CheckpointService
from shared.database.postgres import Connection, Database
from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import ok
from tests.support.calls import until
from tests.support.cluster import Client

PATH = "/api/checkpoints"
ANA = {"agent_name": "ana", "mission_id": "m", "user_id": "alice"}


async def saved(client: Client, checkpoint_id: str, **more: Any) -> Any:
    body = {**ANA, "thread_id": "t", "checkpoint_id": checkpoint_id, "state": {"of": checkpoint_id}, **more}
    return await ok(client, "PUT", PATH, body)


async def wrote(client: Client, checkpoint_id: str, *values: Any, **more: Any) -> int:
    writes = [{"place": place, "channel": "c", "value": {"v": value}} for place, value in enumerate(values)]
    body = {
        **ANA,
        "thread_id": "t",
        "checkpoint_id": checkpoint_id,
        "task_id": "task",
        "writes": writes,
        **more,
    }
    stored: int = (await ok(client, "PUT", f"{PATH}/writes", body))["stored"]
    return stored


async def listed(client: Client, **asked: Any) -> list[Any]:
    """Of all pages."""
    found: list[Any] = []
    body = {**ANA, **asked}
    while True:
        page = await ok(client, "POST", f"{PATH}/list", body)
        found += page["data"]
        if page["next"] is None:
            return found
        body["cursor"] = page["next"]


async def ids(client: Client, **asked: Any) -> list[str]:
    return [each["checkpoint_id"] for each in await listed(client, **{"thread_id": "t", **asked})]


async def test_a_state_comes_back_as_it_was_sent(client: Client) -> None:
    state = {"z": 1, "a": {"y": [1.0, 2, None, True, "ä😀"], "b": {}}, "big": 2**70, "tiny": 1e-300}
    await saved(client, "1", state=state, metadata={"step": 3, "source": "loop"}, parent_id="0")
    (found,) = await listed(client, thread_id="t")
    assert json.dumps(found["state"]) == json.dumps(state)
    assert (found["metadata"], found["parent_id"]) == ({"step": 3, "source": "loop"}, "0")
    await saved(client, "1", state={"new": 1})
    (found,) = await listed(client, thread_id="t")
    assert (found["state"], found["parent_id"]) == ({"new": 1}, None)


async def test_filters_and_pages(client: Client) -> None:
    for number in range(7):
        await saved(client, str(number), namespace="inner" if number % 2 else "", metadata={"n": number})
    assert await ids(client, limit=2) == list("6543210")
    assert await ids(client, limit=2, namespace="") == list("6420")
    assert await ids(client, before="3") == list("210")
    assert await ids(client, checkpoint_id="5") == ["5"]
    assert await ids(client, metadata={"n": 4}) == ["4"]
    assert await ids(client, thread_id="another") == []
    await saved(client, "9", thread_id="another")
    assert [each["thread_id"] for each in await listed(client, limit=3)] == ["another", *["t"] * 7]


async def test_large_states_make_a_page_shorter(client: Client) -> None:
    for number in range(6):
        await saved(client, str(number), state={"text": "x" * 1_500_000})
    page = await ok(client, "POST", f"{PATH}/list", {**ANA, "thread_id": "t", "limit": 50})
    assert len(page["data"]) == 3
    assert await ids(client, limit=50) == list("543210")


async def test_writes_come_in_their_order_and_the_first_stays(client: Client) -> None:
    assert await wrote(client, "1", "a", "b", task_path="~2") == 2
    assert await wrote(client, "1", "other", task_id="early", task_path="~1") == 1
    assert await wrote(client, "1", "again", "again") == 0
    assert await wrote(client, "1", "last", replace=True, task_id="early", task_path="~1") == 1
    await saved(client, "1")
    (found,) = await listed(client, thread_id="t")
    assert [(each["task_id"], each["value"]["v"]) for each in found["writes"]] == [
        ("early", "last"),
        ("task", "a"),
        ("task", "b"),
    ]
    assert await wrote(client, "1") == 0


async def test_only_the_newest_are_kept(client: Client) -> None:
    for number in range(4):
        await wrote(client, f"{number}0", "w")
        await saved(client, f"{number}0", keep_last=2)
        await saved(client, f"{number}1", namespace=f"step {number}")
    assert await ids(client) == ["31", "30", "21", "20"]
    await saved(client, "40", keep_last=1)
    assert await ids(client) == ["40"]


async def test_a_thread_expires(client: Client, tenant: Tenant, sql: Connection, database: Ground) -> None:
    await wrote(client, "1", "w")
    await saved(client, "1")
    past = "update cache.checkpoint_threads set expires_at = now() where tenant = $1"
    await sql.execute(past, tenant.name)
    assert await ids(client) == []
    # A new thread of its name has nothing of it.
    await saved(client, "2")
    assert await ids(client) == ["2"]
    await sql.execute(past, tenant.name)
    service = Database(database.admin)
    await service.open()
    assert await CheckpointService(service, 60).sweep() >= 1
    await service.close()
    for table in ("checkpoint_threads", "checkpoints", "checkpoint_writes"):
        assert not await sql.fetchval(f"select count(*) from cache.{table} where tenant = $1", tenant.name)


async def test_the_sweep_leaves_a_thread_that_was_extended_meanwhile(
    client: Client, tenant: Tenant, sql: Connection, database: Ground
) -> None:
    await saved(client, "1")
    until_when = "update cache.checkpoint_threads set expires_at = now() + $2::interval where tenant = $1"
    service = Database(database.admin)
    await service.open()
    # It was there when the writer looked, and not any more when the sweep does.
    await sql.execute(until_when, tenant.name, timedelta())
    async with sql.transaction():
        await sql.execute(until_when, tenant.name, timedelta(hours=1))
        sweeping = asyncio.create_task(CheckpointService(service, 60).sweep())
        await until(lambda: _waits(sql))
    await sweeping
    await service.close()
    assert await ids(client) == ["1"]


async def _waits(sql: Connection) -> None:
    assert await sql.fetchval(
        """select exists (select from pg_stat_activity
                          where wait_event_type = 'Lock' and query like '%delete from cache.checkpoint_threads%')"""
    )


async def test_a_thread_is_copied_and_pruned(client: Client) -> None:
    for number in range(3):
        await wrote(client, str(number), "w")
        await saved(client, str(number), run_id=f"run {number}")
        await saved(client, f"{number}i", namespace="inner")
    copied = {**ANA, "source_id": "t", "target_id": "copy"}
    assert await ok(client, "PUT", f"{PATH}/copy", copied) == {"checkpoints": 6}
    assert await ok(client, "PUT", f"{PATH}/copy", copied) == {"checkpoints": 0}
    assert (await client.call("PUT", f"{PATH}/copy", {**copied, "source_id": "nowhere"})).status == 404

    async def pruned(**more: Any) -> int:
        count: int = (await ok(client, "PUT", f"{PATH}/prune", {**ANA, **more}))["checkpoints"]
        return count

    assert await pruned(thread_ids=["t", "nowhere"]) == 4
    assert await ids(client) == ["2i", "2"]
    assert await pruned(run_ids=["run 1", "run 2"]) == 3
    assert await ids(client) == ["2i"]
    assert await ids(client, thread_id="copy", namespace="") == ["0"]
    (left,) = await listed(client, thread_id="copy", namespace="")
    assert len(left["writes"]) == 1
    assert await pruned(thread_ids=["t", "copy"], keep=0) == 5
    assert await listed(client) == []


@pytest.mark.parametrize(
    ("bounds", "parties", "reaches"),
    [
        ({"agent": "ana"}, ANA, True),
        ({"agent": "bo"}, ANA, False),
        ({"agent": "bo"}, {"mission_id": "m"}, True),
        ({"missions": ["m"]}, ANA, True),
        ({"missions": ["n"]}, ANA, False),
        ({"missions": ["m", "n"]}, {"agent_name": "ana"}, False),
        ({"users": ["alice"]}, ANA, True),
        ({"users": ["bob"]}, ANA, False),
    ],
)
async def test_a_bound_key_reaches_threads_of_its_own_only(
    tenant: Tenant, client: Client, bounds: Any, parties: dict[str, str], *, reaches: bool
) -> None:
    await saved(client, "1")
    bound = await tenant.client("write", **bounds)
    given = {**parties, "thread_id": "t"}
    calls = {
        "": {**given, "checkpoint_id": "1", "state": {}},
        "/writes": {**given, "checkpoint_id": "1", "task_id": "1", "writes": []},
        "/prune": {**parties, "thread_ids": ["t"], "keep": 0},
    }
    listing = await bound.post(f"{PATH}/list", given)
    assert listing.status == (200 if reaches else 403)
    assert [each["state"] for each in listing.body.get("data", [])] == (
        [{"of": "1"}] if reaches and parties is ANA else []
    )
    for path, body in calls.items():
        assert (await bound.call("PUT", f"{PATH}{path}", body)).status == (200 if reaches else 403), path
    assert bool(await ids(client)) is not (reaches and parties is ANA)


async def test_a_key_of_users_changes_threads_about_nobody_only_if_it_began_them(tenant: Tenant) -> None:
    admin, bound = await tenant.client("write"), await tenant.client("write", users=["alice"])
    thread = {"thread_id": "t", "checkpoint_id": "1", "state": {"said": "hers"}}
    await ok(admin, "PUT", PATH, thread)
    assert (await bound.call("PUT", PATH, {**thread, "state": {}})).status == 403
    assert await ok(bound, "PUT", f"{PATH}/prune", {"thread_ids": ["t"], "keep": 0}) == {"checkpoints": 0}
    (found,) = (await ok(bound, "POST", f"{PATH}/list", {"thread_id": "t"}))["data"]
    assert found["state"] == {"said": "hers"}
    await ok(bound, "PUT", PATH, {**thread, "thread_id": "own"})
    assert await ok(bound, "PUT", f"{PATH}/prune", {"thread_ids": ["own"], "keep": 0}) == {"checkpoints": 1}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"checkpoint_id": "two words"}, "checkpoint_id"),
        ({"checkpoint_id": "x" * 101}, "checkpoint_id"),
        ({"namespace": "ä"}, "namespace"),
        ({"state": []}, "state"),
        ({"state": {"a": "\x00"}}, "state"),
        ({"keep_last": 0}, "keep_last"),
        ({"ttl_hours": 0}, "ttl_hours"),
        ({"mission_id": "a/b"}, "mission_id"),
    ],
)
async def test_what_is_wrong_is_named(client: Client, wrong: dict[str, Any], field: str) -> None:
    body = {**ANA, "thread_id": "t", "checkpoint_id": "1", "state": {}, **wrong}
    answer = await client.call("PUT", PATH, body)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (400, [field])


async def test_the_longest_names_are_stored(client: Client) -> None:
    long = {"namespace": "n" * 1_000, "checkpoint_id": "c" * 100}
    parties = {"agent_name": "ä" * 200, "mission_id": "ö" * 200, "user_id": "ü" * 200, "thread_id": "t" * 200}
    await saved(client, **long, **parties)
    assert await wrote(client, **long, **parties, task_id="t" * 100, task_path="p" * 1_000) == 0
    (found,) = await listed(client, **parties)
    assert found["namespace"] == long["namespace"]
