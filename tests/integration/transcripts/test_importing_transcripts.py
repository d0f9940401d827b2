"""Transcripts on a running cluster: twice, killed, watched, searched, and with secrets in them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from scrubjay.cli.exits import DONE
from scrubjay.cli.main import main
from tests.integration.conftest import Tenant
from tests.support.attacks.secret_samples import SAMPLES
from tests.support.calls import until
from tests.support.cluster import Client, Cluster
from tests.support.fakes.transcripts import MARK, Writer

BYTES = 250_000


class Importing:
    def __init__(self, client: Client, url: str, token: str) -> None:
        self.client = client
        self.access = ["--url", url, "--token", token]

    async def run(self, kind: str, path: Path, *more: str) -> int:
        return await asyncio.to_thread(main, ["import", kind, str(path), *self.access, *more])

    async def memories(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = (await self.client.get(f"/api/memory?limit=100{cursor}")).body
            found += page["data"]
            if page["next"] is None:
                return sorted(found, key=lambda memory: str(memory["origin"]))
            cursor = f"&cursor={page['next']}"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
async def importing(tenant: Tenant, client: Client, cluster: Cluster) -> Importing:
    return Importing(client, cluster.url(), await tenant.key("write"))


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
async def test_a_second_run_writes_nothing_and_reads_only_what_is_new(
    importing: Importing, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = Writer(5)
    write = writer.claude_code if kind == "claude-code" else writer.codex
    path = write(tmp_path / "sessions", BYTES)
    assert await importing.run(kind, tmp_path / "sessions") == DONE
    first = await importing.memories()
    assert len(first) > 10
    assert {memory["scope"] for memory in first} == {f"agent:{kind}"}
    capsys.readouterr()
    assert await importing.run(kind, tmp_path / "sessions") == DONE
    assert capsys.readouterr().out == "nothing to import\n"
    assert await importing.run(kind, path, "--again") == DONE
    assert "created" not in capsys.readouterr().out
    assert await importing.memories() == first


async def test_no_secret_of_a_transcript_is_stored(importing: Importing, tmp_path: Path) -> None:
    writer = Writer(6)
    for _ in range(3):
        writer.claude_code(tmp_path / "sessions", 150_000)
    text = "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))
    kinds = [kind for kind, (_, secret) in SAMPLES.items() if secret.splitlines()[0] in text]
    assert len(kinds) > 40
    assert await importing.run("claude-code", tmp_path / "sessions") == DONE
    stored = json.dumps(await importing.memories())
    assert MARK in stored
    assert [
        kind for kind in kinds if SAMPLES[kind][1].splitlines()[-1 if kind != "private key" else 1] in stored
    ] == []


async def test_sessions_are_found_by_file_program_error_and_session(
    importing: Importing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Writer(7, secrets=False).claude_code(tmp_path / "sessions", BYTES)
    assert await importing.run("claude-code", path, "--scope", "project:{project}") == DONE
    memories = await importing.memories()
    assert {memory["scope"] for memory in memories} == {"project:lantern"}
    file = next(each for memory in memories for each in memory.get("paths", []))
    named = {topic for memory in memories for topic in memory["topics"] if topic.startswith("command: ")}
    program = min(named).removeprefix("command: ")
    capsys.readouterr()
    for sieve in (["--file", file], ["--command", program], ["--error"], ["--session", path.stem]):
        words = ["search", "ledger", "--agent", "scout", "--scope", "project:lantern", *sieve]
        assert await asyncio.to_thread(main, [*words, *importing.access, "--json"]) == DONE
        assert [json.loads(line) for line in capsys.readouterr().out.splitlines()], sieve


async def test_a_killed_import_goes_on_and_ends_in_the_same_state(
    tenants: tuple[Tenant, Tenant], cluster: Cluster, tmp_path: Path
) -> None:
    writer = Writer(8, secrets=False)
    for _ in range(3):
        writer.claude_code(tmp_path / "sessions", 400_000)
    killed, whole = [Importing(await each.client(), cluster.url(), await each.key()) for each in tenants]
    command = [
        sys.executable,
        "-m",
        "scrubjay",
        "import",
        "claude-code",
        str(tmp_path / "sessions"),
        *killed.access,
    ]
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )

    async def some() -> None:
        assert (await killed.client.get("/api/memory?limit=1")).body["data"]

    await until(some)
    process.kill()
    await process.wait()
    for importing in (killed, whole):
        assert await importing.run("claude-code", tmp_path / "sessions") == DONE

    async def said(importing: Importing) -> list[tuple[Any, ...]]:
        names = ("origin", "content", "session_id", "paths", "topics", "occurred_at", "speaker")
        return [
            tuple(memory[name] for name in names if name in memory) for memory in await importing.memories()
        ]

    assert await said(killed) == await said(whole)


async def test_a_running_session_is_followed(importing: Importing, tmp_path: Path) -> None:
    whole = (
        Writer(9, secrets=False).claude_code(tmp_path / "other", BYTES).read_text().splitlines(keepends=True)
    )
    path = tmp_path / "session.jsonl"
    path.write_text("".join(whole[:5]))
    command = [
        sys.executable,
        "-m",
        "scrubjay",
        "import",
        "claude-code",
        str(path),
        "--watch",
        *importing.access,
    ]
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    try:

        async def begun() -> None:
            assert await importing.memories()

        await until(begun)
        with path.open("a") as file:
            file.write("".join(whole[5:]))
        last = json.loads(whole[-2])["timestamp"]

        async def followed() -> None:
            assert last in {memory["occurred_at"] for memory in await importing.memories()}

        await until(followed)
    finally:
        process.terminate()
        await process.wait()
