"""MCP is REST by other means: the same rules, keys, limits and answers, in both eras."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client as Mcp
from mcp.shared.exceptions import MCPError

from shared.render import parse_block
from tests.integration.conftest import Tenant
from tests.support.attacks.hostile import hostile
from tests.support.cluster import Client, Cluster
from tests.support.mcp.client import ERAS, LEGACY, MODERN, connect

MISSION = "ledger"
ENTRY = {"context_type": "intel", "mission_id": MISSION, "content": "The ledger is down", "intel_source": "x"}
LESSON = {"agent_name": "scout", "content": "Look at the ledger first", "memory_type": "lesson_learned"}
MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream"}


@asynccontextmanager
async def session(
    cluster: Cluster, tenant: Tenant, era: str = MODERN, toolset: str = "full,raw", **grants: Any
) -> AsyncIterator[Mcp]:
    """With the lists read, so that the client checks each answer against its schema."""
    key = await tenant.key(**grants)
    async with connect(cluster.url(), key, era, f"?toolset={toolset}") as client:
        await client.list_tools()
        yield client


async def done(client: Mcp, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    found: dict[str, Any] = answer.structured_content or (answer.meta or {})["scrubjay/answer"]
    return found


async def refused(client: Mcp, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer
    assert answer.structured_content is None
    (content,) = answer.content
    return str(content.text)  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ERAS)
async def test_every_tool_answers_as_its_schema_says(cluster: Cluster, tenant: Tenant, era: str) -> None:
    async with session(cluster, tenant, era) as mcp:
        called: set[str] = set()

        async def ok(tool: str, **arguments: Any) -> dict[str, Any]:
            called.add(tool)
            return await done(mcp, tool, **arguments)

        entry = (await ok("write_psychic_cache", **ENTRY, tags=["a"]))["data"]["id"]
        await ok("write_psychic_cache_raw", payload=ENTRY)
        checkpoint = {
            **ENTRY,
            "context_type": "thread_checkpoint",
            "session_id": "s1",
            "turn_count": 3,
            "active_dispatches": [],
            "open_decisions": [],
            "pending_directives": [],
            "current_mission_namespaces": [MISSION],
            "working_state_prose": "half way",
        }
        del checkpoint["intel_source"]
        await ok("write_psychic_cache", **checkpoint)
        memory = (await ok("commit_agent_memory", **LESSON))["memory_id"]
        assert (await ok("commit_agent_memory_raw", payload=LESSON))["status"] == "updated"
        await ok("remember", caller="scout", text="The ledger's root cause was a full disk.")
        await ok("remember_raw", payload={"caller": "scout", "text": "The ledger is blue."})
        question = {"query": "why is the ledger down?", "caller": "scout", "mission_namespace": MISSION}
        assembly = await ok("assemble_context", **question)
        assert assembly["sources"]
        await ok("assemble_context_raw", payload=question)
        feedback = {
            "assembly_id": assembly["assembly_id"],
            "used_source_ids": [assembly["sources"][0]["handle"]],
        }
        await ok("context_feedback", **feedback)
        await ok("context_feedback_raw", payload=feedback)
        found = await ok("memory_search", **question, limit=2)
        assert len(found["sources"]) == 2
        await ok("explain_assembly", assembly_id=assembly["assembly_id"])
        await ok("list_assemblies", caller="scout")
        await ok("get_source", handle=f"cache:{entry}", assembly_id=assembly["assembly_id"])
        await ok("list_weights")
        await ok("list_budgets")
        await ok("monitor_agents")
        dispatch = {"mission_id": MISSION, "agent_name": "scout", "task": "look"}
        number = (await ok("dispatch_report", **dispatch))["data"]["id"]
        await ok("dispatch_report_raw", payload=dispatch)
        await ok("dispatch_progress", dispatch_id=number, percent=50)
        await ok("dispatch_get", dispatch_id=number)
        await ok("dispatch_list", status="in_progress")
        await ok("dispatch_complete", dispatch_id=number, outcome="success")
        for tool, where in (
            ("query_psychic_cache", {"mission_id": MISSION}),
            ("query_agent_memory", {"agent_name": "scout"}),
        ):
            await ok(tool, query="ledger", **where)
            await ok(f"{tool}_raw", payload={"query": "ledger", **where})
        await ok("query_peer_memory", target_agent="scout", query="ledger")
        await ok("query_peer_memory_raw", payload={"target_agent": "scout", "query": "ledger"})
        await ok("list_agent_memories", agent_name="scout", limit=1)
        await ok("list_agent_memories_raw", payload={"agent_name": "scout"})
        await ok("get_agent_memory", memory_id=memory)
        await ok(
            "edit_agent_memory", memory_id=memory, task_description="a", skills_used=[], outcome="success"
        )
        await ok("pending_review", since='{"scout": "2026-01-01T00:00:00Z"}')
        await ok("get_checkpoint", session_id="s1")
        await ok("list_missions")
        await ok("list_mission_entries", mission_id=MISSION)
        await ok("list_recent_entries")
        await ok("mission_stats", mission_id=MISSION)
        await ok("get_cache_entry", entry_id=entry)
        await ok("tag_cache_entry", entry_id=entry, tags=["b"])
        await ok("read_timeline", mission=MISSION, limit=5)
        promise = {"kind": "commitment", "scope": "shared", "content": "Restart the ledger."}
        known = (await ok("memory_write", **promise, due_at="2126-01-01T00:00:00Z"))["id"]
        await ok("memory_write_raw", payload=promise)
        await ok("memory_get", memory_id=known)
        await ok("memory_list", kind="commitment")
        await ok("commitments_due", until="2127-01-01T00:00:00Z")
        await ok("commitment_update", memory_id=known, status="done")
        await ok("memory_forget", memory_id=known)
        client = await tenant.client("write")
        await client.post("/api/vault/files", {"path": "shared/ledger.md", "text": "The ledger is blue."})
        await ok("vault_search", query="ledger")
        await ok("vault_search_raw", payload={"query": "ledger"})
        await ok("vault_read", path="shared/ledger.md")
        await ok("vault_list")
        fact = {"subject": "ledger", "predicate": "uses", "object": "redis"}
        await ok("kg_add", **fact)
        await ok("kg_add_raw", payload={**fact, "object": "postgres"})
        await ok("kg_query", entity="ledger")
        await ok("kg_query_raw", payload={"entity": "ledger"})
        await ok("kg_timeline", entity="ledger")
        await ok("kg_stats")
        await ok("kg_invalidate", **fact)
        await ok("kg_invalidate_raw", payload={**fact, "object": "postgres"})
        made = await client.post("/api/sessions", {"agent_name": "ana", "external_id": "code"})
        path = f"/api/sessions/{made.body['data']['id']}/objects"
        held = await client.post(path, {"content": "charge_limit = 250", "object_type": "tool_result"})
        of_session = {"session_id": made.body["data"]["id"], "object_id": held.body["objects"][0]["id"]}
        await ok("pin_object", **of_session)
        await ok("release_object", **of_session, fidelity=4)
        said = await ok("query_session", session_id="code", question="What is charge_limit?")
        assert said["answer"] == "charge_limit = 250"
        assert (await ok("restore_object", **of_session))["data"]["content"] == "charge_limit = 250"
        await ok("delete_agent_memory", memory_id=memory)
        await ok("delete_cache_entry", entry_id=entry)
        await ok("clear_psychic_cache", mission_id=MISSION, reason="operator")
        assert called == {tool.name for tool in (await mcp.list_tools()).tools}


@pytest.mark.parametrize("toolset", ["full", "raw"])
async def test_short_names_and_bound_keys(cluster: Cluster, tenant: Tenant, toolset: str) -> None:
    def given(**arguments: Any) -> dict[str, Any]:
        return arguments if toolset == "full" else {"payload": arguments}

    twin = "" if toolset == "full" else "_raw"
    entry = {**ENTRY, "mission_id": None, "mission": "m", "agent": "ana", "dispatch_id": "7"}
    learned = {"task_description": "gates", "skills_used": [], "outcome": "success", "mission": "m"}
    async with session(cluster, tenant) as mcp:
        await done(mcp, f"write_psychic_cache{twin}", **given(**entry))
        task = learned if toolset == "full" else {"task_context": learned}
        memory = await done(
            mcp, f"commit_agent_memory{twin}", **given(**{**LESSON, "agent_name": None}, agent="ana", **task)
        )
        kept = await done(mcp, "get_agent_memory", memory_id=str(memory["memory_id"]))
        assert kept["memory"]["task_context"]["mission_namespace"] == "m"
        assert (await done(mcp, "mission_stats", mission="m"))["data"]["entry_count"] == 1
        assert (await done(mcp, "list_assemblies", agent="ana", mission="m"))["data"] == []
        text = await refused(mcp, f"assemble_context{twin}", **given(query="x", agent="a", caller="b"))
        assert "agent and caller" in text
    async with session(cluster, tenant, agent="ana", missions=["m"]) as mcp:
        found = await done(mcp, f"assemble_context{twin}", **given(query="Is the ledger down?"))
        assert {source["store"] for source in found["sources"]} == {"psychic_cache", "agent_memory_own"}


async def test_a_retry_writes_once(cluster: Cluster, tenant: Tenant) -> None:
    async with session(cluster, tenant) as mcp:
        first = await done(mcp, "write_psychic_cache", **ENTRY, idempotency_key="k1")
        assert await done(mcp, "write_psychic_cache", **ENTRY, idempotency_key="k1") == first
        said = {"caller": "scout", "text": "The ledger is green.", "mission_namespace": MISSION}
        first = await done(mcp, "remember", **said, idempotency_key="k2")
        assert await done(mcp, "remember", **said, idempotency_key="k2") == first
        other = await refused(mcp, "remember", **{**said, "text": "other"}, idempotency_key="k2")
        assert "422" in other
        assert (await done(mcp, "mission_stats", mission_id=MISSION))["data"]["entry_count"] == 2


async def test_a_refusal_says_what_to_do(cluster: Cluster, tenant: Tenant) -> None:
    async with session(cluster, tenant) as mcp:
        told = await refused(mcp, "write_psychic_cache", **{**ENTRY, "context_type": "decision"})
        assert told.startswith("Validation failed (400): "), told
        assert "decision_rationale: is required; intel_source: unknown field" in told
        assert "Correct what is named" in told
        told = await refused(mcp, "commit_agent_memory", **LESSON, outcome="success")
        assert "task_description: is required" in told
        assert "task_context" not in told
        assert "Look up what exists" in await refused(mcp, "get_cache_entry", entry_id=99_999_999)
        assert "reason" in await refused(mcp, "clear_psychic_cache", mission_id=MISSION)
        assert "payload" in await refused(mcp, "remember_raw", payload="{")
        assert "payload" in await refused(mcp, "remember_raw", payload={}, more=1)
        assert "limit" in await refused(mcp, "memory_search", query="x", caller="y", limit=0)
        assert "colour" in await refused(mcp, "remember", caller="x", text="y", colour="red")
        assert "colour" in await refused(mcp, "list_missions", colour="red")
        assert (await done(mcp, "remember_raw", payload='{"caller": "x", "text": "y"}'))["stored"] == 1
        with pytest.raises(MCPError, match="Unknown tool"):
            await mcp.call_tool("no_such_tool", {})


async def test_a_key_may_what_it_may_by_rest(cluster: Cluster, tenants: tuple[Tenant, Tenant]) -> None:
    first, second = tenants
    async with (
        session(cluster, first) as mine,
        session(cluster, second) as theirs,
        session(cluster, first, access="read") as reader,
        session(cluster, first, agent="scout", missions=["other"]) as bound,
    ):
        entry = (await done(mine, "write_psychic_cache", **ENTRY))["data"]["id"]
        assert "404" in await refused(theirs, "get_cache_entry", entry_id=entry)
        assert (await done(theirs, "list_missions"))["data"] == []
        assert (await done(theirs, "memory_search", query="ledger", caller="scout"))["sources"] == []
        assert "403" in await refused(reader, "write_psychic_cache", **ENTRY)
        assert "403" in await refused(reader, "remember", caller="scout", text="x")
        assert (await done(reader, "get_cache_entry", entry_id=entry))["data"]["id"] == entry
        assert "403" in await refused(bound, "write_psychic_cache", **ENTRY)
        assert "403" in await refused(bound, "assemble_context", query="x", caller="medic")
        assert "403" in await refused(bound, "remember", caller="medic", text="x")
        with pytest.raises(MCPError):
            await bound.read_resource(f"scrubjay://missions/{MISSION}")


async def test_without_a_key(cluster: Cluster) -> None:
    for token in (None, "sj_" + "x" * 43):
        async with Client(cluster.url(), token) as stranger:
            answer = await stranger.post("/mcp", MESSAGE, headers=ACCEPT)
            assert answer.status == 401, answer
            address = f"{cluster.url()}/.well-known/oauth-protected-resource/mcp"
            assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{address}"'
            described = await stranger.get("/.well-known/oauth-protected-resource/mcp")
            assert described.body["resource"] == f"{cluster.url()}/mcp"
            forged = await stranger.post("/mcp", MESSAGE, headers={**ACCEPT, "host": 'a"b'})
            assert '"b' not in forged.headers.get("www-authenticate", "")


async def test_limits_are_those_of_the_key(cluster: Cluster, tenant: Tenant) -> None:
    admin = await tenant.client("admin")
    made = await admin.post("/api/context/keys", {"name": "slow", "access": "write", "requests_per_day": 4})
    assert made.status == 201, made
    async with connect(cluster.url(), made.body["token"], LEGACY) as mcp:
        # Connecting takes some, by requests that call no route.
        answers = [await mcp.call_tool("memory_search", {"query": "x", "caller": "y"}) for _ in range(5)]
    assert answers[-1].is_error
    assert "Wait " in answers[-1].content[0].text  # type: ignore[union-attr]
    assert "429" in answers[-1].content[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize(("method", "params"), [
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
    ("tools/call", {"name": "list_missions", "arguments": {"colour": "red"}}),
    ("tools/call", {"name": "remember_raw", "arguments": {"payload": "{"}}),
    ("tools/call", {"arguments": {}}),
    ("resources/read", {"uri": "scrubjay://nothing"}),
    ("prompts/get", {"name": "nothing"}),
])  # fmt: skip
async def test_what_comes_to_no_route_counts_too(
    cluster: Cluster, tenant: Tenant, method: str, params: dict[str, Any]
) -> None:
    admin = await tenant.client("admin")
    made = await admin.post("/api/context/keys", {"name": "few", "access": "write", "requests_per_day": 2})
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with Client(cluster.url(), made.body["token"]) as client:
        answers = [await client.post("/mcp", message, headers=ACCEPT) for _ in range(3)]
    assert 429 not in [answer.status for answer in answers[:2]], answers
    assert (answers[2].status, answers[2].body.get("limit")) == (429, "requests_per_day"), answers[2]


async def test_only_posts(client: Client) -> None:
    for method in ("GET", "DELETE", "PUT"):
        answer = await client.call(method, "/mcp", headers=ACCEPT)
        assert (answer.status, answer.headers["allow"]) == (405, "POST"), answer


async def test_the_toolset_of_the_address(client: Client) -> None:
    async def names(query: str) -> list[str]:
        answer = await client.post(f"/mcp{query}", MESSAGE, headers=ACCEPT)
        assert answer.status == 200, answer
        return [tool["name"] for tool in answer.body["result"]["tools"]]

    assert len(await names("")) == 8
    assert await names("?toolset=default") == await names("")
    assert {"dispatch_report", "dispatch_get"} <= set(await names("?toolset=dispatch"))
    assert set(await names("?toolset=default,raw")) > set(await names("?toolset=raw"))
    assert await names("?toolset=default%7Craw") == await names("?toolset=default&toolset=raw")
    wrong = await client.post("/mcp?toolset=nope", MESSAGE, headers=ACCEPT)
    assert (wrong.status, wrong.body["errors"][0]["field"]) == (400, "toolset")


@pytest.mark.parametrize("era", ERAS)
async def test_resources_and_the_prompt(cluster: Cluster, tenant: Tenant, era: str) -> None:
    async with session(cluster, tenant, era) as mcp:
        entry = (await done(mcp, "write_psychic_cache", **ENTRY))["data"]["id"]
        listed = [str(one.uri) for one in (await mcp.list_resources()).resources]
        assert listed == ["scrubjay://missions", "scrubjay://timeline", "scrubjay://monitor"]
        assert len((await mcp.list_resource_templates()).resource_templates) == 4

        async def read(uri: str) -> Any:
            (content,) = (await mcp.read_resource(uri)).contents
            return json.loads(content.text)  # type: ignore[union-attr]

        assert [one["mission_id"] for one in (await read("scrubjay://missions"))["data"]] == [MISSION]
        assert [one["id"] for one in (await read(f"scrubjay://missions/{MISSION}"))["data"]] == [entry]
        assert (await read(f"scrubjay://sources/cache:{entry}"))["item"]["id"] == entry
        assert (await read("scrubjay://timeline/0"))["data"] == (await read("scrubjay://timeline"))["data"]
        for uri in ("scrubjay://sources/cache:99999999", "scrubjay://nothing"):
            with pytest.raises(MCPError):
                await mcp.read_resource(uri)
        asked = {"query": "is the ledger down?", "caller": "scout", "mission_namespace": MISSION}
        prompt = await mcp.get_prompt("recall", asked)
        note, block, question = (message.content.text for message in prompt.messages)  # type: ignore[union-attr]
        assert "data" in note
        assert parse_block(block) == [(f"cache:{entry}", "The ledger is down")]
        assert question.startswith("The question: is the ledger down?")
        assert f"[cache:{entry}]" in question
        assert "context_feedback with assembly_id " in question
        nothing = await mcp.get_prompt("recall", {"query": "who?", "caller": "nobody"})
        (question,) = (message.content.text for message in nothing.messages)  # type: ignore[union-attr]
        assert question.startswith("The question: who?")


@pytest.mark.parametrize("era", ERAS)
async def test_a_block_stands_once_in_a_result(cluster: Cluster, tenant: Tenant, era: str) -> None:
    """Some clients hand their model the texts of a result, some its structured content, and some hand it both."""
    question = {"query": "is the ledger down?", "caller": "scout", "mission_namespace": MISSION}
    async with session(cluster, tenant, era) as mcp:
        handle = f"cache:{(await done(mcp, 'write_psychic_cache', **ENTRY))['data']['id']}"
        for tool, given in (
            ("assemble_context", question),
            ("memory_search", question),
            ("query_psychic_cache", {"query": "ledger", "mission_id": MISSION}),
        ):
            answer = await mcp.call_tool(tool, given)
            assert answer.structured_content is None
            note, block = (part.text for part in answer.content)  # type: ignore[union-attr]
            assert parse_block(block) == [(handle, "The ledger is down")]
            assert f" {note.rpartition('each header ends in ')[2].partition(']')[0]}] The ledger" in block
            assert answer.model_dump_json(by_alias=True).count(f"[{handle}") == 1


async def test_a_name_that_is_misspelt_shows(cluster: Cluster, tenant: Tenant) -> None:
    question = {"query": "is the ledger down?", "caller": "scout"}
    async with session(cluster, tenant) as mcp:
        await done(mcp, "write_psychic_cache", **ENTRY)
        notes = []
        for mission in ("legder", MISSION):
            answer = await mcp.call_tool("assemble_context", {**question, "mission_namespace": mission})
            notes.append(answer.content[0].text)  # type: ignore[union-attr]
        assert "mission legder holds nothing" in notes[0]
        assert "holds nothing" not in notes[1]


HOSTILE = 40


async def test_stored_text_cannot_forge_structure(cluster: Cluster, tenant: Tenant) -> None:
    """What a model reads of a block parses back to what was stored; what is said of the block is not part of it."""
    texts = hostile(HOSTILE)
    async with session(cluster, tenant) as mcp:
        stored = {}
        for text in texts:
            written = await done(mcp, "write_psychic_cache", **{**ENTRY, "content": text})
            stored[f"cache:{written['data']['id']}"] = text
        seen: set[str] = set()
        for start in range(0, HOSTILE, 4):
            words = " ".join(f"failover{number}" for number in range(start, start + 4))
            question = {"query": words, "caller": "scout", "mission_namespace": MISSION}
            for tool, most in (("assemble_context", {"fill": True}), ("memory_search", {"limit": 50})):
                answer = await mcp.call_tool(tool, {**question, "token_budget": 16_000, **most})
                note, block = (part.text for part in answer.content)  # type: ignore[union-attr]
                assert "\n" not in note
                found = parse_block(block)
                assert found == [(handle, stored[handle]) for handle, _ in found]
                seen |= {handle for handle, _ in found}
        assert len(seen) > 0.9 * HOSTILE
        listed = await mcp.call_tool("list_mission_entries", {"mission_id": MISSION})
        (text,) = (part.text for part in listed.content)  # type: ignore[union-attr]
        assert json.loads(text) == listed.structured_content


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"nonsense",
        b"[" * 50_000,
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": []}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": '
        b'{"caller": "\\ud800", "text": "x"}}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": '
        b'{"caller": "a\\u0000b", "text": 1e999}}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": '
        b'{"caller": ' + b"9" * 5_000 + b"}}}",
        b'{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "scrubjay://sources/%ff"}}',
        b"\xff\xfe",
    ],
)
@pytest.mark.parametrize("version", [None, MODERN, "2025-11-25", "nonsense"])
async def test_hostile_messages_are_refused(client: Client, body: bytes, version: str | None) -> None:
    headers = {**ACCEPT, "content-type": "application/json"}
    if version is not None:
        headers["mcp-protocol-version"] = version
    async with client.session.post("/mcp", data=body, headers=headers) as response:
        text = await response.text()
    assert response.status < 500, text
    if response.status == 200:
        message = json.loads(text)
        assert "error" in message or message["result"]["isError"], text


async def test_too_much_at_once(client: Client) -> None:
    body = b" " * (2 * 1024 * 1024 + 1)
    headers = {**ACCEPT, "content-type": "application/json"}
    async with client.session.post("/mcp", data=body, headers=headers) as response:
        assert response.status == 413
        assert response.content_type == "application/problem+json"
