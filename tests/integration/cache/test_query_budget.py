"""A direct query within its token budget: entries come cut to what matched, and the answer says what is left out."""

from __future__ import annotations

from typing import Any

from shared.render import parse_block
from tests.support.calls import Json, lesson, nine, note, tokens_of
from tests.support.cluster import Client

CACHE = "/api/psychic-cache"
FILLER = "The weather over the harbour was as it always is in autumn, and nobody wrote any of it down. "
ANSWER = "The reactor of hall nine is shut down with the green lever. "


async def written(client: Client, body: Json) -> int:
    answer = await client.post(f"{CACHE}/write?wait=indexed", body)
    assert answer.status == 201, answer
    return int(answer.body["data"]["id"])


async def asked(client: Client, **more: Any) -> Json:
    answer = await client.post(f"{CACHE}/query", {"mission_id": "m", **more})
    assert answer.status == 200, answer
    data: Json = answer.body["data"]
    assert len(data["entries"]) == len(parse_block(data["context_block"]))
    return data


async def test_a_long_entry_comes_cut_to_what_matched(client: Client) -> None:
    content = FILLER * 190 + ANSWER + FILLER * 190
    id_ = await written(client, note("m", content, tags=["reactor"]))
    found = await asked(client, query="how is the reactor of hall nine shut down?", token_budget=400)
    (entry,) = found["entries"]
    assert ANSWER.strip() in entry["content"]
    assert entry["truncated"] is True
    assert 0 < entry["chunk"] < entry["chunks"]
    assert parse_block(found["context_block"]) == [(f"cache:{id_}#{entry['chunk']}", entry["content"])]
    assert len(entry["content"]) // 4 < found["total_tokens"] <= 400
    source = await client.get(f"/api/context/sources/cache:{id_}%23{entry['chunk']}")
    assert source.body["item"]["content"] == content


async def test_the_best_match_is_cut_before_a_lesser_one_takes_its_place(client: Client) -> None:
    best = ANSWER + "It is yellow at night. " * 30
    id_ = await written(client, note("m", best))
    for number in range(3):
        await written(client, note("m", f"Hall {number} has a reactor too."))
    await written(client, note("m", "The reactor of hall six has no lever. " + FILLER * 6))
    found = await asked(client, query="green lever shuts down the reactor of hall nine", token_budget=120)
    first = found["entries"][0]
    assert (first["id"], first["truncated"]) == (id_, True)
    assert first["content"].startswith(ANSWER.strip())
    assert first["content"].removesuffix(" […]").endswith(".")
    everything = await asked(client, query="green lever shuts down the reactor of hall nine")
    assert everything["dropped"] == {"budget": 0}
    assert found["dropped"] == {"budget": len(everything["entries"]) - len(found["entries"])}
    assert found["dropped"]["budget"] > 0


async def test_an_entry_that_fits_is_whole(client: Client) -> None:
    for body in nine("m"):
        await written(client, body)
    found = await asked(client, query="failover of the orders database")
    assert not any("truncated" in entry for entry in found["entries"])
    for body in nine("m"):
        (entry,) = [e for e in found["entries"] if e["context_type"] == body["context_type"]]
        assert {name: entry.get(name, []) for name in body} == body


async def test_tags_take_of_the_budget_too(client: Client) -> None:
    body = note("m", ANSWER, tags=[f"{number:02}".ljust(100, "x") for number in range(50)])
    await written(client, body)
    (cut,) = (await asked(client, query="green lever", token_budget=200))["entries"]
    assert (cut["content"], cut["truncated"], cut.get("tags")) == (ANSWER, True, None)
    found = await asked(client, query="green lever", token_budget=2_000)
    assert found["entries"][0]["tags"] == body["tags"]
    assert found["total_tokens"] >= tokens_of(body)


async def test_a_long_memory_comes_cut_to_what_matched(client: Client) -> None:
    content = FILLER * 190 + ANSWER + FILLER * 190
    committed = await client.post("/api/agent-memory/commit", lesson("ana", content))
    id_ = committed.body["memory_id"]
    question = "how is the reactor of hall nine shut down?"
    for path, who in (("query", {"agent_name": "ana"}), ("peer-query", {"target_agent": "ana"})):
        (memory,) = (await client.post(f"/api/agent-memory/{path}", {"query": question, **who})).body[
            "memories"
        ]
        assert (memory["id"], memory["truncated"]) == (id_, True)
        assert 0 < memory["chunk"] < memory["chunks"]
        assert ANSWER.strip() in memory["content"]
        assert len(memory["content"]) < 1_200
    assert (await client.get(f"/api/agent-memory/{id_}")).body["memory"]["content"] == content
