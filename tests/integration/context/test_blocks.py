"""What a block holds, what assemble says of it, and what follows from it: accesses and feedback."""

from __future__ import annotations

from typing import Any

from tests.integration.context.test_explain import assemble, fill
from tests.support.calls import Json, lesson, note, question, until
from tests.support.cluster import Client

ENTRY = "/api/psychic-cache/write"
LONG = "The orders database failover needs a fenced replica, and the orders failover takes minutes. " * 10


async def searched(client: Client, mission: str, **more: Any) -> dict[str, int | None]:
    assembly = await assemble(client, mission, **more)
    return {one["scope"]: one["items"] for one in assembly["searched"]}


async def accesses(client: Client, agent: str) -> dict[str, int]:
    listed = await client.post("/api/agent-memory/list", {"agent_name": agent})
    return {f"own:{one['id']}": one.get("access_count", 0) for one in listed.body["data"]}


async def test_a_small_block_keeps_the_best_item(client: Client) -> None:
    await client.post(ENTRY, note("small", LONG))
    for number in range(9):
        await client.post(ENTRY, note("small", f"Note {number}: a database of soups is in the canteen."))
    whole = await assemble(client, "small", token_budget=4000)
    assert whole["sources"][0]["tokens"] > 200
    block = await assemble(client, "small", token_budget=200)
    best = block["sources"][0]
    assert (best["handle"], best["cut"]) == (whole["sources"][0]["handle"], True)
    assert best["tokens"] > 100
    assert block["total_tokens"] <= 200


async def test_a_long_item_gives_the_sentence_that_answers(client: Client) -> None:
    answer = "Rollbacks of the ledger need the blue key from the safe."
    filler = "The ledger moves to the new cluster at night, and nobody has to be there. "
    text = f"Notes on the ledger. {filler * 5}{answer} {filler * 3}"
    await client.post(ENTRY, note("excerpts", text))
    asked = {"query": "Which key do rollbacks of the ledger need?"}
    whole = await assemble(client, "excerpts", **asked)
    short = await assemble(client, "excerpts", **asked, token_budget=80)
    (before,), (source,) = whole["sources"], short["sources"]
    assert (before["cut"], "excerpt" in before) == (False, False)
    assert (source["cut"], source["excerpt"], source["handle"]) == (True, True, before["handle"])
    assert answer in short["context_block"]
    assert "] Notes on the ledger." in short["context_block"]
    assert " … " in short["context_block"]
    assert short["context_block"].endswith("[…]")
    full = await client.get(f"/api/context/sources/{source['handle']}")
    assert full.body["item"]["content"].strip() == text.strip()


async def test_a_direct_query_shows_the_sentence_that_answers(client: Client) -> None:
    answer = "Rollbacks of the ledger need the blue key from the safe."
    await client.post(
        ENTRY, note("direct", f"{'Nobody has to be there at night. ' * 20}{answer} {'Done. ' * 20}")
    )
    asked = {"mission_id": "direct", "query": "which key do rollbacks of the ledger need", "token_budget": 80}
    found = (await client.post("/api/psychic-cache/query", asked)).body["data"]
    assert answer in found["context_block"]
    assert [(one["truncated"], answer in one["content"]) for one in found["entries"]] == [(True, True)]


async def test_an_answer_counts_what_was_searched(client: Client) -> None:
    await fill(client, "known")
    for scopes, expected in (
        ([], {"mission:known": 12, "agent:scout": 2, "agent:*": 3}),
        (["mission:knwon", "agent:medic", "agent:medci", "user:lea"], {"mission:knwon": 0, "agent:medic": 1}),
    ):
        counts = await searched(client, "known", scopes=scopes)
        assert counts.items() >= expected.items()
        assert list(counts) == ["mission:known", *scopes, "agent:scout", "agent:*"]
    assert (counts["agent:medci"], counts["user:lea"]) == (0, 0)
    assert (await searched(client, "knwon"))["mission:knwon"] == 0


async def test_an_answer_says_which_budget_held(client: Client, admin_client: Client) -> None:
    assert (await assemble(client, "m"))["budget"] == {"tokens": 4000, "from": "default"}
    assert (await assemble(client, "m", token_budget=77))["budget"] == {"tokens": 77, "from": "request"}
    budget = {"caller": "scout", "default_budget": 600, "ceiling": 900}
    assert (await admin_client.call("PUT", "/api/context/budgets", budget)).status == 200

    async def learned() -> None:
        assert (await assemble(client, "m"))["budget"] == {"tokens": 600, "from": "caller"}

    await until(learned)
    assert (await assemble(client, "m", token_budget=5000))["budget"] == {"tokens": 900, "from": "ceiling"}


async def test_an_answer_says_what_had_no_room(client: Client) -> None:
    await fill(client, "full")
    block = await assemble(client, "full", token_budget=100, fill=True)
    inside = {source["handle"] for source in block["sources"]}
    left = block["left_out"]
    assert left["count"] > len(left["handles"]) == 5
    assert not inside & set(left["handles"])
    everything = [source["handle"] for source in (await assemble(client, "full", fill=True))["sources"]]
    assert [handle for handle in everything if handle not in inside][:5] == left["handles"]
    whole = await assemble(client, "full", token_budget=16_000, fill=True)
    assert whole["left_out"] == {"count": 0, "handles": [], "below_cut": 0}


async def test_a_block_holds_nothing_beside_the_point(client: Client, admin_client: Client) -> None:
    wanted = "Draining a node takes six minutes because the search pods ignore SIGTERM."
    beside = (
        "A runner of the integration tests takes 38 minutes.",
        "A node of the document tree has at most six children.",
        "The search box takes queries of 200 characters.",
    )
    for text in (wanted, *beside):
        await client.post(f"{ENTRY}?wait=indexed", note("near", text))
    asked = {"query": "How long does draining a node of the search pods take?"}
    block = await assemble(admin_client, "near", **asked, debug=True)
    assert [wanted in block["context_block"], len(block["sources"])] == [True, 1]
    outcomes = [one["outcome"] for one in block["candidates"]]
    assert block["left_out"] == {"count": 0, "handles": [], "below_cut": outcomes.count("below_cut")}
    log = (await client.get(f"/api/context/log/{block['assembly_id']}")).body
    logged = [one["handle"] for one in log["candidates"] if one["outcome"] == "below_cut"]
    assert len(logged) == outcomes.count("below_cut") > 0
    filled = await assemble(client, "near", **asked, fill=True)
    assert {source["handle"] for source in filled["sources"]} == {block["sources"][0]["handle"], *logged}
    replay = await client.post(f"/api/context/log/{block['assembly_id']}/replay", {"token_budget": 900})
    assert (replay.status, replay.body["added"], replay.body["removed"]) == (200, [], []), replay


async def test_a_question_about_somebody_unknown_is_flagged(client: Client) -> None:
    for text in (
        "Nate keeps two turtles and a dog as pets, and a photo of each.",
        "Nate repaired the bicycle of his neighbour with a part from the garage.",
        "The garage has a new door, and the old one went to the dump.",
    ):
        await client.post(f"{ENTRY}?wait=indexed", note("pets", text))
    known = await assemble(client, "pets", query="What did Nate do with the bicycle?")
    unknown = await assemble(client, "pets", query="What did Joanna do with the bicycle?")
    assert [known["low_relevance"], unknown["low_relevance"]] == [False, True]
    assert "Nate repaired the bicycle" in unknown["context_block"]
    # What is kept about a user need not hold the user's name.
    of_user = await assemble(client, "pets", query="What did Joanna do with the bicycle?", user_id="u-7")
    assert of_user["low_relevance"] is False


async def test_what_says_the_same_stands_once_with_a_count(client: Client) -> None:
    said = "Draining a node of the search pods takes six minutes."
    ids = {}
    for agent, text, kind in (
        ("scout", said, "agent"),
        ("scout", "draining a node of the search pods takes six minutes", "agent"),
        ("scout", "Draining the node of search pods takes six minutes!", "agent"),
        ("medic", said, "agent"),
        ("wren", said, "document"),
        ("scout", said.replace("Draining", "Restarting"), "agent"),
    ):
        body = note("same", text, agent_name=agent, source_kind=kind)
        written = (await client.post(f"{ENTRY}?wait=indexed", body)).body["data"]["id"]
        ids[agent, text, kind] = f"cache:{written}"
    handles = list(ids.values())
    block = await assemble(client, "same", query="How long does draining a node take?", fill=True)
    (best,) = [source for source in block["sources"] if "repeats" in source]
    assert {best["handle"], *best["repeats"]} == set(handles[:4])
    assert {source["handle"] for source in block["sources"]} == {best["handle"], *handles[4:]}
    header = next(line for line in block["context_block"].splitlines() if f"[{best['handle']} " in line)
    assert " ×4 also " in header
    assert sum("×" in line for line in block["context_block"].splitlines()) == 1
    log = (await client.get(f"/api/context/log/{block['assembly_id']}")).body
    repeats = {one["handle"]: one["same_as"] for one in log["candidates"] if one["outcome"] == "repeat"}
    assert repeats == dict.fromkeys(best["repeats"], best["handle"])
    replay = await client.post(f"/api/context/log/{block['assembly_id']}/replay", {})
    assert (replay.status, replay.body["added"], replay.body["removed"]) == (200, [], []), replay


async def test_own_memories_in_a_block_count_as_read(client: Client) -> None:
    await fill(client, "reads")
    before = await accesses(client, "scout")
    assert set(before.values()) == {0}
    await assemble(client, "reads", log=False)
    block = await assemble(client, "reads")
    inside = {source["handle"] for source in block["sources"]} & set(before)
    assert inside

    async def counted() -> None:
        assert await accesses(client, "scout") == {handle: int(handle in inside) for handle in before}

    await until(counted)
    # A peer's block counts nothing of others.
    assert any(source["store"] == "agent_memory_peer" for source in block["sources"])
    assert set((await accesses(client, "medic")).values()) == {0}


async def feedback(client: Client, assembly: Json, *used: Any) -> Any:
    body = {"assembly_id": assembly["assembly_id"], "used_source_ids": list(used)}
    return await client.post("/api/context/feedback", body)


async def test_feedback_takes_handles_of_the_block_only(client: Client) -> None:
    await fill(client, "fed")
    assembly = await assemble(client, "fed")
    inside = [source["handle"] for source in assembly["sources"]]
    answer = await feedback(client, assembly, inside[0], "cache:999999999", "own:7777777")
    assert answer.status == 400
    assert "cache:999999999" in answer.body["detail"]
    assert [error["field"] for error in answer.body["errors"]] == ["used_source_ids[1]", "used_source_ids[2]"]
    entry = (await client.get(f"/api/context/log/{assembly['assembly_id']}")).body
    assert "used_source_ids" not in entry
    assert (await feedback(client, assembly, *inside[:2], inside[0])).body == {"success": True, "accepted": 2}
    assert (await feedback(client, assembly)).body == {"success": True, "accepted": 0}


async def test_feedback_takes_a_store_and_an_id(client: Client) -> None:
    await fill(client, "pairs")
    assembly = await assemble(client, "pairs")
    source = assembly["sources"][0]
    pair = {"store": source["store"], "id": source["id"]}
    answer = await feedback(client, assembly, pair, {**pair, "id": str(source["id"])}, source["handle"])
    assert (answer.status, answer.body) == (200, {"success": True, "accepted": 1}), answer
    entry = (await client.get(f"/api/context/log/{assembly['assembly_id']}")).body
    assert entry["used_source_ids"] == [source["handle"]]
    refused = await feedback(client, assembly, {**pair, "id": 999_999_999})
    assert refused.status == 400
    assert "999999999" in refused.body["detail"]
    assert (await feedback(client, assembly, {"store": "nowhere", "id": 1})).status == 400


async def test_feedback_takes_a_chunk_and_its_item(client: Client) -> None:
    await client.post(ENTRY, note("chunks", LONG * 3))
    assembly = await assemble(client, "chunks")
    chunk = assembly["sources"][0]["handle"]
    item, _, number = chunk.partition("#")
    assert number
    assert (await feedback(client, assembly, chunk)).body["accepted"] == 1
    assert (await feedback(client, assembly, item)).body["accepted"] == 1
    assert (await feedback(client, assembly, f"{item}#9999")).status == 400


async def test_an_assembly_that_took_nothing_takes_no_handles(client: Client) -> None:
    answer = await client.post("/api/context/assemble", question("nothing-here"))
    assert (await feedback(client, answer.body, "cache:1")).status == 400
    assert (await feedback(client, answer.body)).status == 200


async def test_a_memory_of_a_peer_is_not_counted(client: Client) -> None:
    assert (await client.post("/api/agent-memory/commit", lesson("zoe", LONG[:90]))).status == 201
    assembly = await assemble(client, "peers")
    assert [source["store"] for source in assembly["sources"]] == ["agent_memory_peer"]
    await assemble(client, "peers", caller="zoe")

    async def counted() -> None:
        assert list((await accesses(client, "zoe")).values()) == [1]

    await until(counted)
