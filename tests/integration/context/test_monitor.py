"""The monitor is derived from the timeline: what each agent did last, and what it has open."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import Stream, lesson, note, until
from tests.support.cluster import Client

MONITOR = "/api/context/monitor"


async def agents(client: Client, query: str = "") -> dict[str, dict[str, Any]]:
    answer = await client.get(MONITOR + query)
    assert answer.status == 200, answer
    return {one["agent_name"]: one for one in answer.body["data"]}


async def test_what_agents_do(tenant: Tenant, client: Client) -> None:
    for number in range(3):
        body = note("orders", f"finding {number}", agent_name="scout", session_id="s-1")
        assert (await client.post("/api/psychic-cache/write", body)).status == 201
    report = {"mission_id": "orders", "agent_name": "builder", "task": "mend the replica"}
    kept, done = [(await client.post("/api/dispatch/report", report)).body["data"]["id"] for _ in range(2)]
    path = f"/api/dispatch/{done}/complete"
    assert (await client.post(path, {"outcome": "success", "summary": "mended"})).status == 200
    assert (await client.post("/api/agent-memory/commit", lesson("medic", "fence it first"))).status == 201

    async def seen() -> dict[str, dict[str, Any]]:
        found = await agents(client)
        assert found.keys() >= {"builder", "medic"}
        assert found["builder"]["last_event"] == "dispatch_complete"
        assert found["medic"]["last_event"] == "memory_commit"
        return found

    found = await until(seen)
    assert list(found) == ["medic", "builder", "scout"]
    assert found["scout"]["events"] == {"cache_write": 3}
    assert (found["scout"]["mission_id"], found["scout"]["session_id"]) == ("orders", "s-1")
    assert found["builder"]["open_dispatches"] == [kept]
    assert {one["status"] for one in found.values()} == {"active"}
    assert set(await agents(client, "?mission=orders")) == {"builder", "scout"}


async def test_a_key_sees_its_own(tenant: Tenant, client: Client) -> None:
    for mission, agent in (("mine", "scout"), ("theirs", "medic")):
        assert (
            await client.post("/api/psychic-cache/write", note(mission, "x", agent_name=agent))
        ).status == 201
    everything = await until(lambda: _both(client))
    assert set(everything) == {"scout", "medic"}
    of_mission = await tenant.client("read", missions=["mine"])
    assert set(await agents(of_mission)) == {"scout"}
    assert (await of_mission.get(f"{MONITOR}?mission=theirs")).status == 403
    of_agent = await tenant.client("read", agent="medic")
    assert set(await agents(of_agent)) == {"medic"}


async def _both(client: Client) -> dict[str, dict[str, Any]]:
    found = await agents(client)
    assert len(found) == 2
    return found


async def test_bad_input_is_named(client: Client) -> None:
    for query, field in (("?minutes=0", "minutes"), ("?minutes=x", "minutes"), ("?mission=%00", "mission")):
        answer = await client.get(MONITOR + query)
        assert answer.status == 400, query
        assert answer.body["errors"][0]["field"] == field


async def test_what_an_agent_does_now_follows_its_trail(client: Client) -> None:
    made = await client.post("/api/sessions", {"agent_name": "scout", "mission_id": "orders"})
    path = f"/api/sessions/{made.body['data']['id']}"
    spent = {"model": "gpt-5", "agent": "scout", "mission": "orders", "cost_usd": "0.25"}
    assert (await client.post("/api/context/costs", spent)).status == 201
    use = {"type": "tool_use", "id": "1", "name": "grep", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "found"}
    for message, doing in (
        ({"role": "user", "content": "look for it"}, "thinking"),
        ({"role": "assistant", "content": [use]}, "tools"),
        ({"role": "tool", "content": [result]}, "thinking"),
        ({"role": "assistant", "content": "it is there"}, "idle"),
    ):
        assert (await client.post(f"{path}/events", {"messages": [message]})).status == 201
        await until(partial(_does, client, doing))
    assert (await client.post(f"{path}/turns", {})).status == 200
    asked = {"query": "what is there", "caller": "scout", "mission_namespace": "orders"}
    assert (await client.post("/api/context/assemble", asked)).status == 200

    async def told() -> dict[str, Any]:
        scout = (await agents(client))["scout"]
        assert scout["last_assembly_at"] is not None
        assert scout["turn"] == 1
        return scout

    scout = await until(told)
    assert scout["last_write_at"] is not None
    assert scout["doing"] == "idle"
    # The question's vector is added to it.
    assert 0.25 <= float(scout["cost_today_usd"]) < 0.26


async def _does(client: Client, doing: str) -> None:
    found = await agents(client)
    assert "scout" in found
    assert found["scout"]["doing"] == doing


async def test_a_stream_tells_each_agents_state_when_it_changes(tenant: Tenant, client: Client) -> None:
    async def write(mission: str, agent: str) -> None:
        body = note(mission, f"{agent} is here", agent_name=agent)
        assert (await client.post("/api/psychic-cache/write", body)).status == 201

    await write("orders", "scout")
    await until(partial(_seen, client, "scout"))
    of_mission = await tenant.client("read", missions=["orders"])
    async with Stream(client, MONITOR) as everything, Stream(of_mission, MONITOR) as bound:
        await until(partial(_told, everything, ["scout"]))
        await write("orders", "medic")
        await write("payments", "clerk")
        await until(partial(_told, bound, ["scout", "medic"]))
        await until(partial(_told, everything, ["scout", "medic", "clerk"]))
        heard = len(everything.events)
        await write("orders", "scout")
        await until(partial(_told, everything, ["scout"], heard))
    assert everything.events[-1]["events"] == {"cache_write": 2}
    assert {one["agent_name"] for one in bound.events} == {"scout", "medic"}


async def test_what_a_stream_of_states_cannot_have_is_named(tenant: Tenant, client: Client) -> None:
    headers = {"accept": "text/event-stream"}
    bound = await tenant.client("read", missions=["orders"])
    assert (await bound.get(f"{MONITOR}?mission=payments", headers=headers)).status == 403
    for n in range(2):
        await client.post("/api/psychic-cache/write", note("orders", "x", agent_name=f"a{n}"))
    page = await until(partial(_first_page, client))
    answer = await client.get(f"{MONITOR}?cursor={page['next']}", headers=headers)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "cursor")


async def _seen(client: Client, name: str) -> None:
    assert name in await agents(client)


async def _first_page(client: Client) -> dict[str, Any]:
    page: dict[str, Any] = (await client.get(f"{MONITOR}?limit=1")).body
    assert page["next"] is not None
    return page


async def _told(stream: Stream, names: list[str], after: int = 0) -> None:
    assert {one["agent_name"] for one in stream.events[after:]} >= set(names)


_MANY = """
insert into timeline.events (tenant, kind, scope, mission_id, agent_name, payload)
select $1, 'cache_write', 'mission:m' || n % 100, 'm' || n % 100, 'agent ' || n, '{}' from generate_series(1, $2::int) n
"""
AGENTS = 10_000


async def test_ten_thousand_agents_are_paged(tenant: Tenant, client: Client, sql: Connection) -> None:
    await sql.execute(_MANY, tenant.name, AGENTS)

    async def numbered() -> None:
        waiting = "select count(*) from timeline.events where tenant = $1 and seq is null"
        assert await sql.fetchval(waiting, tenant.name) == 0

    await until(numbered)
    names: list[str] = []
    longest, more = 0.0, ""
    while True:
        began = time.monotonic()
        answer = await client.get(f"{MONITOR}?limit=1000{more}")
        longest = max(longest, time.monotonic() - began)
        assert answer.status == 200, answer
        names += [one["agent_name"] for one in answer.body["data"]]
        if answer.body["next"] is None:
            break
        more = f"&cursor={answer.body['next']}"
    assert len(names) == len(set(names)) == AGENTS
    print(f"a page of 1,000 of {AGENTS} agents: {longest:.2f} s at most")


async def test_many_idle_streams_hold_nobody_up(tenant: Tenant, client: Client) -> None:
    greedy = await tenant.client("read")
    bound = await tenant.client("read", missions=["orders"])
    of_user = await tenant.client("read", users=["ana"])
    body = note("orders", "one", agent_name="scout", session_id="s-1")
    assert (await client.post("/api/psychic-cache/write", body)).status == 201
    body = note("payments", "x", agent_name="clerk")
    assert (await client.post("/api/psychic-cache/write", body)).status == 201
    async with AsyncExitStack() as open_:
        idle = [await open_.enter_async_context(Stream(greedy, MONITOR)) for _ in range(32)]
        refused = await greedy.get(MONITOR, headers={"accept": "text/event-stream"})
        assert (refused.status, refused.body["limit"]) == (429, "streams_per_key")
        others = await open_.enter_async_context(Stream(bound, MONITOR))
        users = await open_.enter_async_context(Stream(of_user, MONITOR))
        began = time.monotonic()
        await until(partial(_told, others, ["scout"]))
        print(f"told beside 32 idle streams after {time.monotonic() - began:.2f} s")
        for stream in idle:
            await until(partial(_told, stream, ["scout", "clerk"]))
        await until(partial(_told, users, ["scout"]))
        # A page is answered meanwhile.
        assert set(await agents(bound)) == {"scout"}
    assert {one["agent_name"] for one in others.events} == {"scout"}
    assert {one["session_id"] for one in users.events} == {None}
