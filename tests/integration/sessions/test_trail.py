"""The trail over HTTP: complete and in order whoever writes, and the conversation that follows from it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from typing import Any

from scrubjay import AsyncClient
from scrubjay.adapters.trails import Trails
from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import SESSIONS, began, ok, said
from tests.support.calls import Json
from tests.support.cluster import Client, Cluster

WRITERS, EACH = 8, 5
CALL = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "a.py", "lines": [1, 2]}},
    ],
}
RESULT = {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x = 1"}]}


async def texts(client: Client, session: str, query: str = "?full=true") -> list[str]:
    events = (await ok(client, "GET", f"{session}/history{query}"))["data"]
    return [block.get("text", block["type"]) for event in events for block in event["content"]]


async def pages(client: Client, session: str, limit: int) -> list[Json]:
    events: list[Json] = []
    following: str | None = ""
    while following is not None:
        page = await ok(
            client, "GET", f"{session}/history?limit={limit}{following and f'&cursor={following}'}"
        )
        events += page["data"]
        following = page["next"]
    return events


async def test_eight_writers_lose_nothing_and_every_number_is_taken_once(client: Client) -> None:
    session = await began(client)

    async def write(writer: int) -> list[tuple[int, str]]:
        kept: list[tuple[int, str]] = []
        for place in range(EACH):
            batch = [f"{writer}-{place}-{part}" for part in range(1 + place % 3)]
            appended = await said(client, session, *batch)
            kept += zip(range(appended["first_seq"], appended["last_seq"] + 1), batch, strict=True)
        return kept

    written = dict(pair for pairs in await asyncio.gather(*map(write, range(WRITERS))) for pair in pairs)
    assert sorted(written) == list(range(1, len(written) + 1))
    events = await pages(client, session, limit=7)
    assert {event["seq"]: event["content"][0]["text"] for event in events} == written
    assert [event["seq"] for event in events] == sorted(written)


async def test_brief_history_leaves_out_tools(client: Client) -> None:
    session = await began(client)
    question = {"role": "user", "text": "why?"}
    await ok(client, "POST", f"{session}/events", {"messages": [question, CALL, RESULT]})
    assert await texts(client, session, "") == ["why?", "I look."]
    assert await texts(client, session) == ["why?", "I look.", "tool_use", "tool_result"]
    events = (await ok(client, "GET", f"{session}/history?full=true"))["data"]
    assert [event["kind"] for event in events] == ["message", "tool_call", "tool_result"]
    assert events[1]["content"][1]["input"] == {"path": "a.py", "lines": [1, 2]}


async def test_bytes_of_images_stay_out_of_the_rows(client: Client, sql: Connection) -> None:
    session, data = await began(client), secrets.token_bytes(3_000)
    encoded = base64.b64encode(data).decode()
    image = {"type": "image", "media_type": "image/png", "data": encoded}
    message = {"role": "user", "content": [{"type": "text", "text": "see"}, image]}
    await ok(client, "POST", f"{session}/events", {"messages": [message]})
    (event,) = (await ok(client, "GET", f"{session}/history"))["data"]
    digest = hashlib.sha256(data).hexdigest()
    assert event["content"][1] == {
        "type": "image",
        "media_type": "image/png",
        "sha256": digest,
        "bytes": 3_000,
    }
    kept = await sql.fetchval(
        "select content::text from sessions.trail where session_id = $1", session.rsplit("/", 1)[1]
    )
    assert digest in kept
    assert encoded[:100] not in kept
    broken = {"role": "user", "content": [{**image, "data": "not base64!"}]}
    assert (await client.post(f"{session}/events", {"messages": [broken]})).status == 400


async def test_a_compaction_replaces_the_oldest_two_thirds_and_the_trail_keeps_them(client: Client) -> None:
    session = await began(client, config={"compaction_tokens": 500})
    small = await ok(client, "POST", f"{session}/compact", {})
    assert not small["compacted"]
    for place in range(9):
        appended = await said(client, session, f"turn {place}. " + "words " * 80)
    assert appended["compaction_due"]
    done = await ok(client, "POST", f"{session}/compact", {"summary": "nine turns"})
    assert (done["compacted"], done["messages"], done["seq"]) == (True, 6, 10)
    now = await ok(client, "GET", f"{session}/conversation")
    assert (now["summary"], [each["seq"] for each in now["messages"]]) == ("nine turns", [7, 8, 9])
    assert now["tokens"] == done["tokens"] < appended["tokens"]
    assert len(await texts(client, session)) == 10
    extracted = await ok(client, "POST", f"{session}/compact", {"force": True})
    assert extracted["messages"] == 2
    summary = (await ok(client, "GET", f"{session}/conversation"))["summary"]
    assert summary.startswith("nine turns\nuser: turn 6.")


async def test_a_compaction_parts_no_call_from_its_result(client: Client) -> None:
    session = await began(client)
    messages = [{"role": "user", "text": "go"}, CALL, RESULT]
    await ok(client, "POST", f"{session}/events", {"messages": messages})
    done = await ok(client, "POST", f"{session}/compact", {"force": True})
    assert done["messages"] == 1
    through = {"force": True, "through": 2, "summary": "it calls"}
    assert (await client.post(f"{session}/compact", through)).status == 409


async def test_a_damaged_snapshot_is_made_of_the_trail_again(client: Client, sql: Connection) -> None:
    session = await began(client)
    session_id = session.rsplit("/", 1)[1]
    for place in range(9):
        await said(client, session, f"turn {place}")
    await ok(client, "POST", f"{session}/compact", {"force": True, "summary": "so far"})
    await said(client, session, "on we go")
    right = await ok(client, "GET", f"{session}/conversation")
    damages = (
        "update sessions.snapshots set through = through - 1 where session_id = $1",
        "update sessions.snapshots set since = 0, summary = null where session_id = $1",
        "update sessions.snapshots set token_count = 7 where session_id = $1",
        "delete from sessions.snapshots where session_id = $1",
    )
    for damage in damages:
        await sql.execute(damage, session_id)
        assert await ok(client, "GET", f"{session}/conversation") == right, damage
        assert (await ok(client, "POST", f"{session}/rebuild"))["changed"]
        assert not (await ok(client, "POST", f"{session}/rebuild"))["changed"]
        assert await ok(client, "GET", f"{session}/conversation") == right, damage


async def test_a_reset_begins_anew_and_keeps_the_trail(client: Client) -> None:
    sessions = [await began(client, agent_name=agent) for agent in ("ana", "ana", "bo")]
    for session in sessions:
        await said(client, session, "before")
    one = await ok(client, "POST", f"{SESSIONS}/reset", {"session_id": sessions[0].rsplit("/", 1)[1]})
    assert len(one["sessions"]) == 1
    rest = await ok(client, "POST", f"{SESSIONS}/reset", {"agent_name": "ana"})
    assert rest["sessions"] == [sessions[1].rsplit("/", 1)[1]]
    everyone = await ok(client, "POST", f"{SESSIONS}/reset", {"all": True})
    assert everyone["sessions"] == [sessions[2].rsplit("/", 1)[1]]
    for session in sessions:
        assert (await ok(client, "GET", f"{session}/conversation"))["messages"] == []
        assert await texts(client, session) == ["before"]
    await said(client, sessions[0], "after")
    (message,) = (await ok(client, "GET", f"{sessions[0]}/conversation"))["messages"]
    assert message["content"][0]["text"] == "after"


async def test_a_repeated_request_appends_once(client: Client) -> None:
    session = await began(client)
    body: Any = {"messages": [{"role": "user", "content": "once"}]}
    headers = {"idempotency-key": "k1"}
    answers = [await client.post(f"{session}/events", body, headers=headers) for _ in range(2)]
    assert answers[0].body == answers[1].body
    assert await texts(client, session) == ["once"]


async def test_deep_input_of_a_tool_is_refused(client: Client) -> None:
    session = await began(client)
    deep: Any = "bottom"
    for levels in range(300):
        deep = {"further": deep} if levels % 2 else [deep]
        if levels in (80, 250, 299):
            call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"of": deep}}
            said_deep = {"messages": [{"role": "assistant", "content": [call]}]}
            answer = await client.post(f"{session}/events", said_deep)
            assert answer.status == (201 if levels < 100 else 400), answer
    assert answer.body["errors"][0]["field"] == "messages[0].content[0].input"
    (event,) = (await ok(client, "GET", f"{session}/history?full=true"))["data"]
    assert event["kind"] == "tool_call"


async def test_a_compaction_is_due_past_150_000_tokens(client: Client) -> None:
    session = await began(client)
    long = "word " * 800  # 1,000 tokens
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Read", "input": {}}]}
    result = {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": long}]}
    turn = [{"role": "user", "text": long}, call, result, {"role": "assistant", "text": long}]
    due: list[bool] = []
    tokens: list[int] = []
    while not any(due):
        appended = await ok(client, "POST", f"{session}/events", {"messages": turn * 4})
        due.append(appended["compaction_due"])
        tokens.append(appended["tokens"])
    assert [each > 150_000 for each in tokens] == due
    count = appended["last_seq"]
    assert count * 2 // 3 % 4 == 2  # between a call and its result
    done = await ok(client, "POST", f"{session}/compact", {"summary": "it was read"})
    assert done["messages"] == count * 2 // 3 - 1
    now = await ok(client, "GET", f"{session}/conversation")
    assert now["messages"][0]["kind"] == "tool_call"
    assert now["tokens"] == done["tokens"] == sum(each["tokens"] for each in now["messages"]) + 3
    assert not now["compaction_due"]
    assert len(await pages(client, session, limit=100)) == count - count // 4 + 1


async def test_a_list_that_was_deleted_takes_the_same_items_anew(tenant: Tenant, cluster: Cluster) -> None:
    # More than one request holds.
    items = [{"uuid": str(number)} for number in range(60)]
    async with AsyncClient(cluster.url(), await tenant.key("write")) as jay:
        trails = Trails(jay, "test", agent="scout")
        for _ in range(2):
            for _ in range(2):
                await trails.add("list", items, repeats=True)
            assert await trails.items("list") == items
            await trails.delete("list")
        assert await trails.items("list") is None
