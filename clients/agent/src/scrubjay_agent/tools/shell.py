"""Commands in the workspace."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError

_MOST_BYTES = 1_000_000


class Command(Arguments, kw_only=True):
    command: Annotated[str, Meta(min_length=1, max_length=20_000, description="For /bin/sh.")]


class Shell:
    def __init__(self, workspace: Path, seconds: float) -> None:
        self._workspace, self._seconds = workspace, seconds

    async def run(self, given: Command, _: Calling) -> str:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # what lies in the current folder is no module: it may be the workspace
            "-m",
            "scrubjay_agent.workspace.confined",
            str(self._workspace),
            given.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._environment(),
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._seconds):
                output = await _read(process)
                status = await process.wait()
        except TimeoutError:
            raise ToolError(f"the command took more than {self._seconds:g} s") from None
        finally:
            # What it started in the background ends with it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return f"{output.decode('utf-8', 'replace')}\n[exit status {status}]"

    def _environment(self) -> dict[str, str]:
        """None of the agent's secrets."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self._workspace),
            "TMPDIR": str(self._workspace),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }


async def _read(process: asyncio.subprocess.Process) -> bytes:
    """The beginning of what it writes; the rest is read and dropped."""
    assert process.stdout is not None
    kept = b""
    while piece := await process.stdout.read(65_536):
        kept += piece[: _MOST_BYTES - len(kept)]
    return kept


def tools(workspace: Path, seconds: float) -> list[Tool]:
    shell = Shell(workspace, seconds)
    description = "Run a shell command in the workspace. It reaches no other files than those."
    return [Tool("exec", description, Command, shell.run, repeatable=False, confined=True)]
