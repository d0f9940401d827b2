"""No path leads the agent's tools out of the workspace, whoever wrote it."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scrubjay.models import ToolUse
from scrubjay_agent.journal.entries import Address, Received
from scrubjay_agent.tools import files, shell
from scrubjay_agent.tools.registry import Calling, Registry
from scrubjay_agent.workspace.beneath import Workspace
from scrubjay_agent.workspace.confined import supported

SECRET = "canary-7431"
# {out} is a folder beside the workspace that holds the secret; the workspace has links to it.
PATHS = [
    "../secret.txt",
    "../../{base}/secret.txt",
    "./../secret.txt",
    "notes/../../secret.txt",
    "notes/../../workspace/../secret.txt",
    "notes/./.././../secret.txt",
    "..//secret.txt",
    ".././secret.txt",
    "../secret.txt/",
    "notes/deep/../../../secret.txt",
    "{out}/secret.txt",
    "//{out}/secret.txt",
    "/./{out}/secret.txt",
    "/proc/self/root{out}/secret.txt",
    "/proc/self/cwd/../secret.txt",
    "/proc/1/root{out}/secret.txt",
    "/dev/fd/../../{out}/secret.txt",
    "file://{out}/secret.txt",
    "link.txt",
    "./link.txt",
    "notes/../link.txt",
    "folder/secret.txt",
    "folder/../secret.txt",
    "folder/./secret.txt",
    "up/secret.txt",
    "up/workspace/../secret.txt",
    "root{out}/secret.txt",
    "chain/secret.txt",
    "chain/../secret.txt",
    "relative.txt",
    "notes/relative.txt",
    "loop/secret.txt",
    "loop",
    "..\\secret.txt",
    "%2e%2e/secret.txt",
    "..%2fsecret.txt",
    "\u2024\u2024/secret.txt",
    "\uff0e\uff0e/secret.txt",
    "..\x00/secret.txt",
    "notes\x00/../../secret.txt",
    "~/secret.txt",
    "$PWD/../secret.txt",
    "pipe",
    "a/" * 300 + "../" * 301 + "secret.txt",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET)
    root = tmp_path / "workspace"
    (root / "notes" / "deep").mkdir(parents=True)
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "relative.txt").symlink_to("../secret.txt")
    (root / "notes" / "relative.txt").symlink_to("../../secret.txt")
    (root / "folder").symlink_to(tmp_path)
    (root / "up").symlink_to("..")
    (root / "root").symlink_to("/")
    (root / "chain").symlink_to("folder")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    return root


def calling(registry: Registry) -> Calling:
    message = Received(
        key="k",
        session="s",
        user="u",
        source="cli",
        address=Address("cli", "u"),
        text="t",
        at=datetime.now(UTC),
    )
    return Calling("k", "s", message, registry)


async def said(registry: Registry, name: str, **given: object) -> tuple[str, bool]:
    (result,) = await registry.answers(
        [ToolUse(id="c", name=name, input=given)], calling(registry), 1, again=False
    )
    return str(result.content), bool(result.is_error)


def test_there_are_forty_paths() -> None:
    assert len(set(PATHS)) >= 40


@pytest.mark.parametrize("path", PATHS)
async def test_no_path_leads_outside(root: Path, path: str) -> None:
    registry = Registry(files.tools(Workspace(root)), 30_000)
    path = path.format(out=root.parent, base=root.parent.name)
    before = {one.name for one in root.parent.iterdir()}
    for name, given in (
        ("read", {}),
        ("list_files", {}),
        ("write", {"content": "overwritten"}),
        ("edit", {"old": SECRET, "new": "overwritten"}),
    ):
        text, _ = await said(registry, name, path=path, **given)
        assert SECRET not in text, name
    assert (root.parent / "secret.txt").read_text() == SECRET
    assert {one.name for one in root.parent.iterdir()} == before


async def test_a_command_reaches_no_file_outside(root: Path) -> None:
    registry = Registry(shell.tools(root, 10), 30_000)
    out = root.parent / "secret.txt"
    for command in (
        f"cat {out}",
        "cat ../secret.txt",
        "cat link.txt folder/secret.txt up/secret.txt",
        f"cp {out} notes/ && cat notes/secret.txt",
        f"ln {out} notes/hard; cat notes/hard",
        f"cd / && cat {shlex.quote(str(out))[1:]}",
        "cat /etc/passwd /proc/1/environ",
        f"dd if={out} 2>&1",
        f"tar cf - {root.parent} | od -c",
        f"echo overwritten > {out}; rm -f {out}; mv {out} notes/",
    ):
        text, _ = await said(registry, "exec", command=command)
        assert SECRET not in text, command
        assert "root:" not in text, command
    assert out.read_text() == SECRET
    # A kernel that cannot confine a command runs none.
    text, _ = await said(registry, "exec", command="echo works > a.txt && cat a.txt")
    assert text.startswith("works") == supported()


@pytest.mark.skipif(not supported(), reason="the kernel cannot confine a command")
async def test_a_file_of_the_workspace_is_no_module(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent may be started in its workspace, where the model writes what it likes."""
    out = root.parent / "written.txt"
    (root / "ctypes.py").write_text(f"open({str(out)!r}, 'w').close()\n")
    monkeypatch.chdir(root)
    registry = Registry(shell.tools(root, 10.0), 1_000)
    text, _ = await said(registry, "exec", command="echo works")
    assert text.startswith("works")
    assert not out.exists()
