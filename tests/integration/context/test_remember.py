"""One call stores what is said where it belongs, once, and says where."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from local.process import free_port
from tests.integration.conftest import Tenant
from tests.support.calls import note
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import spare

REMEMBER = "/api/context/remember"
CONVERSATION = [
    {"role": "system", "content": "You are a careful release engineer."},
    {"role": "user", "name": "Dana", "content": "Please find out why the ledger rejects webhooks."},
    {"role": "tool", "name": "kubectl", "content": "ledger-7f9 CrashLoopBackOff, 14 restarts"},
    {"role": "assistant", "content": "We decided to roll back the ledger because 4.3.0 drops a header."},
    {"role": "assistant", "content": "I changed the ledger from 4.3.0 to 4.2.1."},
    {"role": "assistant", "content": "Lesson learned: a 409 from the ledger means it was applied before."},
    {"role": "user", "name": "Dana", "content": "The ledger is well again."},
    {"role": "user", "name": "Dana", "content": "the ledger is  well again."},
]


async def _remember(client: Client, key: str | None = None, **body: Any) -> Answer:
    headers = {"idempotency-key": key} if key else {}
    return await client.post(REMEMBER, {"caller": "scout", **body}, headers=headers)


async def test_a_conversation_in_a_mission(client: Client) -> None:
    told = await _remember(
        client, messages=CONVERSATION, mission_namespace="ledger", session_id="s1", seq=10, user_id="u1"
    )
    assert told.status == 200, told
    items = told.body["items"]
    assert [(i["item"], i.get("store"), i.get("kind"), i["status"]) for i in items] == [
        (0, None, None, "skipped"),
        (1, "psychic_cache", "directive", "created"),
        (2, "psychic_cache", "intel", "created"),
        (3, "psychic_cache", "decision", "created"),
        (4, "psychic_cache", "state_change", "created"),
        (5, "agent_memory", "lesson_learned", "created"),
        (6, "psychic_cache", "intel", "created"),
        (7, None, None, "skipped"),
    ]
    assert told.body["stored"] == 6
    entries = (await client.get("/api/psychic-cache/ledger/entries")).body["data"]
    assert [(e["seq"], e["speaker"], e["session_id"]) for e in entries[::-1]] == [
        (11, "Dana", "s1"),
        (12, "kubectl", "s1"),
        (13, "assistant", "s1"),
        (14, "assistant", "s1"),
        (16, "Dana", "s1"),
    ]
    assert entries[2]["decision_rationale"] == "4.3.0 drops a header."
    source = await client.get(f"/api/context/sources/{items[5]['handle']}")
    assert source.body["item"]["memory"]["session_id"] == "s1"


async def test_a_text_without_a_mission(client: Client) -> None:
    told = await _remember(client, text="The ledger's owner is Dana.", user_id="u1", source_kind="user")
    (item,) = told.body["items"]
    assert (item["store"], item["kind"], item["status"]) == ("agent_memory", "domain_pattern", "created")
    again = await _remember(client, text="the ledger's owner is Dana", user_id="u1", source_kind="user")
    assert again.body["items"][0] == {**item, "status": "updated"}
    memory = (await client.get(f"/api/agent-memory/{item['id']}")).body["memory"]
    assert (memory["private"], memory["source_kind"]) == (True, "user")


async def test_what_is_remembered_lasts_and_the_answer_says_how_long(client: Client) -> None:
    where = {"mission_namespace": "lasting", "session_id": "s1"}
    told = (await _remember(client, messages=CONVERSATION, **where)).body["items"]
    for item in told:
        if item.get("store") == "psychic_cache":
            assert await _lifetime(client, item) == timedelta(days=30)
        else:
            assert item["expires_at"] is None
    (again, *_) = [
        item
        for item in (await _remember(client, messages=CONVERSATION, **where)).body["items"]
        if item.get("store") == "psychic_cache" and item["status"] == "skipped"
    ]
    assert await _lifetime(client, again) == timedelta(days=30)


async def test_a_lifetime_keeps_what_was_learned_in_its_mission_too(client: Client) -> None:
    (item,) = (
        await _remember(client, text="Never deploy on Fridays", mission_namespace="short", ttl_hours=2)
    ).body["items"]
    assert item["store"] == "psychic_cache"
    assert await _lifetime(client, item) == timedelta(hours=2)
    refused = await _remember(client, text="Never deploy on Fridays", ttl_hours=2)
    assert refused.status == 400
    assert refused.body["errors"][0]["field"] == "ttl_hours"


async def _lifetime(client: Client, item: dict[str, Any]) -> timedelta:
    entry = (await client.get(f"/api/psychic-cache/all/entries/{item['id']}")).body["data"]
    assert entry["expires_at"] == item["expires_at"]
    return datetime.fromisoformat(entry["expires_at"]) - datetime.fromisoformat(entry["created_at"])


async def test_what_was_recalled_is_not_learned_again(client: Client) -> None:
    await _remember(client, text="The ledger runs in zone b.", mission_namespace="recalled")
    question = {"query": "where does the ledger run?", "caller": "scout", "mission_namespace": "recalled"}
    block = (await client.post("/api/context/assemble", question)).body["context_block"]
    assert block
    told = await _remember(
        client,
        mission_namespace="recalled",
        messages=[
            {"role": "user", "content": block},
            {"role": "tool", "content": '{"assembly_id": 1, "context_block": "..."}'},
            {"role": "assistant", "content": f"I was told this before:\n{block}"},
        ],
    )
    assert [(i["item"], i["status"]) for i in told.body["items"]] == [
        (0, "skipped"),
        (1, "skipped"),
        (2, "created"),
        (2, "skipped"),
    ]
    entries = (await client.get("/api/psychic-cache/recalled/entries")).body["data"]
    assert [entry["content"] for entry in entries] == [
        "I was told this before:",
        "The ledger runs in zone b.",
    ]


async def test_a_retry_stores_nothing_twice(client: Client) -> None:
    body = {"messages": CONVERSATION, "mission_namespace": "retried"}
    first = await _remember(client, "k1", **body)
    again = await _remember(client, "k1", **body)
    assert again.body == first.body
    entries = (await client.get("/api/psychic-cache/retried/entries")).body["data"]
    assert len(entries) == 5
    other = await _remember(client, "k1", text="something else")
    assert other.status == 422, other
    assert (await _remember(client, "not a key", text="x")).status == 400


async def test_a_conversation_that_is_sent_again_adds_what_is_new(client: Client) -> None:
    turns = [
        {
            "role": "user",
            "name": "Dana",
            "content": "The ledger rejects every webhook since this morning, why?",
        },
        {"role": "assistant", "content": "ok"},
        {"role": "assistant", "content": "The ledger was upgraded this morning, which is when it began."},
    ]
    where = {"mission_namespace": "again", "session_id": "s1"}
    assert (await _remember(client, messages=turns[:2], **where)).body["stored"] == 2
    told = await _remember(client, "k1", messages=turns, **where)
    assert [item["status"] for item in told.body["items"]] == ["skipped", "created", "created"]
    assert told.body["items"][0]["handle"].startswith("cache:")
    # With its number a short turn is the same turn too.
    assert (await _remember(client, messages=turns, seq=0, **where)).body["stored"] == 3
    assert (await _remember(client, messages=turns, seq=0, **where)).body["stored"] == 0
    other = await _remember(client, messages=turns, seq=0, mission_namespace="again", session_id="s2")
    assert other.body["stored"] == 3


async def test_a_conversation_that_is_sent_again_after_a_thousand_entries(
    client: Client, admin_client: Client
) -> None:
    turns = [
        {"role": "user", "name": "Dana", "content": "ok", "seq": 1},
        {"role": "assistant", "content": "The ledger was upgraded this morning, which is when it began."},
    ]
    where = {"mission_namespace": "crowded", "session_id": "s1"}
    limits = {"token_budget": 1_000_000, "entry_budget": 5_000}
    await admin_client.call("PUT", "/api/psychic-cache/crowded/limits", limits)
    first = (await _remember(client, messages=turns, **where)).body
    for start in range(0, 1_100, 100):
        entries = [
            note("crowded", f"line {n} of the log", session_id="s2") for n in range(start, start + 100)
        ]
        batch = await client.post("/api/psychic-cache/write/batch", {"entries": entries})
        assert batch.body["data"]["written"] == 100
    again = (await _remember(client, messages=turns, **where)).body
    assert [(item["status"], item["id"]) for item in again["items"]] == [
        ("skipped", item["id"]) for item in first["items"]
    ]


async def test_a_long_text_is_kept_in_pieces(client: Client) -> None:
    text = "\n\n".join(f"Paragraph {n} says that the ledger has {n} shards." * 20 for n in range(30))
    told = await _remember(client, text=text, mission_namespace="long")
    items = told.body["items"]
    assert [i["piece"] if i.get("piece") else 0 for i in items] == list(range(len(items)))
    entries = (await client.get("/api/psychic-cache/long/entries")).body["data"]
    assert "\n\n".join(e["content"] for e in entries[::-1]) == text


async def test_a_refusal_is_told(client: Client, admin_client: Client) -> None:
    await admin_client.call("PUT", "/api/psychic-cache/tight/limits", {"token_budget": 20})
    messages = [
        {"role": "user", "content": "short"},
        {"role": "user", "content": "The ledger has many shards. " * 20},
    ]
    told = await _remember(client, messages=messages, mission_namespace="tight")
    assert [item["status"] for item in told.body["items"]] == ["created", "refused"], told
    alone = await _remember(client, messages=messages[1:], mission_namespace="tight")
    assert alone.status == 422, alone


async def test_only_what_the_key_may(tenant: Tenant) -> None:
    bound = await tenant.client(agent="scout", missions=["mine"], users=["u1"])
    assert (await _remember(bound, text="a fact", mission_namespace="mine", user_id="u1")).status == 200
    for more in ({"caller": "other"}, {"mission_namespace": "theirs"}, {"user_id": "u2"}):
        refused = await _remember(bound, text="a fact", **more)
        assert refused.status == 403, (more, refused)
    reader = await tenant.client("read")
    assert (await _remember(reader, text="a fact")).status == 403


async def test_bad_input_names_its_field(client: Client) -> None:
    cases: dict[str, dict[str, Any]] = {
        "text": {},
        "messages[0].role": {"messages": [{"role": "robot", "content": "x"}]},
        "messages[0].content": {"messages": [{"role": "user", "content": ""}]},
        "speaker": {"messages": [{"role": "user", "content": "x"}], "speaker": "Dana"},
        "mission_namespace": {"text": "x", "mission_namespace": "*"},
        "occurred_at": {"text": "x", "occurred_at": "yesterday"},
        "colour": {"text": "x", "colour": "red"},
    }
    for field, body in cases.items():
        refused = await _remember(client, **body)
        assert refused.status == 400, refused
        assert [error["field"] for error in refused.body["errors"]] == [field]


async def test_a_retry_after_the_default_lifetime_changed_stores_nothing_twice(
    cluster: Cluster, tenant: Tenant
) -> None:
    """The first attempt reaches one owner only; then the service starts with another setting."""
    token = await tenant.key("write")
    messages = [
        {"role": "tool", "content": "orders replica: lag 9 s"},
        {"role": "assistant", "content": "Lesson learned: look at the replica's lag first."},
    ]
    body = {"caller": "scout", "mission_namespace": "retried", "messages": messages}
    headers = {"idempotency-key": "one"}
    dead = f"http://127.0.0.1:{free_port()}"
    async with (
        spare(cluster, "context", SCRUBJAY_AGENT_MEMORY_URL=dead) as before,
        Client(before.url, token) as client,
    ):
        answer = await client.post(REMEMBER, body, headers=headers)
        assert (answer.status, len(answer.body["stored"])) == (503, 1), answer
    async with (
        spare(cluster, "context", SCRUBJAY_REMEMBER_TTL_HOURS="5") as after,
        Client(after.url, token) as client,
    ):
        answer = await client.post(REMEMBER, body, headers=headers)
        assert (answer.status, answer.body["stored"]) == (200, 2), answer
        entries = (await client.get("/api/psychic-cache/retried/entries")).body["data"]
    assert [entry["content"] for entry in entries] == ["orders replica: lag 9 s"]


async def test_what_states_a_fact_is_in_the_graph_too(client: Client) -> None:
    said = [
        {"role": "user", "name": "Dana", "content": "I live in Lisbon. My manager is Rui."},
        {"role": "assistant", "content": "The owner of the payments service is Rui."},
        {"role": "tool", "content": "Rui works at Acme."},
    ]
    where = {"mission_namespace": "facts", "user_id": "dana"}
    items = (await _remember(client, messages=said, **where)).body["items"]
    assert [
        (i["item"], f["subject"], f["predicate"], f["object"], f["status"])
        for i in items
        for f in i.get("facts", [])
    ] == [
        (0, "Dana", "lives in", "Lisbon", "created"),
        (0, "Dana", "manager", "Rui", "created"),
        (1, "payments service", "owner", "Rui", "created"),
    ]
    home = items[0]["facts"][0]
    fact = (await client.get(f"/api/kg/{home['id']}")).body
    assert (fact["scope"], fact["user_id"], fact["source_kind"]) == ("user:dana", "dana", "user")
    assert home["handle"] == f"kg:{home['id']}"
    moved = (await _remember(client, messages=[{**said[0], "content": "I live in Porto."}], **where)).body
    assert moved["items"][0]["facts"][0]["closed"] == [home["id"]]
    body = {"query": "Where does Dana live?", "caller": "scout", "user_id": "dana"}
    block = (await client.post("/api/context/assemble", body)).body
    assert "Porto" in {entry["object"] for entry in block["graph"]}
    assert "Lisbon" not in {entry["object"] for entry in block["graph"]}


async def test_a_fact_that_is_refused_fails_nothing(tenant: Tenant, client: Client) -> None:
    firm = {"subject": "gateway", "predicate": "port", "object": "8080", "single": True, "agent_name": "ana"}
    told = (await client.post("/api/kg/add", {**firm, "scope": "mission:facts"})).body
    scout = await tenant.client("write", agent="scout")
    text = "The port of the gateway is 9090."
    (item,) = (await _remember(scout, text=text, mission_namespace="facts")).body["items"]
    (stated,) = item["facts"]
    assert (item["status"], stated["disputes"], stated.get("closed", [])) == ("created", [told["id"]], [])
    brief = await _remember(scout, text=text, mission_namespace="facts", ttl_hours=1)
    assert "facts" not in brief.body["items"][0]
