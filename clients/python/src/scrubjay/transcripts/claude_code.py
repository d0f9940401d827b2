"""Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one record on each line. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scrubjay.hooks.injecting import TAG
from scrubjay.transcripts.calls import ToolCall, told
from scrubjay.transcripts.entries import SAID, Entry, cut, project_of, time_of, without_blocks
from scrubjay.transcripts.waiting import Waiting

# What the host, and not a person, put into a message.
_BLOCKS = (
    TAG,
    "system-reminder",
    "local-command-stdout",
    "local-command-caveat",
    "command-message",
    "command-name",
)
_INTERRUPTED = "[Request interrupted by user"


class ClaudeCode:
    """Reads a transcript from its first line on: a result is told with the call that an earlier line holds."""

    title = "sessions of Claude Code"
    home = "~/.claude/projects"
    marks = (b'"tool_use"',)
    """A line without any of these need not be parsed to know the calls that wait."""

    def __init__(self) -> None:
        self._waiting = Waiting()

    def entries(self, record: Mapping[str, Any], line: int) -> Iterator[Entry]:
        kind, message = record.get("type"), record.get("message")
        if kind not in ("user", "assistant") or not isinstance(message, Mapping) or record.get("isMeta"):
            return
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for place, block in enumerate(blocks if isinstance(blocks, list) else []):
            if isinstance(block, Mapping):
                yield from self._block(record, str(kind), block, place)

    def _block(
        self, record: Mapping[str, Any], kind: str, block: Mapping[str, Any], place: int
    ) -> Iterator[Entry]:
        if block.get("type") == "text":
            yield from self._said(record, kind, str(block.get("text", "")), place)
        elif block.get("type") == "tool_use" and isinstance(block.get("input"), Mapping):
            at = time_of(record.get("timestamp"))
            self._waiting.add(ToolCall(str(block.get("id")), str(block.get("name")), block["input"], at))
        elif block.get("type") == "tool_result":
            yield from self._result(record, block)

    def _said(self, record: Mapping[str, Any], kind: str, text: str, place: int) -> Iterator[Entry]:
        for name in _BLOCKS:
            text = without_blocks(text, name)
        text = cut(text, SAID)
        if not text or not record.get("uuid") or text.startswith(_INTERRUPTED):
            return
        yield Entry(
            id=str(record["uuid"]) + (f"#{place}" if place else ""),
            text=text,
            speaker=_speaker(record, kind),
            summary=bool(record.get("isCompactSummary")),
            **_where(record),
        )

    def _result(self, record: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[Entry]:
        call = self._waiting.take(str(block.get("tool_use_id")))
        failed = bool(block.get("is_error"))
        found = None if call is None else told(call, _text(block.get("content")), failed)
        if call is None or found is None:
            return
        yield Entry(
            id=call.id,
            text=found.text,
            paths=found.paths,
            step=found.step,
            about=found.about,
            **_where(record),
        )


def _where(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "at": time_of(record.get("timestamp")),
        "session": str(record.get("sessionId") or record.get("session_id") or ""),
        "project": project_of(record.get("cwd")),
    }


def _speaker(record: Mapping[str, Any], kind: str) -> str | None:
    if record.get("isSidechain"):
        return "subagent" if kind == "assistant" else None
    return "user" if kind == "user" else None


def _text(content: Any) -> str:
    """The words of a result; pictures are left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else json.dumps(content, ensure_ascii=False)
    texts = [
        str(part.get("text", ""))
        for part in content
        if isinstance(part, Mapping) and part.get("type") == "text"
    ]
    return "\n".join(texts)
