"""Hooks as a host runs them: processes that are told an event, with a service, without one, and switched off."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from scrubjay.hooks.switch import NAME
from tests.integration.conftest import Tenant
from tests.support.calls import until
from tests.support.cluster import Client, Cluster
from tests.support.fakes.transcripts import Writer


class Host:
    def __init__(self, folder: Path, url: str, token: str) -> None:
        self.work = folder / "lantern"
        self.work.mkdir()
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "SCRUBJAY_URL": url,
            "SCRUBJAY_TOKEN": token,
            "SCRUBJAY_AGENT": "scout",
            "SCRUBJAY_HOOK_DEBUG": "1",
        }

    async def hook(self, name: str, **more: Any) -> str:
        """What the hook tells. It always ends with 0."""
        event = {"hook_event_name": name, "session_id": "s-1", "cwd": str(self.work), **more}
        return await self.send(json.dumps(event).encode())

    async def send(self, event: bytes) -> str:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "scrubjay",
            "hook",
            "claude-code",
            stdin=pipe,
            stdout=pipe,
            env=self._environment,
        )
        out, _ = await process.communicate(event)
        assert process.returncode == 0
        return json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else ""


@pytest.fixture
async def host(tenant: Tenant, cluster: Cluster, tmp_path: Path) -> Host:
    return Host(tmp_path, cluster.url(), await tenant.key(agent="scout"))


async def known(client: Client) -> None:
    text = "The lantern burns whale oil of grade 7431."
    await client.post(
        "/api/memory", {"kind": "knowledge", "content": text, "scope": "agent:scout", "agent": "scout"}
    )


async def told(host: Host, name: str, **more: Any) -> str:
    """A hook has little time, and a busy machine may take all of it: then the next one tells."""
    for _ in range(20):
        if found := await host.hook(name, **more):
            return found
    return ""


async def test_a_prompt_is_told_what_matters_once(host: Host, client: Client) -> None:
    await known(client)
    asked = {"prompt": "Which oil does the lantern burn?"}
    assert "grade 7431" in await told(host, "UserPromptSubmit", **asked)
    assert await host.hook("UserPromptSubmit", **asked) == ""
    assert "grade 7431" in await told(host, "UserPromptSubmit", **asked, session_id="s-2")
    # Once its context was compacted, a session has nothing of what it was told.
    begun = await host.hook("SessionStart", source="compact")
    assert "grade 7431" in (begun or await told(host, "UserPromptSubmit", **asked))


async def test_a_session_is_told_once_what_became_of_what_it_was_told(host: Host, client: Client) -> None:
    await known(client)
    asked = {"prompt": "Which oil does the lantern burn?"}
    assert "grade 7431" in await told(host, "UserPromptSubmit", **asked)
    memory = (await client.get("/api/memory?limit=1")).body["data"][0]["id"]
    edit = {"content": "The lantern burns sunflower oil."}
    assert (await client.call("PATCH", f"/api/memory/{memory}", edit)).status == 200
    corrected = await told(host, "UserPromptSubmit", **asked)
    assert f"[update memory:{memory} now says" in corrected
    assert "sunflower" in corrected
    assert await host.hook("UserPromptSubmit", **asked) == ""


async def test_what_a_session_does_is_written_and_not_told_to_it(
    host: Host, client: Client, tmp_path: Path
) -> None:
    path = Writer(3, secrets=False).claude_code(tmp_path, 20_000)
    await host.hook("PostToolUse", transcript_path=str(path), session_id=path.stem)

    async def some() -> None:
        found = (await client.get("/api/memory?limit=100")).body["data"]
        assert len(found) > 5
        assert {memory["session_id"] for memory in found} == {path.stem}
        assert all(memory["origin"].startswith("claude-code:") for memory in found)

    await until(some)
    handles = (tmp_path / "state/scrubjay/hooks" / f"{path.stem}.own").read_text().split()
    assert handles
    assert all(handle.startswith("memory:") for handle in handles)


async def test_a_compacted_session_is_told_where_it_was(host: Host, client: Client, tmp_path: Path) -> None:
    path = Writer(4, secrets=False).claude_code(tmp_path, 10_000)
    same = {"transcript_path": str(path), "session_id": path.stem}

    async def checkpointed() -> None:
        # A busy machine may leave a hook no time to start what writes.
        await host.hook("PreCompact", **same)
        answer = await client.get(f"/api/psychic-cache/checkpoint/{path.stem}?mission_id=lantern")
        assert answer.status == 200, answer

    await until(checkpointed)
    assert "Where this session was" in await told(host, "SessionStart", source="compact", **same)


async def test_what_was_said_is_on_the_trail_once_however_often_the_session_ends(
    host: Host, client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "s-1.jsonl"

    async def ended(*texts: str) -> None:
        said = ({"type": "user", "uuid": text, "message": {"content": text}} for text in texts)
        path.write_text("".join(f"{json.dumps(record)}\n" for record in said))

        async def on_the_trail() -> None:
            # A busy machine may leave a hook no time to start what writes.
            await host.hook("SessionEnd", transcript_path=str(path))
            answer = await client.get("/api/sessions/s-1/history?full=true")
            assert answer.status == 200, answer
            assert [event["content"][0]["text"] for event in answer.body["data"]] == list(texts)

        await until(on_the_trail)

    await ended("Light the lantern")
    await ended("Light the lantern", "And trim its wick")


@pytest.mark.parametrize("event", [b"", b"{", b"[]", b'{"session_id": 3}', b"\xff", b'{"session_id": "s"}'])
async def test_a_hook_never_fails(host: Host, event: bytes) -> None:
    assert await host.send(event) == ""


async def test_a_file_switches_hooks_off(host: Host, client: Client) -> None:
    await known(client)
    (host.work / NAME).touch()
    assert await host.hook("UserPromptSubmit", prompt="Which oil does the lantern burn?") == ""


async def test_a_service_that_is_away_or_silent_tells_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port in (1, silent.getsockname()[1]):
            folder = tmp_path / str(port)
            folder.mkdir()
            host = Host(folder, f"http://127.0.0.1:{port}", "a-key")
            assert await host.hook("UserPromptSubmit", prompt="Which oil?") == ""
            assert await host.hook("Stop", transcript_path=str(folder / "none.jsonl")) == ""
