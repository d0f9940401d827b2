"""Exports of other systems on a running cluster: run once, twice, dry, and killed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import scrubjay
from scrubjay.cli.exits import DONE, IN_PART
from scrubjay.cli.exits import REFUSED as STOPPED
from scrubjay.cli.main import main
from scrubjay.importing.items import File, Found, Refused
from scrubjay.importing.sending import Sender, Written
from scrubjay.models import WriteMemoryInput
from tests.integration.conftest import Tenant
from tests.support.calls import until
from tests.support.cluster import Client, Cluster

EXPORTS = Path(__file__).parent / "exports"
WHERE = {
    "mem0": ["mem0.json", "--scope", "user:ada"],
    "langgraph": ["langgraph.jsonl", "--scope", "user:{1}"],
    "hindsight": ["hindsight.json", "--agent", "scout"],
    "graphiti": ["graphiti.json", "--scope", "user:{group}"],
    "mcp-memory": ["mcp-memory.jsonl", "--scope", "shared"],
    "claude": ["memories", "--agent", "scout"],
    "markdown": ["notes", "--scope", "shared"],
}
REFUSED = {"mem0": 1, "langgraph": 2, "graphiti": 1, "mcp-memory": 1}
"""How many records of an export are bad."""


class Importing:
    """The command with a tenant's key, and what the tenant has."""

    def __init__(self, client: Client, url: str, token: str) -> None:
        self.client = client
        self._access = ["--url", url, "--token", token]

    def arguments(self, system: str, path: Path, *more: str) -> list[str]:
        return ["import", system, str(path), *self._access, *more]

    async def run(self, system: str, *more: str) -> int:
        name, *where = WHERE[system]
        return await asyncio.to_thread(main, self.arguments(system, EXPORTS / name, *where, *more))

    async def memories(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = (await self.client.get(f"/api/memory?limit=100{cursor}")).body
            found += page["data"]
            if page["next"] is None:
                return sorted(found, key=lambda memory: int(memory["id"]))
            cursor = f"&cursor={page['next']}"

    async def state(self) -> dict[str, Any]:
        facts = await self.client.post("/api/kg/query", {"every_time": True, "limit": 1_000})
        files = await self.client.get("/api/vault/files")
        for file in files.body["data"]:
            # It becomes true when the vectors arrive.
            file.pop("indexed", None)
        return {"memories": await self.memories(), "facts": facts.body["data"], "files": files.body["data"]}


@pytest.fixture
async def importing(tenant: Tenant, client: Client, cluster: Cluster) -> Importing:
    return Importing(client, cluster.url(), await tenant.key("write"))


def stated_by_files(state: dict[str, Any]) -> int:
    """How many facts the vault took from front matter and links."""
    return sum("source" in fact for fact in state["facts"])


def named(err: str) -> list[str]:
    """The records that were not written, without how fast it goes."""
    return [line for line in err.splitlines() if line.startswith(("refused: ", "left out: "))]


@pytest.mark.parametrize("system", WHERE)
async def test_an_import_that_is_run_twice_changes_nothing(
    importing: Importing, system: str, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = await importing.state()
    assert await importing.run(system, "--dry-run") == (IN_PART if system in REFUSED else DONE)
    assert await importing.state() == empty
    planned = capsys.readouterr()
    assert planned.err.count("refused: ") == REFUSED.get(system, 0)

    assert await importing.run(system) == (IN_PART if system in REFUSED else DONE)
    first = await importing.state()
    assert first != empty
    assert named(capsys.readouterr().err) == named(planned.err)
    assert sum(map(len, first.values())) - stated_by_files(first) == len(
        re.findall(r"^(?:line \d[^:]*|[\w/]+\.\w+): ", planned.out, re.M)
    )

    await importing.run(system)
    assert await importing.state() == first
    second = capsys.readouterr().out
    assert "known" in second
    assert "created" not in second


def kept(memories: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(memory.get(name) for name in names) for memory in memories]


async def test_mem0_keeps_ids_times_users_and_what_its_metadata_says(importing: Importing) -> None:
    await importing.run("mem0")
    state = await importing.state()
    assert kept(state["memories"], "origin", "scope", "kind", "occurred_at", "source_kind") == [
        (
            "mem0:0c2d9b52-64f4-4f3b-9a51-1f6b3a9f7e10",
            "user:ada",
            "knowledge",
            "2025-06-01T15:30:00.275141Z",
            "imported",
        ),
        (
            "mem0:1f3e8a63-75a5-4a4c-8b62-2a7c4b0a8f21",
            "user:ada",
            "preference",
            "2025-07-01T10:00:00Z",
            "imported",
        ),
        (
            "mem0:2a4f9b74-86b6-4b5d-9c73-3b8d5c1b9a32",
            "agent:concierge",
            "knowledge",
            "2025-06-03T10:00:00Z",
            "imported",
        ),
    ]
    first, second, _ = state["memories"]
    assert kept([first], "agent_name", "session_id", "speaker", "user_id") == [
        ("concierge", "run-17", "Ada", "ada")
    ]
    assert first["topics"] == ["team: payments", "confirmed: true"]
    assert second["topics"] == ["travel_preferences", "expires: 2999-01-01", "created: 2025-06-02T10:00:00Z"]
    facts = {(fact["subject"], fact["predicate"], fact["object"]) for fact in state["facts"]}
    assert facts == {("ada", "works_at", "lindqvist_freight"), ("ada", "manages", "payments")}


async def test_what_is_imported_of_a_user_is_found_for_that_user_alone(importing: Importing) -> None:
    await importing.run("langgraph")

    async def found(user: str) -> str:
        question = {"query": "Who is on call in March?", "caller": "scout", "user_id": user}
        answer = await importing.client.post("/api/context/assemble", question)
        assert answer.body["degraded"] == [], answer
        return str(answer.body["context_block"])

    assert "Ben is on call in March" in await found("ben")
    assert "Ben is on call" not in await found("ada")


async def test_edges_become_facts_that_hold_when_they_held(importing: Importing) -> None:
    await importing.run("graphiti")

    async def employers(at: str) -> list[tuple[str, str]]:
        body = {"entity": "Ada", "predicate": "works at", "at": at}
        answer = await importing.client.post("/api/kg/query", body)
        return [(fact["object"], fact["source_kind"]) for fact in answer.body["data"]]

    assert await employers("2024-01-01T00:00:00Z") == [("Lindqvist Freight", "imported")]
    assert await employers("2025-08-01T00:00:00Z") == [("Solberg Rail", "imported")]
    memories = {memory["origin"]: memory for memory in await importing.memories()}
    assert kept([memories["graphiti:e-1"]], "kind", "occurred_at", "ended_at") == [
        ("episode", "2021-03-01T00:00:00Z", "2025-04-01T00:00:00Z")
    ]


async def test_what_was_edited_here_is_left_and_what_is_new_there_comes(
    importing: Importing, tmp_path: Path
) -> None:
    lines = [{"id": str(place), "memory": f"Fact number {place}", "user_id": "ana"} for place in range(3)]
    export = tmp_path / "mem0.jsonl"
    export.write_text("".join(f"{json.dumps(line)}\n" for line in lines[:2]))
    arguments = importing.arguments("mem0", export)
    assert await asyncio.to_thread(main, arguments) == DONE
    edited = (await importing.memories())[0]["id"]
    await importing.client.call("PATCH", f"/api/memory/{edited}", {"content": "Corrected here."})
    export.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert await asyncio.to_thread(main, arguments) == DONE
    assert kept(await importing.memories(), "origin", "content") == [
        ("mem0:0", "Corrected here."),
        ("mem0:1", "Fact number 1"),
        ("mem0:2", "Fact number 2"),
    ]


async def test_a_record_that_the_service_refuses_is_named_and_costs_itself(
    tenant: Tenant, cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bound = Importing(await tenant.client(users=["ana"]), cluster.url(), await tenant.key(users=["ana"]))
    export = tmp_path / "mem0.jsonl"
    users = ["ana", "ben", "ana"]
    lines = [
        {"id": str(place), "memory": f"Fact {place}", "user_id": user} for place, user in enumerate(users)
    ]
    export.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert await asyncio.to_thread(main, bound.arguments("mem0", export)) == IN_PART
    said = capsys.readouterr()
    assert "refused: line 2: the service refused it" in said.err
    assert said.out.splitlines() == ["memories: 2 created", "1 refused"]
    assert kept(await bound.memories(), "origin") == [("mem0:0",), ("mem0:2",)]


async def test_a_key_that_may_not_write_ends_the_import_with_a_sentence(
    tenant: Tenant, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *where = WHERE["mem0"]
    for token in ("nonsense", await tenant.key("read")):
        arguments = ["import", "mem0", str(EXPORTS / name), *where, "--url", cluster.url(), "--token", token]
        assert await asyncio.to_thread(main, arguments) in (STOPPED, IN_PART)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert "created" not in said.out + said.err


async def test_an_import_that_is_killed_and_run_again_ends_in_the_same_state(
    tenants: tuple[Tenant, Tenant], cluster: Cluster, tmp_path: Path
) -> None:
    export = tmp_path / "mem0.json"
    total = 600
    results = [
        {"id": str(place), "memory": f"Fact number {place}", "user_id": "ana"} for place in range(total)
    ]
    export.write_text(json.dumps({"results": results}))
    killed, whole = [
        Importing(await tenant.client(), cluster.url(), await tenant.key()) for tenant in tenants
    ]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "scrubjay",
        *killed.arguments("mem0", export),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    async def some() -> None:
        assert (await killed.client.get("/api/memory?limit=1")).body["data"]

    await until(some)
    process.kill()
    await process.wait()
    assert len(await killed.memories()) > 0
    for importing in (killed, whole):
        assert await asyncio.to_thread(main, importing.arguments("mem0", export)) == DONE

    async def said(importing: Importing) -> list[tuple[Any, ...]]:
        return kept(await importing.memories(), "origin", "content", "scope", "user_id", "source_kind")

    assert len(await said(killed)) == total
    assert await said(killed) == await said(whole)


async def test_a_file_in_several_pieces_is_whole_in_the_vault(
    importing: Importing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    lines = [f"Line {place} of a long note about the harbour." for place in range(9_000)]
    (folder / "long.md").write_text("\n".join(lines))
    arguments = importing.arguments("markdown", folder, "--scope", "shared")
    assert await asyncio.to_thread(main, arguments) == DONE
    read = await importing.client.get("/api/vault/read?path=shared/notes/long.md%23L8999-L9000")
    assert read.body["text"].splitlines() == lines[-2:]
    capsys.readouterr()
    assert await asyncio.to_thread(main, arguments) == DONE
    assert capsys.readouterr().out == "files: 1 known\n"


async def test_what_happened_by_this_clock_is_written_though_the_service_s_is_behind(
    importing: Importing, cluster: Cluster, tenant: Tenant
) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=1)
    where: dict[str, Any] = {"kind": "episode", "agent_name": "scout", "scope": "agent:scout"}
    memories = [
        WriteMemoryInput(content=f"Turn {number}", occurred_at=at, **where)
        for number, at in enumerate([ahead, None, ahead])
    ]
    items: list[Found] = [Found("memory", memory) for memory in memories]
    items += [
        Found("file", File("agent/scout/a.md", "Lit", ahead)),
        Found("bad", replace(memories[0], content="")),
    ]
    with scrubjay.Client(cluster.url(), await tenant.key("write")) as jay:
        outcomes = await asyncio.to_thread(lambda: list(Sender(jay).outcomes(items)))
    assert [type(each) for each in outcomes] == [Written, Written, Written, Refused, Written]
    assert {memory["content"] for memory in await importing.memories()} == {"Turn 0", "Turn 1", "Turn 2"}
