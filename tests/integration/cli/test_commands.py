"""The command line on a running cluster: what it prints, what it answers to the shell, and what it never shows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from scrubjay.cli import settings
from scrubjay.cli.exits import DONE, IN_PART, NOT_REACHED, REFUSED, WRONG
from scrubjay.cli.main import main
from tests.integration.conftest import Tenant
from tests.support.cluster import Cluster


class Shell:
    """The commands with a user's file of settings."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    async def run(self, *arguments: str) -> int:
        code = await asyncio.to_thread(main, arguments)
        said = self._capsys.readouterr()
        self.out, self.err = said.out, said.err
        return code

    async def json(self, *arguments: str) -> list[Any]:
        assert await self.run(*arguments, "--json") == DONE, self.err
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
async def key(tenant: Tenant) -> str:
    return await tenant.key("admin", agent="scout")


@pytest.fixture
def shell(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cluster: Cluster,
    key: str,
) -> Shell:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    settings.write(settings.Settings(cluster.url(), key, "scout", "lantern"))
    return Shell(capsys)


async def test_what_is_remembered_is_assembled_explained_searched_and_exported(shell: Shell) -> None:
    lesson = "I learned that the ledger never retries a 409: the webhook was already applied"
    [kept] = await shell.json("remember", lesson)
    assert kept["items"][0]["status"] == "created"
    [block] = await shell.json("assemble", "May I retry a 409 of the ledger?")
    assert "never retries a 409" in block["context_block"]
    [why] = await shell.json("why", str(block["assembly_id"]))
    assert {each["outcome"] for each in why["candidates"]} >= {"taken"}
    [hit, *_] = await shell.json("search", "ledger 409")
    assert "never retries a 409" in hit["text"]
    [learned] = await shell.json("export", "agent-memory")
    assert learned["agent_name"] == "scout"
    assert await shell.run("why", str(block["assembly_id"])) == DONE
    assert "in the block" in shell.out


async def test_missions_and_the_timeline_tell_what_was_written(shell: Shell) -> None:
    assert await shell.run("remember", "The lantern of the ledger was lit at noon.") == DONE
    [mission] = await shell.json("missions")
    assert (mission["mission_id"], mission["entry_count"]) == ("lantern", 1)
    events = await shell.json("tail", "--since", "1h", "--no-follow")
    assert "cache_write" in {event["kind"] for event in events}
    [entry] = await shell.json("export", "entries")
    assert "was lit at noon" in entry["content"]


async def test_no_key_is_ever_printed_whole(shell: Shell, tmp_path: Path, key: str) -> None:
    file = tmp_path / "made.key"
    [made] = await shell.json(
        "keys", "make", "helper", "--access", "read", "--agent", "scout", "--to", str(file)
    )
    secret = file.read_text().strip()
    assert file.stat().st_mode & 0o777 == 0o600
    printed = json.dumps(made)
    for arguments in (("keys", "list"), ("doctor",), ("keys", "revoke", str(made["key"]["id"]), "--yes")):
        assert await shell.run(*arguments) == DONE
        printed += shell.out + shell.err
    assert secret not in printed
    assert key not in printed


async def test_a_secret_is_made_only_where_its_file_can_be_written(shell: Shell, tmp_path: Path) -> None:
    file, nowhere = tmp_path / "made.key", str(tmp_path / "missing" / "made.key")
    [made] = await shell.json("keys", "make", "helper", "--agent", "scout", "--to", str(file))
    # A second rotation would end the first secret.
    for _ in range(2):
        assert await shell.run("keys", "rotate", str(made["key"]["id"]), "--to", nowhere) == WRONG
        assert "missing" in shell.err
    assert await shell.run("missions", "--token", file.read_text().strip()) == DONE
    assert await shell.run("keys", "make", "second", "--agent", "scout", "--to", nowhere) == WRONG
    assert {key["name"] for key in await shell.json("keys", "list")}.isdisjoint({"second"})


async def test_the_doctor_says_what_is_wrong(shell: Shell, tmp_path: Path, cluster: Cluster) -> None:
    assert await shell.run("doctor") == DONE
    assert "may read and write and administer" in shell.out
    assert await shell.run("doctor", "--token", "nonsense") == IN_PART
    assert "unknown, expired or revoked" in shell.out
    assert await shell.run("doctor", "--url", "http://127.0.0.1:1") == IN_PART
    assert "nothing answers" in shell.out
    assert await shell.run("doctor", "--url", "ftp://x") == IN_PART
    settings.path().chmod(0o640)
    assert await shell.run("doctor") == IN_PART
    assert "chmod 600" in shell.out


async def test_a_login_is_tried_before_it_is_stored(
    shell: Shell, cluster: Cluster, key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.path().unlink()
    piped = tmp_path / "piped"
    for secret, code in (("nonsense", REFUSED), (key, DONE)):
        piped.write_text(f"{secret}\n")
        with piped.open() as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert await shell.run("login", cluster.url(), "--agent", "scout", "--key-stdin") == code
        assert settings.path().exists() == (code == DONE)
    assert settings.read() == settings.Settings(cluster.url(), key, "scout")
    assert await shell.run("logout") == DONE
    assert not settings.path().exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["assemble"], WRONG, "Missing argument 'QUERY'"),
        (["why", "x"], WRONG, "not a valid integer"),
        (["why", "999999"], REFUSED, "(404)"),
        (["tail", "--since", "soon"], WRONG, "is no time"),
        (["search", "x", "--scope", "nowhere"], REFUSED, "scopes"),
        (["missions", "--url", "http://127.0.0.1:1"], NOT_REACHED, "cannot be reached"),
        (["import", "mem0"], WRONG, "Missing argument PATH"),
        (["import", "claude-code", "--scope", "here"], WRONG, "is no scope"),
        (["remember", " "], WRONG, "there is no text"),
    ],
)
async def test_a_failure_has_its_code_and_its_words(
    shell: Shell, arguments: list[str], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrubjay.client.pause", lambda *_: 0.0, raising=False)
    assert await shell.run(*arguments) == code
    assert said in shell.err
    assert "Traceback" not in shell.err


async def test_every_command_has_help_and_the_tab_key_knows_them(shell: Shell) -> None:
    assert await shell.run("--help") == DONE
    names = [
        line.split()[0] for line in shell.out.partition("Commands:")[2].splitlines() if line.startswith("  ")
    ]
    for name in names[: names.index("why") + 1]:
        assert await shell.run(name, "--help") == DONE
        assert "Usage: scrubjay" in shell.out
    for each in ("bash", "zsh", "fish"):
        assert await shell.run("completion", each) == DONE
        assert "_SCRUBJAY_COMPLETE" in shell.out
