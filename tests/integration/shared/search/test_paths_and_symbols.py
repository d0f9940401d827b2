"""What a writer says of the code that an item is about: found by it exactly, read back, edited, and moved."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, question
from tests.support.cluster import Answer, Client

ENTRIES = "/api/psychic-cache"
MEMORIES = "/api/agent-memory"
CODE = {"paths": ["src/net/proxy.py"], "symbols": ["trim_tools", "Retry"], "step": "edit"}


def others(mission: str) -> list[dict[str, Any]]:
    """Notes that share words with the questions below, and name nothing of them."""
    texts = (
        "The tools of the proxy are trimmed.",
        "Trim the hedge with the right tools.",
        "Nothing was retried.",
    )
    return [note(mission, text) for text in texts]


async def written(client: Client, path: str, body: Any) -> Any:
    answer = await client.post(path, body)
    assert answer.status in (200, 201), answer
    return answer.body


async def first_source(client: Client, mission: str, text: str) -> str:
    answer = await client.post("/api/context/assemble", question(mission, text=text))
    assert answer.status == 200, answer
    handle: str = answer.body["sources"][0]["handle"]
    return handle


@pytest.mark.parametrize("text", ["trim_tools", "src/net/proxy.py", "proxy.py", "net/proxy.py", "Retry"])
async def test_a_name_that_the_writer_gave_finds_the_entry_and_the_memory(client: Client, text: str) -> None:
    for body in others("named"):
        await written(client, f"{ENTRIES}/write?wait=indexed", body)
    body = note("named", "Cut them as the issue asks.", **CODE)
    entry = (await written(client, f"{ENTRIES}/write?wait=indexed", body))["data"]["id"]
    assert await first_source(client, "named", text) == f"cache:{entry}"
    memory = await written(client, f"{MEMORIES}/commit", lesson("smith", "Cut late.", **CODE))
    answer = await client.post(f"{MEMORIES}/query", {"agent_name": "smith", "query": text})
    assert [found["id"] for found in answer.body["memories"]] == [memory["memory_id"]]


async def test_an_entry_is_read_as_it_was_written(client: Client) -> None:
    batch = {"entries": [note("read", "Cut them.", **CODE), note("read", "Cut them, too.")]}
    items = (await written(client, f"{ENTRIES}/write/batch", batch))["data"]["entries"]
    first, second = [
        (await client.get(f"{ENTRIES}/all/entries/{item['data']['id']}")).body["data"] for item in items
    ]
    assert {name: first[name] for name in CODE} == CODE
    assert not CODE.keys() & second.keys()
    listed = (await client.get(f"{ENTRIES}/read/entries")).body["data"]
    assert listed == [second, first]
    found = (await client.post(f"{ENTRIES}/query", {"mission_id": "read", "query": "Retry"})).body["data"]
    assert CODE.items() <= found["entries"][0].items()


async def test_other_tags_leave_the_names(client: Client) -> None:
    entry = (await written(client, f"{ENTRIES}/write", note("tags", "Cut them.", **CODE)))["data"]["id"]
    answer = await client.call("PATCH", f"{ENTRIES}/all/entries/{entry}", {"tags": ["late"]})
    assert answer.status == 200, answer
    assert await first_source(client, "tags", "Retry") == f"cache:{entry}"


async def test_an_edit_of_a_memory_replaces_its_names(client: Client) -> None:
    memory = (await written(client, f"{MEMORIES}/commit", lesson("smith", "Cut late.", **CODE)))["memory_id"]
    await client.call("PATCH", f"{MEMORIES}/{memory}", {"symbols": ["hold_back"]})
    stored = (await client.get(f"{MEMORIES}/{memory}")).body["memory"]
    assert {name: stored[name] for name in CODE} == {**CODE, "symbols": ["hold_back"]}
    answer = await client.post(f"{MEMORIES}/query", {"agent_name": "smith", "query": "hold_back"})
    assert [found["id"] for found in answer.body["memories"]] == [memory]
    answer = await client.post(f"{MEMORIES}/query", {"agent_name": "smith", "query": "trim_tools"})
    assert answer.body["memories"] == []


async def test_an_export_holds_the_names_and_an_import_finds_by_them(tenants: tuple[Tenant, Tenant]) -> None:
    one, other = [await tenant.client("admin") for tenant in tenants]
    await written(one, f"{MEMORIES}/commit", lesson("smith", "Cut late.", **CODE))
    async with one.session.get(f"{MEMORIES}/export") as response:
        lines = await response.read()
    async with other.session.post(f"{MEMORIES}/import", data=lines) as response:
        assert response.status == 201, await response.text()
    answer = await other.post(f"{MEMORIES}/query", {"agent_name": "smith", "query": "trim_tools"})
    (memory,) = answer.body["memories"]
    assert CODE.items() <= memory.items()


async def test_what_is_remembered_keeps_its_names(client: Client) -> None:
    for mission in ({"mission_namespace": "kept"}, {}):
        body = {"caller": "smith", "text": "It was cut.", **mission, **CODE}
        (item,) = (await written(client, "/api/context/remember", body))["items"]
        path = f"{ENTRIES}/all/entries/{item['id']}" if mission else f"{MEMORIES}/{item['id']}"
        stored = (await client.get(path)).body
        assert CODE.items() <= (stored["data"] if mission else stored["memory"]).items()


def fields(answer: Answer) -> list[str]:
    return [error["field"] for error in answer.body["errors"]]


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("paths", ["a"] * 51, "paths"),
        ("paths", ["a" * 301], "paths[0]"),
        ("symbols", ["ok", ""], "symbols[1]"),
        ("symbols", "trim_tools", "symbols"),
        ("step", "sleep", "step"),
    ],
)
async def test_a_bad_name_is_refused_where_it_stands(
    client: Client, name: str, value: Any, field: str
) -> None:
    bad = {name: value}
    for path, body in (
        (f"{ENTRIES}/write", note("bad", "Cut them.", **bad)),
        (f"{MEMORIES}/commit", lesson("smith", "Cut late.", **bad)),
        ("/api/context/remember", {"caller": "smith", "text": "It was cut.", **bad}),
    ):
        answer = await client.post(path, body)
        assert (answer.status, fields(answer)) == (400, [field]), path


async def test_each_message_keeps_its_own_names(client: Client) -> None:
    second = {"paths": ["lib/queue.py"], "symbols": ["hold_back"], "step": "test"}
    messages = [
        {"role": "assistant", "content": "It was cut as the issue asks.", **CODE},
        {"role": "tool", "content": "All of it holds.", **second},
        {"role": "user", "content": "Thank you for that."},
    ]
    body = {"caller": "smith", "mission_namespace": "said", "messages": messages}
    items = (await written(client, "/api/context/remember", body))["items"]
    stored = [(await client.get(f"{ENTRIES}/all/entries/{item['id']}")).body["data"] for item in items]
    assert [{name: each[name] for name in CODE if name in each} for each in stored] == [CODE, second, {}]
    assert await first_source(client, "said", "hold_back") == items[1]["handle"]
    answer = await client.post("/api/context/remember", {"caller": "smith", "messages": messages[:1]})
    (memory,) = answer.body["items"]
    assert CODE.items() <= (await client.get(f"{MEMORIES}/{memory['id']}")).body["memory"].items()


async def test_a_requests_names_belong_to_its_text_and_not_to_messages(client: Client) -> None:
    messages = [{"role": "user", "content": "Please cut them."}]
    answer = await client.post("/api/context/remember", {"caller": "smith", "messages": messages, **CODE})
    assert (answer.status, sorted(fields(answer))) == (400, sorted(CODE))


async def test_a_bad_name_of_a_message_is_refused_where_it_stands(client: Client) -> None:
    for bad, field in (
        ({"paths": ["a"] * 51}, "messages[1].paths"),
        ({"symbols": ["ok", ""]}, "messages[1].symbols[1]"),
        ({"step": "sleep"}, "messages[1].step"),
    ):
        messages = [{"role": "user", "content": "Fine."}, {"role": "tool", "content": "Cut.", **bad}]
        answer = await client.post("/api/context/remember", {"caller": "smith", "messages": messages})
        assert (answer.status, fields(answer)) == (400, [field])
