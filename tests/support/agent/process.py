"""The agent as a process, with its settings, its terminal, and SIGKILL."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from local.database import ROOT
from local.process import free_ports
from tests.support.agent.bot_api import TOKEN, FakeBotApi
from tests.support.agent.provider import FakeProvider

TOKENS = {"ada": "ada-http-token", "ops": "ops-http-token"}
TELEGRAM_USER = 4_711
_READY_SECONDS = 120


def settings_text(
    name: str, provider: FakeProvider, port: int, *, kind: str, bot: FakeBotApi | None, more: str = ""
) -> str:
    base = provider.url if kind == "anthropic" else f"{provider.url}/v1"
    telegram = "" if bot is None else _telegram(bot)
    return f"""
name = "{name}"
workspace = "workspace"
{more}
[model]
provider = "{kind}"
model = "claude-sonnet-4-5"
base_url = "{base}"
api_key_env = "MODEL_KEY"
[prompt]
context_tokens = 500
[[prompt.blocks]]
name = "soul"
text = "You are {name}, who is brief."
[channels.http]
port = {port}
[channels.http.tokens]
ada = {{ env = "ADA_TOKEN" }}
ops = {{ env = "OPS_TOKEN", operator = true }}
{telegram}"""


def _telegram(bot: FakeBotApi) -> str:
    return f"""
[channels.telegram]
token_env = "BOT_TOKEN"
users = {{ "{TELEGRAM_USER}" = "tom" }}
base_url = "{bot.base_url}"
debounce = 0.2
poll = 5
"""


class AgentProcess:
    """`answers` holds what the terminal has shown, by the id of the line that was answered."""

    def __init__(self, folder: Path, url: str, token: str, module: str = "scrubjay_agent") -> None:
        self.folder, self._url, self._token, self._module = folder, url, token, module
        folder.mkdir(parents=True, exist_ok=True)
        (self.port,) = free_ports(1)
        self.answers: dict[str, set[str]] = {}
        self._reading: asyncio.Task[None] | None = None

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def configure(self, text: str) -> None:
        (self.folder / "agent.toml").write_text(text)

    async def start(self) -> None:
        """Returns when it answers over HTTP."""
        with (self.folder / "agent.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                self._module,
                str(self.folder / "agent.toml"),
                "--cli",
                "--json",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=self._environment(),
                cwd=ROOT,
            )
        self._reading = asyncio.create_task(self._read())
        await asyncio.wait_for(self._ready(), _READY_SECONDS)

    def _environment(self) -> dict[str, str]:
        paths = [str(ROOT / "clients/python/src"), str(ROOT / "clients/agent/src"), str(ROOT)]
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(paths),
            "SCRUBJAY_URL": self._url,
            "SCRUBJAY_TOKEN": self._token,
            "MODEL_KEY": "model-test-key",
            "BOT_TOKEN": TOKEN,
            "ADA_TOKEN": TOKENS["ada"],
            "OPS_TOKEN": TOKENS["ops"],
        }

    async def _ready(self) -> None:
        while True:
            if self._process.returncode is not None:
                raise RuntimeError((self.folder / "agent.log").read_text()[-3_000:])
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            await asyncio.sleep(0.05)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            with suppress(ValueError):
                given: dict[str, Any] = json.loads(line)
                self.answers.setdefault(given["id"], set()).add(given["text"])

    async def type(self, name: str, text: str) -> None:
        """A dead agent reads nothing."""
        assert self._process.stdin is not None
        with suppress(ConnectionError):
            self._process.stdin.write(json.dumps({"id": name, "text": text}).encode() + b"\n")
            await self._process.stdin.drain()

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._end()

    async def stop(self) -> int:
        with suppress(ProcessLookupError):
            self._process.terminate()
        return await self._end()

    async def _end(self) -> int:
        status = await self._process.wait()
        if self._reading is not None:
            await self._reading
        return status
