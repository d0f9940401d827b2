"""The two hosts: how each is installed, run without a person, and what its requests hold."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from local.database import ROOT

VERSIONS = {"@anthropic-ai/claude-code": "2.1.197", "@openai/codex": "0.169.0"}
_CLIENTS = ROOT / "clients"
_TURN_SECONDS = 120
_NONE: Mapping[str, str] = MappingProxyType({})
_STREAMED = ("--input-format", "stream-json", "--output-format", "stream-json")
# Notes how long each hook takes, from its first instruction to its last.
_TIMED = """#!/bin/sh
begun=$(date +%s%N)
{program} "$@"
code=$?
[ "$1" = hook ] && echo "$(( ($(date +%s%N) - begun) / 1000 ))" >> {log}
exit $code
"""


@dataclass(frozen=True)
class Tools:
    """What was installed into a folder that is thrown away."""

    bin: Path
    scrubjay: Path

    @classmethod
    def install(cls, folder: Path) -> Tools:
        packages = [f"{name}@{version}" for name, version in VERSIONS.items()]
        _run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages])
        # Its package leaves this step to whoever allows scripts of packages.
        _run(["node", str(folder / "node_modules/@anthropic-ai/claude-code/install.cjs")])
        _run([sys.executable, "-m", "venv", str(folder / "venv")])
        pip = [str(folder / "venv/bin/python"), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
        _run([*pip, str(_CLIENTS / "python")])
        return cls(folder / "node_modules/.bin", folder / "venv/bin/scrubjay")


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} failed: {(done.stderr or done.stdout)[-1_000:]}")


@dataclass
class Home:
    """A user's folder and a repository, with nothing else of this machine."""

    folder: Path
    tools: Tools
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in (self.bin, self.work):
            each.mkdir(parents=True)
        (self.work / ".git").mkdir()
        program = self.bin / "scrubjay"
        program.write_text(_TIMED.format(program=self.tools.scrubjay, log=self.folder / "hooks.log"))
        program.chmod(0o755)
        kept = {name: os.environ[name] for name in ("LANG", "TERM") if name in os.environ}
        paths = f"{self.bin}:{self.tools.bin}:{os.environ['PATH']}"
        self.environment = {**kept, "HOME": str(self.folder), "PATH": paths, **self.environment}

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def work(self) -> Path:
        return self.folder / "lantern"

    def hook_milliseconds(self) -> list[float]:
        log = self.folder / "hooks.log"
        return [int(line) / 1_000 for line in log.read_text().split()] if log.exists() else []

    def start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        return subprocess.Popen(
            command, cwd=self.work, env=self.environment, stdin=pipe, stdout=pipe, stderr=quiet, text=True
        )

    def run(self, command: Sequence[str]) -> str:
        """What the host says at its end. Raises CalledProcessError."""
        done = subprocess.run(
            command,
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TURN_SECONDS,
            check=True,
        )
        return done.stdout


class Host(Protocol):
    name: str

    def end(self) -> None: ...

    def prompt(self, text: str) -> str: ...

    def items(self, request: Mapping[str, Any]) -> list[str]: ...


class ClaudeCode:
    """One process for a session: one that resumes another's session renders its first messages anew."""

    name = "claude-code"

    def __init__(
        self, home: Home, model: str, *, installed: bool, headers: Mapping[str, str] = _NONE
    ) -> None:
        home.environment |= {
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_CUSTOM_HEADERS": "\n".join(f"{name}: {value}" for name, value in headers.items()),
            "ANTHROPIC_API_KEY": "a-key-of-nobody",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        plugin = ["--plugin-dir", str(_CLIENTS / "claude-code")] if installed else []
        self._home, self._options = home, [*plugin, "--allowedTools", "Bash"]
        self._process: subprocess.Popen[str] | None = None

    def prompt(self, text: str) -> str:
        if self._process is None:
            self._process = self._home.start(["claude", "-p", "--verbose", *_STREAMED, *self._options])
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        process.stdin.write(f"{json.dumps({'type': 'user', 'message': message})}\n")
        process.stdin.flush()
        said = (json.loads(line) for line in process.stdout)
        return next((str(each["result"]) for each in said if each["type"] == "result"), "")

    def end(self) -> None:
        if self._process is not None:
            self._process.communicate(timeout=_TURN_SECONDS)

    def items(self, request: Mapping[str, Any]) -> list[str]:
        """What the model reads, in its order, without the marks of what is to be cached: they move on."""
        parts = [*request.get("system", []), *request["tools"], *request["messages"]]
        return [json.dumps(_unmarked(part)) for part in parts]


class Codex:
    name = "codex"

    def __init__(
        self, home: Home, model: str, *, installed: bool, headers: Mapping[str, str] = _NONE
    ) -> None:
        self._home = home
        self._begun = False
        folder = home.folder / ".codex"
        folder.mkdir()
        provider = f'[model_providers.fake]\nname = "fake"\nbase_url = "{model}/v1"\nenv_key = "FAKE_KEY"\n'
        fields = ", ".join(f'"{name}" = "{value}"' for name, value in headers.items())
        own = f'model = "gpt-5"\nmodel_provider = "fake"\n{provider}http_headers = {{ {fields} }}\n'
        ours = (_CLIENTS / "codex/config.toml").read_text() if installed else ""
        (folder / "config.toml").write_text(f"{own}{ours}")
        if installed:
            shutil.copy(_CLIENTS / "codex/hooks.json", folder)
        home.environment |= {"FAKE_KEY": "a-key-of-nobody"}

    def prompt(self, text: str) -> str:
        which = ["exec", "resume", "--last"] if self._begun else ["exec"]
        self._begun = True
        free = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        return self._home.run(["codex", *which, *free, "--dangerously-bypass-hook-trust", text])

    def end(self) -> None:
        """Each prompt was a process of its own."""

    def items(self, request: Mapping[str, Any]) -> list[str]:
        return [
            json.dumps(part) for part in (request.get("instructions"), *request["tools"], *request["input"])
        ]


def _unmarked(part: Any) -> Any:
    """A message whose only block carried a mark is the text alone in the next request."""
    if isinstance(part, list):
        return [_unmarked(each) for each in part]
    if not isinstance(part, dict):
        return part
    found = {name: _unmarked(value) for name, value in part.items() if name != "cache_control"}
    content = found.get("content")
    if isinstance(content, str) and "role" in found:
        found["content"] = [{"type": "text", "text": content}]
    return found
