"""Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from scrubjay.hooks.injecting import TAG
from scrubjay.transcripts.calls import ToolCall, told
from scrubjay.transcripts.entries import SAID, Entry, cut, project_of, time_of, without_blocks
from scrubjay.transcripts.waiting import Waiting

_BLOCKS = (
    TAG,
    "environment_context",
    "user_instructions",
    "permissions instructions",
    "INSTRUCTIONS",
    "skills_instructions",
)
_INSTRUCTIONS = "# AGENTS.md instructions"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_FAILED = re.compile(r"(?:exit(?:ed with)? code:? |\"exit_code\":\s?)(?!0\b)-?\d+", re.I)
_LOOKED_AT = 2_000


class Codex:
    """Reads a transcript from its first line on, which names the session."""

    title = "sessions of Codex"
    home = "~/.codex/sessions"
    marks = (b'_call"', b'"session_meta"', b'"turn_context"')

    def __init__(self) -> None:
        self._waiting = Waiting()
        self._session = self._project = ""

    def entries(self, record: Mapping[str, Any], line: int) -> Iterator[Entry]:
        payload = record.get("payload")
        if not isinstance(payload, Mapping):
            return
        if record.get("type") in ("session_meta", "turn_context"):
            # A session that another one was forked from names that, too, further down.
            self._session = self._session or str(payload.get("id") or "")
            self._project = project_of(payload.get("cwd")) or self._project
        elif record.get("type") == "response_item":
            yield from self._item(record, payload, line)

    def _item(self, record: Mapping[str, Any], item: Mapping[str, Any], line: int) -> Iterator[Entry]:
        kind = item.get("type")
        if kind == "message":
            yield from self._said(record, item, line)
        elif kind in _CALLS:
            at = time_of(record.get("timestamp"))
            self._waiting.add(
                ToolCall(str(item.get("call_id")), str(item.get("name", "shell")), _given(item), at)
            )
        elif kind in _RESULTS:
            yield from self._result(record, item)

    def _said(self, record: Mapping[str, Any], item: Mapping[str, Any], line: int) -> Iterator[Entry]:
        role = item.get("role")
        text = "\n".join(_texts(item.get("content")))
        for name in _BLOCKS:
            text = without_blocks(text, name)
        text = cut(text, SAID)
        if role not in ("user", "assistant") or not text or text.startswith(_INSTRUCTIONS):
            return
        yield Entry(
            id=f"{self._session}/{line}",
            text=text,
            speaker="user" if role == "user" else None,
            **self._where(record),
        )

    def _result(self, record: Mapping[str, Any], item: Mapping[str, Any]) -> Iterator[Entry]:
        call = self._waiting.take(str(item.get("call_id")))
        result = _output(item.get("output"))
        failed = _FAILED.search(result[:_LOOKED_AT]) is not None
        found = None if call is None else told(call, result, failed)
        if call is None or found is None:
            return
        yield Entry(
            id=f"{self._session}/{call.id}",
            text=found.text,
            paths=found.paths,
            step=found.step,
            about=found.about,
            **self._where(record),
        )

    def _where(self, record: Mapping[str, Any]) -> dict[str, Any]:
        return {"at": time_of(record.get("timestamp")), "session": self._session, "project": self._project}


def _given(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the tool was given: JSON in a text, a text, or the action of the shell."""
    given = item.get("arguments", item.get("input", item.get("action")))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {"input": given}
    return given if isinstance(given, Mapping) else {"input": str(given)}


def _texts(content: Any) -> Iterator[str]:
    for part in content if isinstance(content, list) else []:
        if isinstance(part, Mapping) and part.get("type") in ("input_text", "output_text", "text"):
            yield str(part.get("text", ""))


def _ran(text: str) -> str:
    """What a program said, without the figures that stand before it; a code that is not 0 is kept."""
    head, found, said = text.partition("\nOutput:\n")
    if not found or len(head) > _LOOKED_AT or "Wall time:" not in head:
        return text
    failed = _FAILED.search(head)
    return f"{failed[0]}\n{said}" if failed else said


def _output(output: Any) -> str:
    """The words of a result, which some versions wrap in JSON."""
    if isinstance(output, list):
        return "\n".join(_texts(output))
    if isinstance(output, Mapping):
        return str(output.get("content", output.get("output", "")))
    text = _ran(str(output or ""))
    if text.startswith('{"output"'):
        try:
            wrapped = json.loads(text)
        except ValueError:
            return text
        code = (wrapped.get("metadata") or {}).get("exit_code", 0)
        return f"exit code: {code}\n{wrapped.get('output', '')}" if code else str(wrapped.get("output", ""))
    return text
