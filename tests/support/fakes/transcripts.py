"""Transcripts of made-up sessions, as Claude Code and Codex write them, with made-up secrets wherever text stands."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.attacks.secret_samples import SAMPLES, told

MARK = "lighthouse-of-sandgrave"
"""Stands beside each secret: what a search for it finds shows that the search would find a secret, too."""
_WORDS = (
    *(
        "ledger",
        "retry",
        "webhook",
        "schema",
        "index",
        "cursor",
        "tenant",
        "queue",
        "replica",
        "lock",
        "migration",
    ),
    *(
        "cache",
        "token",
        "budget",
        "parser",
        "stream",
        "timeout",
        "header",
        "payload",
        "digest",
        "router",
        "handler",
    ),
)
_PROGRAMS = (
    "pytest -q tests/unit",
    "git diff --stat",
    "make check",
    "ls -la src",
    "rg -n retry src",
    "python -m build",
)
_BEGAN = datetime(2026, 3, 1, tzinfo=UTC)

Record = dict[str, Any]


class Writer:
    """The same seed gives the same sessions."""

    def __init__(self, seed: int, secrets: bool = True) -> None:
        self._random = random.Random(seed)
        self._secrets = [told(kind) for kind in SAMPLES] if secrets else []
        self._planted = 0

    def claude_code(self, folder: Path, bytes_: int) -> Path:
        """Writes a session of about so many bytes below the folder."""
        session = self._uuid()
        path = folder / "-work-lantern" / f"{session}.jsonl"
        return self._write(path, self._claude_records(session), bytes_)

    def codex(self, folder: Path, bytes_: int) -> Path:
        session = self._uuid()
        path = folder / "2026/03/01" / f"rollout-2026-03-01T00-00-00-{session}.jsonl"
        return self._write(path, self._codex_records(session), bytes_)

    def _write(self, path: Path, records: Iterator[Record], bytes_: int) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            while file.tell() < bytes_:
                file.write(f"{json.dumps(next(records))}\n")
            # A turn that was begun is told to its end.
            file.write(f"{json.dumps(next(records))}\n")
        return path

    def _claude_records(self, session: str) -> Iterator[Record]:
        same: Record = {
            "sessionId": session,
            "cwd": "/home/ana/lantern",
            "gitBranch": "main",
            "isSidechain": False,
        }
        yield {"type": "summary", "summary": self._sentence(), "leafUuid": self._uuid()}
        for turn in range(10**9):
            said = {"role": "user", "content": self._text(400)}
            yield self._claude(same, turn, "user", said)
            for _ in range(self._random.randint(2, 6)):
                call, given, result, failed = self._call()
                use = {"type": "tool_use", "id": f"toolu_{self._uuid()}", "name": call, "input": given}
                yield self._claude(same, turn, "assistant", {"role": "assistant", "content": [use]})
                block = {
                    "type": "tool_result",
                    "tool_use_id": use["id"],
                    "content": result,
                    "is_error": failed,
                }
                yield self._claude(same, turn, "user", {"role": "user", "content": [block]})
            blocks = [
                {"type": "thinking", "thinking": self._text(200)},
                {"type": "text", "text": self._text(600)},
            ]
            yield self._claude(same, turn, "assistant", {"role": "assistant", "content": blocks})

    def _claude(self, same: Record, turn: int, kind: str, message: Record) -> Record:
        return {**same, "type": kind, "uuid": self._uuid(), "timestamp": self._time(turn), "message": message}

    def _codex_records(self, session: str) -> Iterator[Record]:
        yield self._codex(0, "session_meta", {"id": session, "cwd": "/home/ana/lantern"})
        for turn in range(10**9):
            yield self._codex(turn, "response_item", self._message("user", "input_text"))
            for _ in range(self._random.randint(2, 6)):
                _, given, result, failed = self._call()
                id_ = f"call_{self._uuid()}"
                command = {"cmd": given.get("command", "cat src/ledger.py")}
                call = {
                    "type": "function_call",
                    "name": "exec_command",
                    "call_id": id_,
                    "arguments": json.dumps(command),
                }
                yield self._codex(turn, "response_item", call)
                told = f"Wall time: 0.1 seconds\nProcess exited with code {int(failed)}\nOutput:\n{result}"
                output = {"type": "function_call_output", "call_id": id_, "output": told}
                yield self._codex(turn, "response_item", output)
            yield self._codex(turn, "response_item", self._message("assistant", "output_text"))

    def _codex(self, turn: int, kind: str, payload: Record) -> Record:
        return {"timestamp": self._time(turn), "type": kind, "payload": payload}

    def _message(self, role: str, kind: str) -> Record:
        return {"type": "message", "role": role, "content": [{"type": kind, "text": self._text(500)}]}

    def _call(self) -> tuple[str, Mapping[str, Any], str, bool]:
        """A tool, what it was given, what came of it, and whether it failed."""
        path = f"/home/ana/lantern/src/{self._random.choice(_WORDS)}_{self._random.randint(1, 400)}.py"
        kind = self._random.randrange(4)
        if kind == 0:
            return "Read", {"file_path": path}, self._lines(16_000), False
        if kind == 1:
            edit = {"file_path": path, "old_string": self._lines(300), "new_string": self._lines(300)}
            return "Edit", edit, "The file was updated.", False
        failed = self._random.random() < 0.2
        command = self._random.choice(_PROGRAMS)
        if self._random.random() < 0.3:
            command = f"{self._secret()} {command}"
        return "Bash", {"command": command}, self._lines(self._random.choice((300, 3_000, 20_000))), failed

    def _lines(self, most: int) -> str:
        """Lines of which one in forty holds a secret; sometimes one line without an end."""
        lines, size = [], 0
        while size < most:
            line = self._secret() if self._random.random() < 0.025 else self._sentence()
            lines.append(line)
            size += len(line) + 1
        return (" " if self._random.random() < 0.05 else "\n").join(lines)

    def _text(self, most: int) -> str:
        return f"{self._lines(self._random.randint(40, most))}\n{self._secret()}"

    def _secret(self) -> str:
        if not self._secrets:
            return MARK
        secret = self._secrets[self._planted % len(self._secrets)]
        self._planted += 1
        return f"{MARK} {secret}"

    def _sentence(self) -> str:
        return " ".join(self._random.choices(_WORDS, k=self._random.randint(4, 14)))

    def _time(self, turn: int) -> str:
        return (_BEGAN + timedelta(seconds=20 * turn)).isoformat().replace("+00:00", "Z")

    def _uuid(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
