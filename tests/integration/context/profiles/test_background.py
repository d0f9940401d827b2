"""Background: what a caller remembers besides, where all of it fits into what is left of a block."""

from __future__ import annotations

import asyncio
from typing import Any

from services.agent_memory.memories.queries_background import MOST
from tests.integration.conftest import Tenant
from tests.support.calls import Json, lesson, note, question, until
from tests.support.cluster import Client

TEA = "Ana drinks green tea in the morning."
DESK = "The desk by the window belongs to Ana."
VAULT = "The spare badge lies in the second drawer."


async def commit(client: Client, content: str, **more: Any) -> str:
    made = await written(client, "commit", lesson("scout", content, **more))
    return f"own:{made['memory_id']}"


async def written(client: Client, path: str, body: Json) -> Json:
    """Repeating a memory changes none, so that a write which a busy machine refuses may be tried again."""

    async def write() -> Json:
        answer = await client.post(f"/api/agent-memory/{path}", body)
        assert answer.status == 201, answer
        made: Json = answer.body
        return made

    return await until(write, 60)


async def assemble(client: Client, **more: Any) -> Json:
    """From owners that had the time to answer."""

    async def whole() -> Json:
        answer = await client.post("/api/context/assemble", {**question("m", background=True), **more})
        assert (answer.status, answer.body.get("degraded")) == (200, []), answer
        body: Json = answer.body
        return body

    return await until(whole, 60)


def background(assembly: Json) -> set[str]:
    return {source["handle"] for source in assembly["sources"] if source.get("background")}


async def test_a_small_memory_goes_in_after_what_is_relevant(client: Client) -> None:
    entry = await client.post(
        "/api/psychic-cache/write", note("m", "The failover of the orders database took 9 s.")
    )
    memories = {await commit(client, text) for text in (TEA, DESK)}
    assembly = await assemble(client)
    assert assembly["sources"][0]["handle"] == f"cache:{entry.body['data']['id']}"
    assert [source.get("background", False) for source in assembly["sources"]] == [False, True, True]
    assert background(assembly) == memories
    assert assembly["context_block"].count(f" lesson_learned scout background {assembly['nonce']}] ") == 2
    assert assembly["low_relevance"] is False
    assert background(await assemble(client, background=None)) == set()
    assert background(await assemble(client, background=False)) == set()


async def test_background_alone_answers_nothing(client: Client) -> None:
    memory = await commit(client, TEA)
    assembly = await assemble(client)
    assert background(assembly) == {memory}
    assert assembly["low_relevance"] is True


async def test_all_of_it_goes_in_or_nothing(client: Client) -> None:
    memories = {
        await commit(client, f"{TEA} And on day {number}, {'biscuits ' * 20}.") for number in range(4)
    }
    assert background(await assemble(client, token_budget=1_000)) == memories
    assert background(await assemble(client, token_budget=150)) == set()


async def test_a_large_memory_is_no_background(client: Client) -> None:
    batch = [
        lesson("scout", f"Shelf {number} holds {chr(97 + number % 26) * 5}{number}.")
        for number in range(MOST)
    ]
    await written(client, "batch", {"memories": batch})
    assert len(background(await assemble(client, query="tea", token_budget=8_000))) == MOST
    await commit(client, TEA, user_id="ana")
    assert background(await assemble(client, query="xyz", token_budget=8_000)) == set()


async def test_what_is_about_the_user_goes_in_though_there_is_more(client: Client) -> None:
    batch = [
        lesson("scout", f"Shelf {number} holds {chr(97 + number % 26) * 5}{number}.")
        for number in range(MOST + 1)
    ]
    await written(client, "batch", {"memories": batch})
    anas = {await commit(client, text, user_id="ana") for text in (TEA, DESK)}
    await commit(client, "Bob wants no calls.", user_id="bob")
    assert background(await assemble(client, query="xyz", user_id="ana", token_budget=8_000)) == anas


async def test_it_keeps_to_the_bounds_of_a_search(tenant: Tenant, client: Client) -> None:
    about_ana = await commit(client, TEA, user_id="ana")
    about_bob = await commit(client, "Bob wants no calls.", user_id="bob")
    task = {"task_description": "t", "skills_used": ["s"], "outcome": "success", "mission_namespace": "moria"}
    in_moria = await commit(client, VAULT, task_context=task)
    locked = await commit(client, DESK, private=True)
    await client.post("/api/agent-memory/commit", lesson("medic", "Medic keeps the bandages in the car."))

    async def shown(reader: Client, **more: Any) -> set[str]:
        return background(await assemble(reader, query="xyz", mission_namespace=None, **more))

    assert await shown(client) == {about_ana, about_bob, in_moria, locked}
    assert await shown(client, user_id="bob") == {about_bob, in_moria, locked}
    assert await shown(await tenant.client("read", users=["ana"])) == {about_ana, in_moria, locked}
    assert await shown(await tenant.client("read", missions=["m"])) == {about_ana, about_bob}
    assert await shown(await tenant.client("read", missions=["m"], agent="scout")) == {
        about_ana,
        about_bob,
        locked,
    }
    answer = await (await tenant.client("read", agent="medic")).post(
        "/api/context/assemble", {"query": "xyz", "caller": "scout", "background": True}
    )
    assert answer.status == 403


async def test_a_superseded_memory_is_none(client: Client) -> None:
    older = await commit(client, "Ana lives in Berlin.")
    listed = await client.post("/api/agent-memory/list", {"agent_name": "scout"})
    between = listed.body["data"][0]["created_at"]
    newer = await commit(client, "Ana moved away.", supersedes=int(older.partition(":")[2]))
    assert background(await assemble(client, query="xyz")) == {newer}
    assert background(await assemble(client, query="xyz", as_of=between)) == {older}


async def test_it_is_neither_an_access_nor_a_proof_of_relevance(client: Client) -> None:
    memory = await commit(client, TEA)
    assembly = await assemble(client)
    explained = (await client.get(f"/api/context/log/{assembly['assembly_id']}")).body
    assert {one["handle"]: one["outcome"] for one in explained["candidates"]}[memory] == "background"
    feedback = {"assembly_id": assembly["assembly_id"], "used_source_ids": [memory]}
    assert (await client.post("/api/context/feedback", feedback)).status == 200
    # An access of this one is written after those of the assembly before.
    read = await commit(client, "The failover of the orders database took 9 s.")
    assert read in {
        source["handle"] for source in (await assemble(client))["sources"] if not source.get("background")
    }

    async def counted() -> None:
        listed = (await client.post("/api/agent-memory/list", {"agent_name": "scout"})).body["data"]
        counts = {f"own:{one['id']}": one.get("access_count", 0) for one in listed}
        assert counts[read] >= 1
        assert counts[memory] == 0

    await until(counted, 30)


async def test_a_replay_keeps_it_where_it_fits(client: Client) -> None:
    memory = await commit(client, TEA)
    assembly = await assemble(client)
    path = f"/api/context/log/{assembly['assembly_id']}/replay"
    wide, narrow = [(await client.post(path, {"token_budget": tokens})).body for tokens in (500, 10)]
    assert (wide["removed"], wide["total_tokens"]) == ([], assembly["sources"][0]["tokens"])
    assert narrow["removed"] == [memory]


async def test_a_profile_asks_for_it(client: Client, admin_client: Client) -> None:
    memory = await commit(client, TEA)
    for subject, more in (({"agent_name": "scout"}, {}), ({"user_id": "ana"}, {"user_id": "ana"})):
        profile = {**subject, "text": "Short.", "background": True}
        assert (await admin_client.call("PUT", "/api/context/profiles", profile)).status == 200
        assert background(await assemble(client, background=None, **more)) == {memory}
        assert background(await assemble(client, background=False, **more)) == set()
        query = "&".join(f"{name}={value}" for name, value in subject.items())
        assert (await admin_client.call("DELETE", f"/api/context/profiles?{query}")).status == 204
        assert background(await assemble(client, background=None, **more)) == set()


async def test_nothing_is_in_a_block_twice(client: Client) -> None:
    entry = await client.post(
        "/api/psychic-cache/write", note("m", "The orders database failover took nine seconds.")
    )
    relevant = await commit(client, "The orders database failover is rehearsed in May.")
    repeated = await commit(client, "The orders database failover took nine seconds.")
    besides = await commit(client, TEA)
    assembly = await assemble(client)
    handles = [source["handle"] for source in assembly["sources"]]
    assert len(handles) == len(set(handles))
    assert background(assembly) <= {besides, relevant}
    assert besides in background(assembly)
    texts = [f"cache:{entry.body['data']['id']}", repeated]
    assert len([handle for handle in handles if handle in texts]) == 1


async def test_assemblies_at_once_show_the_same(client: Client) -> None:
    memories = {await commit(client, text) for text in (TEA, DESK, VAULT)}
    found = await asyncio.gather(*(assemble(client, query="xyz") for _ in range(5)))
    assert [background(assembly) for assembly in found] == [memories] * 5
