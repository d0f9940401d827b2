"""A newer statement supersedes the older one in blocks, whichever arrived first, and the log says so."""

from __future__ import annotations

from typing import Any

import pytest

import scrubjay
from bench.cluster import Address
from bench.conflict.asking import STORES, measure
from bench.conflict.statements import generate
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, question
from tests.support.cluster import Client, Cluster

ENTRIES = "/api/psychic-cache/write?wait=indexed"
QUESTION = "What is the staging database?"
OLD, NEW = "The staging database is db-7.", "The staging database is db-9."


async def write(client: Client, path: str, body: Any) -> Any:
    answer = await client.post(path, body)
    assert answer.status == 201, answer
    return answer.body


async def assemble(client: Client, mission: str, text: str = QUESTION, **more: Any) -> Any:
    answer = await client.post("/api/context/assemble", question(mission, text=text, **more))
    assert answer.status == 200, answer
    return answer.body


def told(assembly: Any) -> str:
    """The texts of a block's items, without their headers."""
    items = scrubjay.parse_block(assembly["context_block"], assembly["nonce"])
    return "\n".join(item.text for item in items)


async def test_the_newest_entry_stands_alone_and_the_log_names_it(client: Client) -> None:
    late = note("newest", NEW, occurred_at="2026-03-09T00:00:00Z")
    early = note("newest", OLD, occurred_at="2026-03-01T00:00:00Z")
    new = (await write(client, ENTRIES, late))["data"]["id"]
    old = (await write(client, ENTRIES, early))["data"]["id"]
    assembly = await assemble(client, "newest", token_budget=500)
    (source,) = assembly["sources"]
    assert (source["id"], source["was"]) == (new, "db-7")
    assert assembly["context_block"].endswith(f"was: db-7 {assembly['nonce']}] {NEW}")
    assert assembly["left_out"]["count"] == 0
    log = (await client.get(f"/api/context/log/{assembly['assembly_id']}")).body
    by_handle = {candidate["handle"]: candidate for candidate in log["candidates"]}
    older = by_handle[f"cache:{old}"]
    assert (older["outcome"], older["superseded_by"]) == ("superseded", f"cache:{new}")
    replay = await client.post(f"/api/context/log/{assembly['assembly_id']}/replay", {"token_budget": 4000})
    assert replay.body["added"] == []
    assert (await client.get(f"/api/psychic-cache/all/entries/{old}")).status == 200


async def test_the_older_entry_holds_as_of_its_time(client: Client) -> None:
    await write(client, ENTRIES, note("as-of-newest", OLD))
    before = (await assemble(client, "as-of-newest"))["sources"][0]["at"]
    await write(client, ENTRIES, note("as-of-newest", NEW))
    assert "db-7" not in told(await assemble(client, "as-of-newest"))
    assert "db-7" in (await assemble(client, "as-of-newest", as_of=before))["context_block"]


@pytest.mark.parametrize("texts", [(OLD, NEW), ("deploy window: Tue", "deploy window: Thu")])
async def test_the_newest_memory_of_an_agent_stands_alone(client: Client, texts: tuple[str, str]) -> None:
    for text in texts:
        await write(client, "/api/agent-memory/commit", lesson("keeper", text))
    assembly = await assemble(client, "newest-memory", text=texts[1], caller="keeper")
    assert texts[1] in assembly["context_block"]
    assert texts[0] not in told(assembly)


PORTS = [f"The port of the gateway is {port}." for port in (8080, 8081, 8080)]


async def port_of(client: Client, caller: str, **more: Any) -> list[str]:
    """The ports that a block of the agent's own memories tells."""
    text = "What is the port of the gateway?"
    block = told(await assemble(client, "none", text=text, caller=caller, **more))
    return [port for port in ("8080", "8081") if port in block]


async def test_a_memory_that_is_stated_again_supersedes_what_came_between(client: Client) -> None:
    ids = [
        (await write(client, "/api/agent-memory/commit", lesson("echo", text)))["memory_id"] for text in PORTS
    ]
    assert ids[0] == ids[2]
    assert await port_of(client, "echo") == ["8080"]
    memory = (await client.get(f"/api/agent-memory/{ids[0]}")).body["memory"]
    between = (await client.get(f"/api/agent-memory/{ids[1]}")).body["memory"]["created_at"]
    assert memory["created_at"] < between < memory["confirmed_at"]
    assert await port_of(client, "echo", as_of=between) == ["8081"]


async def test_what_an_agent_remembers_again_supersedes_what_came_between(client: Client) -> None:
    for text in PORTS:
        answer = await client.post("/api/context/remember", {"caller": "parrot", "text": text})
        assert answer.body["items"][0]["handle"].startswith("own:"), answer
    assert await port_of(client, "parrot") == ["8080"]


async def test_what_a_conversation_says_again_supersedes_what_came_between(client: Client) -> None:
    texts = [f"The port of the payment gateway in Oslo is {port}." for port in (8080, 8081, 8080)]
    messages = [{"role": "user", "content": text} for text in texts]
    where = {"caller": "scout", "mission_namespace": "said-again", "session_id": "s1"}
    stored = []
    for sent in (messages[:2], messages, messages):
        answer = await client.post("/api/context/remember", {"messages": sent, **where})
        stored.append(answer.body["stored"])
    assert stored == [2, 1, 0]
    block = told(await assemble(client, "said-again", text="What is the port of the payment gateway?"))
    assert "8080" in block
    assert "8081" not in block


@pytest.mark.parametrize(
    "again",
    [{"source_kind": "document"}, {"occurred_at": "2026-01-01T00:00:00Z"}],
    ids=lambda again: next(iter(again)),
)
async def test_an_older_or_less_trusted_repetition_supersedes_nothing(
    client: Client, again: dict[str, str]
) -> None:
    agent = f"echo-{next(iter(again))}"
    for text, more in zip(PORTS, ({}, {}, again), strict=True):
        await write(client, "/api/agent-memory/commit", lesson(agent, text) | more)
    assert await port_of(client, agent) == ["8081"]


async def test_nothing_is_superseded_across_agents_and_users(client: Client) -> None:
    await write(client, ENTRIES, note("apart", OLD, agent_name="scout"))
    await write(client, ENTRIES, note("apart", NEW, agent_name="medic"))
    for user, colour in (("mia", "teal"), ("tom", "grey")):
        text = f"The favourite colour is {colour}."
        await write(client, ENTRIES, note("apart", text, user_id=user))
    block = (await assemble(client, "apart"))["context_block"]
    assert "db-7" in block
    assert "db-9" in block
    block = (await assemble(client, "apart", text="What is the favourite colour?"))["context_block"]
    assert "teal" in block
    assert "grey" in block


async def test_an_untrusted_source_supersedes_no_trusted_one(client: Client) -> None:
    await write(client, ENTRIES, note("trust", OLD))
    await write(client, ENTRIES, note("trust", NEW, source_kind="document"))
    assert "db-7" in (await assemble(client, "trust"))["context_block"]


async def test_another_tenant_supersedes_nothing(tenants: tuple[Tenant, Tenant]) -> None:
    one, other = [await tenant.client("write") for tenant in tenants]
    await write(one, ENTRIES, note("newest-tenant", OLD))
    await write(other, ENTRIES, note("newest-tenant", NEW))
    assert "db-7" in (await assemble(one, "newest-tenant"))["context_block"]


async def superseding(client: Client, older: int, mission: str = "certain", **more: Any) -> Any:
    return await client.post(ENTRIES, note(mission, "Use the replica in Oslo.", supersedes=older, **more))


async def test_a_write_supersedes_the_entry_that_it_names(client: Client) -> None:
    older = (await write(client, ENTRIES, note("certain", "Use the replica in Lisbon.")))["data"]["id"]
    answer = await superseding(client, older)
    assert answer.status == 201, answer
    assembly = await assemble(client, "certain", text="Which replica should I use?")
    assert "Oslo" in assembly["context_block"]
    assert "Lisbon" not in told(assembly)
    entry = await client.get(f"/api/psychic-cache/all/entries/{older}")
    assert entry.body["data"]["superseded_by"] == answer.body["data"]["id"]


async def test_a_keyed_write_supersedes_once(client: Client) -> None:
    older = (await write(client, ENTRIES, note("certain-key", "Use the replica in Lisbon.")))["data"]["id"]
    body = note("certain-key", "Use the replica in Oslo.", supersedes=older)
    first, again = [
        await client.post("/api/psychic-cache/write", body, headers={"Idempotency-Key": "once"}) for _ in "ab"
    ]
    assert first.body["data"]["id"] == again.body["data"]["id"]
    assert "Lisbon" not in told(await assemble(client, "certain-key", text="Which replica?"))


@pytest.mark.parametrize(
    "more",
    [{"mission": "elsewhere"}, {"agent_name": "medic"}, {"user_id": "mia"}, {"source_kind": "document"}],
    ids=lambda more: next(iter(more)),
)
async def test_no_write_supersedes_across_missions_agents_users_or_trust(
    client: Client, more: dict[str, str]
) -> None:
    body = note("certain-bounds", "Use the replica in Lisbon.", agent_name="scout")
    older = (await write(client, ENTRIES, body))["data"]["id"]
    answer = await superseding(client, older, **{"mission": "certain-bounds", "agent_name": "scout", **more})
    assert answer.status == 400, answer
    assert answer.body["errors"][0]["field"] == "supersedes"
    block = (await assemble(client, "certain-bounds", text="Which replica?"))["context_block"]
    assert "Lisbon" in block
    assert "Oslo" not in block


async def test_no_write_supersedes_another_tenants_or_an_unknown_entry(
    tenants: tuple[Tenant, Tenant],
) -> None:
    one, other = [await tenant.client("write") for tenant in tenants]
    older = (await write(one, ENTRIES, note("certain", "Use the replica in Lisbon.")))["data"]["id"]
    for client, target in ((other, older), (one, older + 1_000_000)):
        answer = await superseding(client, target)
        assert answer.status == 400, answer
        assert answer.body["errors"][0]["field"] == "supersedes"


async def test_a_commit_supersedes_only_a_memory_of_its_agent(client: Client) -> None:
    commit = "/api/agent-memory/commit"
    older = (await write(client, commit, lesson("sage", "Use the replica in Lisbon.")))["memory_id"]
    body = lesson("medic", "Use the replica in Oslo.") | {"supersedes": older}
    answer = await client.post(commit, body)
    assert answer.status == 400, answer
    assert answer.body["errors"][0]["field"] == "supersedes"
    newer = (await write(client, commit, body | {"agent_name": "sage"}))["memory_id"]
    assembly = await assemble(client, "none", text="Which replica should I use?", caller="sage")
    assert "Oslo" in assembly["context_block"]
    assert "Lisbon" not in told(assembly)
    assert (await client.get(f"/api/agent-memory/{older}")).body["memory"]["superseded_by"] == newer


@pytest.mark.parametrize("mission", ["certain-remember", None])
async def test_remember_supersedes_what_its_handle_names(client: Client, mission: str | None) -> None:
    async def remember(text: str, **more: Any) -> Any:
        body = {"caller": "scribe", "text": text, "mission_namespace": mission, **more}
        return await client.post("/api/context/remember", body)

    older = (await remember("Use the replica in Lisbon.")).body["items"][0]["handle"]
    newer = await remember("Always use the replica in Oslo.", supersedes=older)
    assert newer.body["items"][0]["handle"].partition(":")[0] == older.partition(":")[0]
    block = told(await assemble(client, mission or "none", text="Which replica?", caller="scribe"))
    assert "Oslo" in block
    assert "Lisbon" not in block
    unknown = await remember("Use the replica in Rome.", supersedes=f"{older}999")
    assert unknown.status == 400, unknown
    assert unknown.body["errors"][0]["field"].endswith("supersedes")


async def test_the_bench_finds_the_newest_first_in_every_store(cluster: Cluster, tenant: Tenant) -> None:
    address = Address(cluster.url(), await tenant.key("admin"), throw_away=False)
    report = await measure(address, generate(12, seed=7, held_out=True))
    for store in STORES:
        assert report[store]["newest_first"] >= 0.9, report
        assert report[store]["older_absent_or_marked"] >= 0.9, report
        assert report[store]["wrongly_superseded"] <= 0.02, report
