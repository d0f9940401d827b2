"""Calls of tools, in words: what was run, read or changed, and what came of it. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scrubjay.transcripts.entries import Step, cut

ASKED, CAME, READ = 2_000, 4_000, 600
"""Characters of what a tool was asked, of what came of it, and of a file that was read: the file has the rest."""
_TESTS = re.compile(
    r"\b(?:pytest|unittest|jest|vitest|rspec|phpunit|ctest|go test|cargo test|(?:npm|make|gradle|mvn) test)\b"
)
_ASSIGNED = re.compile(r"\w+=\S*")
_WRAPPERS = ("sudo", "env", "time", "nohup", "timeout", "nice", "command")
_MOST_WORDS = 4_000
_PATH_FIELDS = ("file_path", "path", "notebook_path", "filename")
# What Scrubjay answered is known there.
_OURS = re.compile(r"mcp__(?:plugin_)?scrubjay\w*|scrubjay[._]\w+")


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    tool: str
    given: Mapping[str, Any]
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Told:
    text: str
    step: Step | None
    paths: tuple[str, ...]
    about: tuple[str, ...]


def told(call: ToolCall, result: str, failed: bool) -> Told | None:
    """None for calls of Scrubjay itself."""
    if _OURS.match(call.tool):
        return None
    tell = _TELLERS.get(call.tool.lower(), _other)
    found = tell(call, result)
    topics = ("error",) if failed else ()
    return Told(found.text, found.step, found.paths, (f"tool: {call.tool}"[:100], *found.about, *topics))


def _run(call: ToolCall, result: str) -> Told:
    command = _command(call.given)
    step: Step = "test" if _TESTS.search(command[:_MOST_WORDS]) else "run"
    programs = tuple(f"command: {each}" for each in programs_of(command))
    return Told(_joined(f"$ {cut(command, ASKED)}", cut(result, CAME)), step, (), programs)


def _command(given: Mapping[str, Any]) -> str:
    value = given.get("command", given.get("cmd", given.get("input", "")))
    return shlex.join(map(str, value)) if isinstance(value, list) else str(value)


def programs_of(command: str) -> list[str]:
    """The programs that a shell command begins with: one for each part of it, without their paths."""
    found: dict[str, None] = {}
    for part in re.split(r"[|;&\n]+", command[:_MOST_WORDS]):
        words = [word for word in part.split() if not _ASSIGNED.fullmatch(word)]
        while len(words) > 1 and (words[0] in _WRAPPERS or words[0][0] in "-0123456789"):
            words = words[1:]
        name = words[0].rpartition("/")[2] if words else ""
        if re.fullmatch(r"[\w.+-]{1,40}", name):
            found[name] = None
    return list(found)[:5]


def _read(call: ToolCall, result: str) -> Told:
    paths = paths_of(call.given)
    return Told(_joined(f"Read {', '.join(paths)}", cut(result, READ)), "read", paths, ())


def _edit(call: ToolCall, result: str) -> Told:
    paths = paths_of(call.given)
    shown = "\n".join(_changes(call.given))
    return Told(
        _joined(f"Changed {', '.join(paths)}", cut(shown, CAME), cut(result, READ)), "edit", paths, ()
    )


def _changes(given: Mapping[str, Any]) -> list[str]:
    edits = given.get("edits")
    parts = edits if isinstance(edits, list) else [given]
    lines = []
    for part in parts:
        if isinstance(part, Mapping):
            lines += [f"- {line}" for line in str(part.get("old_string", "")).splitlines()]
            lines += [
                f"+ {line}" for line in str(part.get("new_string", part.get("content", ""))).splitlines()
            ]
    return lines


def _patch(call: ToolCall, result: str) -> Told:
    """Codex writes a patch, which names its files."""
    text = _command(call.given)
    paths = tuple(
        dict.fromkeys(re.findall(r"^\*\*\* (?:Add|Update|Delete) File: (\S[^\n]{0,400})$", text, re.M))
    )
    return Told(
        _joined("Changed " + ", ".join(paths), cut(text, CAME), cut(result, READ)), "edit", paths[:50], ()
    )


def _plan(call: ToolCall, result: str) -> Told:
    return Told(cut(json.dumps(call.given, ensure_ascii=False, indent=1), ASKED), "plan", (), ())


def _other(call: ToolCall, result: str) -> Told:
    asked = "\n".join(f"{name}: {value}" for name, value in call.given.items())
    return Told(
        _joined(f"{call.tool} {cut(asked, ASKED)}", cut(result, CAME)), None, paths_of(call.given), ()
    )


def paths_of(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that a call names."""
    found = [given.get(name) for name in _PATH_FIELDS]
    return tuple(
        path for path in found if isinstance(path, str) and 0 < len(path) <= 500 and "\n" not in path
    )


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part.strip())


Teller = Callable[[ToolCall, str], Told]

_TELLERS: Mapping[str, Teller] = {
    **dict.fromkeys(
        ("bash", "shell", "exec_command", "local_shell", "shell_command", "container.exec"), _run
    ),
    **dict.fromkeys(("read", "notebookread", "view_image", "read_file"), _read),
    **dict.fromkeys(("edit", "write", "multiedit", "notebookedit"), _edit),
    **dict.fromkeys(("todowrite", "update_plan", "exitplanmode"), _plan),
    "apply_patch": _patch,
}
