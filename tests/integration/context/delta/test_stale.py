"""The timeline tells a session that what it was given has changed; facts and objects are corrected as others are."""

from __future__ import annotations

from tests.integration.conftest import Tenant
from tests.integration.context.delta.test_delta import (
    TEXTS,
    ask,
    changes,
    commit,
    corrected,
    handles,
    of_changes,
    write,
)
from tests.integration.sessions.calls import admitted, began, ok
from tests.integration.sessions.test_persistent import kept
from tests.support.calls import note, until
from tests.support.cluster import Client

ANN = "The orders database alerts page Ann."


async def stale(client: Client) -> list[tuple[str, str, list[str]]]:
    events = (await client.get("/api/timeline", params={"kind": "context_stale", "limit": 100})).body["data"]
    return [(event["agent_name"], event["session_id"], event["payload"]["handles"]) for event in events]


async def told(client: Client, *expected: tuple[str, str, list[str]]) -> None:
    """All of them, in any order, and then nothing more."""

    async def all_there() -> None:
        assert sorted(await stale(client)) == sorted(expected)

    await until(all_there)


async def mark(client: Client) -> None:
    """Once it has a number, so has what came before it."""
    answer = await client.post("/api/psychic-cache/write", note("mark", "so far"))
    number = answer.body["data"]["id"]

    async def numbered() -> None:
        events = (await client.get("/api/timeline", params={"mission": "mark", "limit": 1_000})).body["data"]
        assert number in {event["payload"].get("id") for event in events}

    await until(numbered)


async def edit(client: Client, number: int, text: str) -> None:
    answer = await client.call("PATCH", f"/api/agent-memory/{number}", {"content": text})
    assert answer.status == 200, answer


async def test_a_session_is_told_once_of_what_it_was_given(client: Client) -> None:
    edited, deleted = await commit(client, ANN), await commit(client, "The orders database uses port 6001.")
    old = await write(client, TEXTS[0])
    await ask(client)
    await ask(client, session="t")
    unknown = await commit(client, "Falcons hunt at dusk.")
    await edit(client, unknown, "Falcons hunt at dawn.")
    assert await stale(client) == []
    await edit(client, edited, "The orders database alerts page Bob.")
    first = [("scout", session, [f"own:{edited}"]) for session in "st"]
    await told(client, *first)
    await edit(client, edited, "The orders database alerts page Cyd.")
    await mark(client)
    await told(client, *first)
    # An answer that brings the change makes the session one that is up to date.
    assert corrected(await ask(client)) == [(f"own:{edited}", "edited", None)]
    await edit(client, edited, "The orders database alerts page Dan.")
    second = [*first, ("scout", "s", [f"own:{edited}"])]
    await told(client, *second)
    assert (await client.delete(f"/api/agent-memory/{deleted}")).status in (200, 204)
    await write(client, "Lisbon is closed: Porto takes over the orders database.", supersedes=old)
    rest = [("scout", session, [name]) for session in "st" for name in (f"own:{deleted}", f"cache:{old}")]
    await until(lambda: _holds(client, [*second, *rest]))


async def _holds(client: Client, expected: list[tuple[str, str, list[str]]]) -> None:
    """Changes that are numbered together are told together."""
    seen = [(agent, session, handle) for agent, session, some in await stale(client) for handle in some]
    wanted = [(agent, session, handle) for agent, session, some in expected for handle in some]
    assert sorted(seen) == sorted(wanted)


async def test_who_reads_the_event(tenant: Tenant, tenants: tuple[Tenant, Tenant], client: Client) -> None:
    number = await commit(client, ANN)
    await ask(client)
    await edit(client, number, "The orders database alerts page Bob.")
    expected = ("scout", "s", [f"own:{number}"])
    await told(client, expected)
    assert await stale(await tenant.client("read", agent="scout")) == [expected]
    for bounds in ({"agent": "heron"}, {"missions": ["other"]}):
        assert await stale(await tenant.client("read", **bounds)) == []
    assert await stale(await tenants[1].client()) == []


async def test_facts_are_corrected(tenant: Tenant, client: Client) -> None:
    heron, wren = await tenant.client("write", agent="heron"), await tenant.client("write", agent="wren")
    await ok(client, "POST", "/api/kg/aliases", {"alias": "orders database", "entity": "orders db"})
    fact = {"subject": "orders db", "predicate": "runs on", "scope": "shared"}
    number = (await ok(heron, "POST", "/api/kg/write", {**fact, "object": "Oslo"}))["id"]
    assert "Oslo" in (await ask(client))["context_block"]
    assert (await changes(client))["corrections"] == []
    # Who may not end what another says, disputes it.
    await ok(wren, "POST", "/api/kg/write", {**fact, "object": "Bergen"})
    assert of_changes(await changes(client)) == [(f"kg:{number}", "edited", None)]
    disputed = await ask(client)
    assert corrected(disputed) == [(f"kg:{number}", "edited", None)]
    assert "orders db — runs on — Oslo (disputed)" in disputed["context_block"]
    assert "Bergen" in disputed["context_block"]
    await ok(client, "POST", "/api/kg/invalidate", {"id": number})
    await told(client, ("scout", "s", [f"kg:{number}"]))
    assert (f"kg:{number}", "gone", None) in corrected(await ask(client))
    assert corrected(await ask(client)) == []


async def test_objects_of_a_session_are_corrected(client: Client) -> None:
    session = await began(client, external_id="s")
    await admitted(client, session, "The orders database fails over by hand.", source_key="runbook.md")
    first = await ask(client, whole_objects=True)
    (given,) = [name for name in handles(first) if name.startswith("object:")]
    assert (await changes(client))["corrections"] == []
    await admitted(client, session, "The orders database fails over by itself.", source_key="runbook.md")
    seen = (await changes(client))["corrections"]
    assert [(one["handle"], one["what"]) for one in seen] == [(given, "superseded")]
    answer = await ask(client, whole_objects=True)
    assert (given, "superseded", seen[0]["by"]) in corrected(answer)
    assert (await changes(client))["corrections"] == []


async def test_what_is_kept_for_users_is_corrected(client: Client) -> None:
    made = await kept(client, "Ana said that the orders database may be restarted on Mondays.")
    first = await ask(client, user_id="ana")
    (given,) = [name for name in handles(first) if name.startswith("persistent:")]
    assert (await changes(client))["corrections"] == []
    await ok(client, "DELETE", f"/api/persistent-objects/{made['id']}")
    await told(client, ("scout", "s", [given]))
    assert corrected(await ask(client, user_id="ana")) == [(given, "gone", None)]
