"""Secrets in what callers send: masked before anything is done with them, or refused, as the tenant wishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.attacks.attackers import TABLES
from tests.support.attacks.secret_samples import SAMPLES, told
from tests.support.calls import lesson, note
from tests.support.cluster import Client, Cluster
from tests.support.fakes.fake_openai import FakeOpenAI
from tests.support.mcp.client import MODERN, connect
from tests.support.openapi import operations
from tests.unit.cache.test_entries import COMMON, ENTRIES

POLICY = "/api/context/secrets"
WRITE = "/api/psychic-cache/write"
SECRET = told("github token")
MASK = "[secret: github token]"
TEXT = f"the token is {SECRET} until Monday"
TAG = SECRET
CHOICES = {"directive_priority", "intel_confidence", "report_outcome", "agent_name"}
TASK = {"task_description": TEXT, "skills_used": [SECRET], "outcome": "success"}
NAMES = {"paths": [f"src/{SECRET}.py"], "symbols": [SECRET]}
MEMORY = lesson("ana", TEXT, speaker=SECRET, session_id=SECRET, task_context=TASK, **NAMES)
LINE = {
    **MEMORY,
    "id": 1,
    "written_by": SECRET,
    "source_kind": "agent",
    "created_at": "2020-01-01T00:00:00Z",
    "updated_at": "2020-01-01T00:00:00Z",
}

# What takes names and numbers only, of what is stored already or of this service's own.
WITHOUT_TEXT = {
    "memory_consolidate",
    "agent_memory_forget",
    "agent_memory_list",
    "cache_set_language",
    "cache_set_limits",
    "context_change_key",
    "context_feedback",
    "context_purge",
    "context_replay",
    "context_rotate_key",
    "context_set_budget",
    "context_set_ceiling",
    "context_set_language",
    "context_set_secret_policy",
    "context_set_weight",
    "session_complete",
    "session_fault",
    "session_release",
    "session_reset",
    "webhooks_redeliver",
    "webhooks_rotate",
}


def poisoned(value: Any) -> Any:
    if isinstance(value, str):
        return TEXT
    return [TEXT for _ in value] if isinstance(value, list) else value


def entries() -> Iterator[dict[str, Any]]:
    for kind, fields in ENTRIES.items():
        own = {name: value if name in CHOICES else poisoned(value) for name, value in fields.items()}
        yield {
            "context_type": kind,
            **COMMON,
            **own,
            "content": TEXT,
            "tags": [TAG],
            "speaker": SECRET,
            **NAMES,
        }


async def written(client: Client) -> dict[str, Any]:
    """Ids of something of the tenant's to write to."""
    entry = await client.post(WRITE, note("m", "plain"))
    memory = await client.post("/api/agent-memory/commit", lesson("ana", "plain"))
    dispatch = await client.post(
        "/api/dispatch/report", {"mission_id": "m", "agent_name": "ana", "task": "plain"}
    )
    lasting = await client.post("/api/memory", {"kind": "knowledge", "scope": "shared", "content": "plain"})
    assembly = await client.post("/api/context/assemble", {"caller": "ana", "query": "plain"})
    begun = {"agent_name": "ana", "user_id": "ana"}
    session = (await client.post("/api/sessions", begun)).body["data"]["id"]
    held = await client.post(f"/api/sessions/{session}/objects", {"content": "plain", "object_type": "plan"})
    another = await client.post(
        f"/api/sessions/{session}/objects", {"content": "simple", "object_type": "plan"}
    )
    hook = await client.post("/api/webhooks", {"url": "https://hooks.example/"})
    return {
        "webhook": hook.body["webhook"]["id"],
        "entry": entry.body["data"]["id"],
        "memory": memory.body["memory_id"],
        "dispatch": dispatch.body["data"]["id"],
        "assembly": assembly.body["assembly_id"],
        "lasting": lasting.body["id"],
        "session": session,
        "object": held.body["objects"][0]["id"],
        "another": another.body["objects"][0]["id"],
    }


def requests(ids: dict[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    """(operation, method, path, body) of everything that takes text, with a secret wherever text may stand."""
    for entry in entries():
        yield "cache_write", "POST", WRITE, entry
    yield "cache_write_batch", "POST", f"{WRITE}/batch", {"entries": [*entries()]}
    yield "cache_edit_tags", "PATCH", f"/api/psychic-cache/all/entries/{ids['entry']}", {"tags": [TAG]}
    yield "cache_query", "POST", "/api/psychic-cache/query", {"mission_id": "m", "query": TEXT}
    yield (
        "dispatch_report",
        "POST",
        "/api/dispatch/report",
        {"mission_id": "m", "agent_name": "ana", "task": TEXT},
    )
    yield "dispatch_progress", "POST", f"/api/dispatch/{ids['dispatch']}/progress", {"note": TEXT}
    completed = {"outcome": "success", "summary": TEXT}
    yield "dispatch_complete", "POST", f"/api/dispatch/{ids['dispatch']}/complete", completed
    yield "agent_memory_commit", "POST", "/api/agent-memory/commit", MEMORY
    yield "agent_memory_batch", "POST", "/api/agent-memory/batch", {"memories": [MEMORY, lesson("bo", TEXT)]}
    yield (
        "agent_memory_edit",
        "PATCH",
        f"/api/agent-memory/{ids['memory']}",
        {"content": f"Nobody but Ana knows the key {SECRET}", **NAMES},
    )
    yield "agent_memory_import", "POST", "/api/agent-memory/import", json.dumps(LINE) + "\n"
    several = [{**LINE, "id": number, "content": f"Secret {number} is {SECRET}"} for number in (2, 3)]
    yield "agent_memory_import", "POST", "/api/agent-memory/import/", "\n".join(map(json.dumps, several))
    yield "agent_memory_query", "POST", "/api/agent-memory/query", {"agent_name": "ana", "query": TEXT}
    yield (
        "agent_memory_peer_query",
        "POST",
        "/api/agent-memory/peer-query",
        {"target_agent": "bo", "query": TEXT},
    )
    fact = {"subject": TEXT, "predicate": TEXT, "object": TEXT}
    yield "kg_write", "POST", "/api/kg/write", fact
    yield "kg_add", "POST", "/api/kg/add", fact
    yield "kg_batch", "POST", "/api/kg/batch", {"facts": [fact]}
    yield "kg_query", "POST", "/api/kg/query", {"entity": TEXT, "predicate": TEXT}
    yield "kg_add_alias", "POST", "/api/kg/aliases", {"alias": TEXT, "entity": "ana"}
    yield "kg_remove_alias", "POST", "/api/kg/aliases/remove", {"alias": TEXT}
    yield "kg_invalidate", "POST", "/api/kg/invalidate", {"subject": TEXT}
    session = f"/api/sessions/{ids['session']}"
    yield "session_create", "POST", "/api/sessions", {"agent_name": "ana", "external_id": TEXT, "model": TEXT}
    said = [
        {"role": "user", "content": TEXT},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {"y": [TEXT], SECRET: 1}}],
        },
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "1", "content": TEXT}]},
    ]
    yield "session_append", "POST", f"{session}/events", {"messages": said}
    yield "session_compact", "POST", f"{session}/compact", {"force": True, "summary": TEXT}
    held = {"content": TEXT, "source_key": TEXT, "source_tool": TEXT, "fault_when": [TEXT], "tags": [TEXT]}
    yield "session_admit", "POST", f"{session}/objects", {**held, "object_type": "plan"}
    yield "session_turn", "POST", f"{session}/turns", {"admit": [{**held, "object_type": "plan"}]}
    edge = {"source_id": ids["object"], "target_id": ids["another"], "relationship": "references"}
    yield (
        "session_relate",
        "POST",
        f"{session}/relationships",
        {**edge, "metadata": {"why": TEXT, SECRET: "x"}},
    )
    yield "session_goal", "POST", f"{session}/goal", {"goal": TEXT}
    yield "session_query", "POST", f"{session}/query", {"question": TEXT}
    yield "session_persist", "POST", f"{session}/objects/{ids['object']}/persist", {"content": TEXT}
    yield "session_pin", "POST", f"{session}/objects/{ids['object']}/pin", {"reason": TEXT}
    parties = {"agent_name": "ana", "user_id": TEXT}
    saved = {**parties, "thread_id": TEXT, "checkpoint_id": "1"}
    yield (
        "checkpoints_put",
        "PUT",
        "/api/checkpoints",
        {**saved, "state": {"said": [TEXT], SECRET: {"x": TEXT}}, "metadata": {SECRET: TEXT}, "run_id": TEXT},
    )
    written = {"place": 0, "channel": TEXT, "value": {SECRET: TEXT}}
    yield (
        "checkpoints_put_writes",
        "PUT",
        "/api/checkpoints/writes",
        {**saved, "task_id": "t", "writes": [written]},
    )
    yield "checkpoints_list", "POST", "/api/checkpoints/list", {**parties, "thread_id": TEXT}
    copied = {**parties, "source_id": TEXT, "target_id": f"another {TEXT}"}
    yield "checkpoints_copy", "PUT", "/api/checkpoints/copy", copied
    yield "checkpoints_prune", "PUT", "/api/checkpoints/prune", {**parties, "thread_ids": [TEXT], "keep": 1}
    yield "vault_put", "POST", "/api/vault/files", {"path": "shared/keys.md", "text": TEXT}
    yield "vault_search", "POST", "/api/vault/search", {"query": TEXT}
    yield "session_search", "POST", f"/api/sessions/{ids['session']}/search", {"query": TEXT}
    lasting = {"kind": "knowledge", "scope": "shared", "content": TEXT}
    yield "memory_write", "POST", "/api/memory", lasting
    another = {**lasting, "kind": "preference", "user_id": "ana", "scope": "user:ana"}
    yield "memory_write_batch", "POST", "/api/memory/batch", {"memories": [another]}
    yield "memory_edit", "PATCH", f"/api/memory/{ids['lasting']}", {"content": f"Another key is {SECRET}"}
    yield "memory_search", "POST", "/api/memory/search", {"query": TEXT}
    said = [{"role": "user", "content": TEXT, "name": SECRET}]
    asked = {"caller": "ana", "session_id": SECRET}
    yield (
        "context_remember",
        "POST",
        "/api/context/remember",
        {**asked, "mission_namespace": "m", "messages": said},
    )
    yield (
        "context_remember",
        "POST",
        "/api/context/remember",
        {**asked, **NAMES, "text": f"I learned that {TEXT}"},
    )
    yield (
        "context_assemble",
        "POST",
        "/api/context/assemble",
        {**asked, "query": TEXT, "mission_namespace": "m"},
    )
    words = {"name": TEXT, "stability": "dynamic", "text": TEXT}
    prompt = {"blocks": [words], "source": TEXT, "sources": {TEXT: {"text": TEXT}}}
    yield "context_prompt", "POST", "/api/context/prompt", {**prompt, "context": {**asked, "query": TEXT}}
    yield (
        "context_record_cost",
        "POST",
        "/api/context/costs",
        {"model": TEXT, "kind": SECRET, "session_id": TEXT},
    )
    yield "context_set_profile", "PUT", "/api/context/profiles", {"user_id": "ana", "text": TEXT}
    hook = {"kinds": [TEXT], "missions": [TEXT], "agents": [TEXT], "description": TEXT}
    yield "webhooks_make", "POST", "/api/webhooks", {"url": "https://hooks.example/", **hook}
    yield "webhooks_change", "PATCH", f"/api/webhooks/{ids['webhook']}", hook
    edit = {"handle": f"own:{ids['memory']}", "decision": "edit", "content": f"Bob knows the key {SECRET}"}
    yield "context_review_decide", "POST", "/api/context/review/decide", edit
    yield "context_set_review_rule", "PUT", "/api/context/review/rules", {"agent_name": TEXT}
    yield "context_make_key", "POST", "/api/context/keys", {"name": TEXT}


async def send(client: Client, method: str, path: str, body: Any, **headers: str) -> Any:
    if isinstance(body, str):
        return await client.call(method, path, None, data=body.encode(), headers=headers)
    return await client.call(method, path, body, headers=headers)


async def everywhere(sql: Connection, text: str) -> list[str]:
    """The tables that hold the text, as a superuser sees them."""
    tables = [row["name"] for row in await sql.fetch(TABLES)]
    assert len(tables) > 12
    return [
        table
        for table in tables
        if await sql.fetchval(
            f"select exists (select from {table} t where to_jsonb(t)::text like $1)", f"%{text}%"
        )
    ]


def logs(cluster: Cluster) -> str:
    folders = {Path(service.log).parent for services in cluster.replicas.values() for service in services}
    return "".join(path.read_text() for folder in folders for path in folder.glob("*.log"))


def test_every_operation_that_takes_text_is_tried() -> None:
    tried = {
        operation
        for operation, *_ in requests(
            dict.fromkeys(
                (
                    "entry",
                    "memory",
                    "dispatch",
                    "assembly",
                    "lasting",
                    "session",
                    "object",
                    "another",
                    "webhook",
                ),
                1,
            )
        )
    }
    assert tried == {operation.id for operation in operations() if operation.bodies} - WITHOUT_TEXT


async def test_a_secret_is_masked_in_every_operation_and_stands_nowhere(
    cluster: Cluster, admin_client: Client, sql: Connection, embedding_api: FakeOpenAI
) -> None:
    for operation, method, path, body in requests(await written(admin_client)):
        answer = await send(admin_client, method, path, body)
        assert answer.status < 300, (operation, answer)
        kinds = {one["kind"] for one in answer.body["masked"]}
        assert kinds == {"github token"}, (operation, answer)
        assert SECRET not in json.dumps(answer.body), operation
    assert await everywhere(sql, MASK)
    assert await everywhere(sql, SECRET) == []
    assert await everywhere(sql, SAMPLES["github token"][1][4:]) == []
    assert not [text for text in embedding_api.texts() if SECRET in text]
    assert SECRET not in logs(cluster)


async def test_what_is_masked_is_named_by_its_field(admin_client: Client) -> None:
    answer = await admin_client.post(
        f"{WRITE}/batch", {"entries": [note("m", "plain"), note("m", TEXT, tags=["a", TAG])]}
    )
    assert answer.body["masked"] == [
        {"field": "entries[1].content", "kind": "github token"},
        {"field": "entries[1].tags[1]", "kind": "github token"},
    ]
    assert answer.headers["content-length"] == str(
        len(json.dumps(answer.body, separators=(",", ":"), ensure_ascii=False).encode())
    )
    clean = await admin_client.post(WRITE, note("m", "plain"))
    assert "masked" not in clean.body


@pytest.mark.parametrize("kind", SAMPLES)
async def test_a_secret_of_every_kind_is_masked(client: Client, kind: str) -> None:
    made = await client.post(WRITE, note("kinds", f"It is {told(kind)} for now"))
    assert made.body["masked"] == [{"field": "content", "kind": kind}]
    read = await client.get(f"/api/psychic-cache/all/entries/{made.body['data']['id']}")
    assert f"[secret: {kind}]" in read.body["data"]["content"]
    assert SAMPLES[kind][1] not in read.body["data"]["content"]


async def test_a_secret_is_refused_where_the_tenant_wishes(admin_client: Client, sql: Connection) -> None:
    ids = await written(admin_client)
    set_ = await admin_client.call("PUT", POLICY, {"policy": "refuse"})
    assert set_.body == {"policy": "refuse", "origin": "tenant"}
    for operation, method, path, body in requests(ids):
        answer = await send(admin_client, method, path, body)
        assert answer.status == 422, (operation, answer)
        assert all("github token" in error["message"] for error in answer.body["errors"])
        assert SECRET not in json.dumps(answer.body)
    assert answer.body["errors"][0]["field"] == "name"
    assert await everywhere(sql, SECRET) == []
    assert (await admin_client.post(WRITE, note("m", "plain"))).status == 201


async def test_a_secret_stays_where_the_tenant_wishes(
    tenants: tuple[Tenant, Tenant], sql: Connection
) -> None:
    """And only there."""
    first, second = [await tenant.client("admin") for tenant in tenants]
    allowed = told("stripe key")
    await first.call("PUT", POLICY, {"policy": "allow"})
    answers = [await client.post(WRITE, note("m", f"it is {allowed}")) for client in (first, second)]
    assert "masked" not in answers[0].body
    assert answers[1].body["masked"]
    stored = await sql.fetch("select tenant from cache.psychic_cache where content like $1", f"%{allowed}%")
    assert [row["tenant"] for row in stored] == [tenants[0].name]


async def test_null_returns_to_the_default(admin_client: Client) -> None:
    assert (await admin_client.get(POLICY)).body == {"policy": "mask", "origin": "installation"}
    await admin_client.call("PUT", POLICY, {"policy": "allow"})
    assert (await admin_client.get(POLICY)).body == {"policy": "allow", "origin": "tenant"}
    for none in ({"policy": None}, {}):
        await admin_client.call("PUT", POLICY, {"policy": "allow"})
        back = await admin_client.call("PUT", POLICY, none)
        assert back.body == {"policy": "mask", "origin": "installation"}
    for body in ({"policy": "ask"}, {"policy": "mask", "more": 1}):
        assert (await admin_client.call("PUT", POLICY, body)).status == 400


@pytest.mark.parametrize("bounds", [{"agent": "ana"}, {"missions": ["m"]}, {"users": ["u"]}])
async def test_a_bound_key_does_not_set_the_policy(tenant: Tenant, bounds: dict[str, Any]) -> None:
    bound = await tenant.client("admin", **bounds)
    assert (await bound.call("PUT", POLICY, {"policy": "allow"})).status == 403
    writer = await tenant.client("write")
    assert (await writer.call("PUT", POLICY, {"policy": "allow"})).status == 403
    assert (await writer.get(POLICY)).body["policy"] == "mask"


async def test_a_keyed_write_is_done_once_and_its_retry_is_told_the_same(client: Client) -> None:
    key = {"idempotency-key": "once"}
    first, again = [await send(client, "POST", WRITE, note("once", TEXT), **key) for _ in range(2)]
    assert first.body == again.body
    assert first.body["masked"]
    other = note("once", f"the token is {told('gitlab token')} until Monday")
    assert (await send(client, "POST", WRITE, other, **key)).status == 422


async def test_a_name_in_a_path_that_holds_a_secret_is_refused(admin_client: Client, sql: Connection) -> None:
    answer = await admin_client.call("PUT", f"/api/psychic-cache/{SECRET}/limits", {"entry_budget": 3})
    assert answer.status == 422
    assert answer.body["errors"][0]["field"] == "path"
    assert await everywhere(sql, SECRET) == []


@pytest.mark.parametrize("path", ["export", "export/", "%65xport", "/export"])
async def test_an_export_that_names_a_secret_is_refused_however_it_is_written(
    admin_client: Client, sql: Connection, path: str
) -> None:
    url = URL(f"/api/agent-memory/{path}?agent_name={SECRET}", encoded=True)
    answer = await admin_client.get(url)  # type: ignore[arg-type]
    assert answer.status == 422, answer
    assert [error["field"] for error in answer.body["errors"]] == ["query"]
    assert await everywhere(sql, SECRET) == []


async def test_an_agent_is_told_through_mcp(cluster: Cluster, tenant: Tenant) -> None:
    entry = {"context_type": "intel", "mission_id": "m", "content": TEXT, "intel_source": "x"}
    async with connect(cluster.url(), await tenant.key("admin"), MODERN, "?toolset=full,raw") as mcp:
        await mcp.list_tools()
        for tool, arguments in (
            ("write_psychic_cache", entry),
            ("write_psychic_cache_raw", {"payload": entry}),
            ("remember", {"caller": "ana", "text": f"I learned that {TEXT}"}),
        ):
            answer = await mcp.call_tool(tool, arguments)
            assert not answer.is_error, answer
            assert answer.structured_content is not None
            assert {one["kind"] for one in answer.structured_content["masked"]} == {"github token"}
            assert SECRET not in str(answer)


async def test_a_secret_hidden_by_the_writing_of_json_is_found(client: Client) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in SECRET)
    body = json.dumps(note("m", "x")).replace('"x"', f'"{escaped}"').encode()
    answer = await client.call("POST", WRITE, None, data=body, headers={"content-type": "application/json"})
    assert answer.body["masked"] == [{"field": "content", "kind": "github token"}]
