"""Transcripts as steps, and which steps show the lines that a session's patch changes. Pure but for `load`.

A line of a transcript is {seq, kind, tool, key, text}. A step is a tool's call with what the agent said before it and
with its output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.demo.transcript import clean, json_lines

# Shorter lines, such as `else:` or `return None`, are in every file.
DISTINCT = 20
_CURSOR = re.compile(r"^<<<<< START CURSOR >>>>>\n(.*?)^<<<<< END CURSOR", re.M | re.S)
_NUMBERED = re.compile(r"^(\d+):(.*)$", re.M)
_NUMBERS = re.compile(r"edit (\d+):(\d+)\n")


class Step(NamedTuple):
    id: str
    session: str
    seq: int
    tool: str
    thought: str
    call: str
    output: str

    @property
    def content(self) -> str:
        return "\n\n".join(part for part in (self.thought, f"{self.tool}: {self.call}", self.output) if part)


class Session(NamedTuple):
    name: str
    task: str
    steps: list[Step]


class Change(NamedTuple):
    """One edit of a file: the text that it replaces, if it says so, and the lines that it writes."""

    seq: int
    replaced: str
    written: list[str]


def load(folder: Path) -> list[Session]:
    return [_session(path.stem, json_lines(path)) for path in sorted(folder.glob("*.jsonl"))]


def _session(name: str, events: Sequence[Mapping[str, Any]]) -> Session:
    """Where the transcript lacks the task, what the agent first says about it stands for it."""
    said = [event["text"].strip() for event in events if event["kind"] in ("user", "assistant")]
    return Session(name, said[0], list(_steps(name, events)))


def _steps(name: str, events: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
    """Several calls in a row are a step each, with their results in order."""
    thought, calls = "", []
    for event in events[1:] if events[0]["kind"] == "user" else events:
        text = (event["text"] or "").replace("\0", "")
        if event["kind"] == "tool_call":
            calls.append((event, text))
        elif event["kind"] == "tool_result":
            call, called = calls.pop(0) if calls else (event, "")
            yield Step(f"{name}:{call['seq']}", name, call["seq"], event["tool"], thought, called, text)
            thought = ""
        else:
            thought = text.strip()


def changes(steps: Sequence[Step]) -> Iterator[Change]:
    for step in steps:
        match step.tool:
            case "Edit":
                given = json.loads(step.call)
                yield Change(step.seq, given["old_string"], given["new_string"].splitlines())
            case "Write":
                yield Change(step.seq, "", json.loads(step.call)["content"].splitlines())
            case "edit":
                before = [one.output for one in steps if one.seq < step.seq]
                yield Change(step.seq, _selected(step.call, before), step.call.splitlines()[1:-1])


def _selected(call: str, outputs: Sequence[str]) -> str:
    """The lines that an edit replaces: those that it numbers, or those under the cursor of the last listing."""
    listing = next((text for text in reversed(outputs) if _CURSOR.search(text)), "")
    if numbers := _NUMBERS.match(call):
        wanted = range(int(numbers[1]), int(numbers[2]) + 1)
        return "\n".join(match[2] for match in _NUMBERED.finditer(listing) if int(match[1]) in wanted)
    cursor = _CURSOR.search(listing)
    return "\n".join(match[2] for match in _NUMBERED.finditer(cursor[1])) if cursor else ""


def gold(session: Session, among: Sequence[Step]) -> list[str]:
    """The steps whose output holds a text that the session's patch replaces, or lines that it wrote before.

    A line that an output showed before the edit is not the edit's.
    """
    patch = list(changes(session.steps))
    return [step.id for step in among if any(_shows(step, change, session) for change in patch)]


def _shows(step: Step, change: Change, session: Session) -> bool:
    output = _lines(step.output)
    replaced = _lines(change.replaced)
    if len("".join(replaced)) >= DISTINCT and _contains(output, replaced):
        return True
    if step.session != session.name or step.seq < change.seq:
        return False
    shown = {line for other in session.steps if other.seq < change.seq for line in _lines(other.output)}
    written = {line for line in map(str.strip, change.written) if len(line) >= DISTINCT} - shown
    return bool(written.intersection(output))


def _lines(text: str) -> list[str]:
    """Without indentation, numbers of lines and a diff's signs."""
    return [line.strip().lstrip("+-").strip() for line in clean(text).splitlines()]


def _contains(output: Sequence[str], part: Sequence[str]) -> bool:
    return "\n".join(part) in "\n".join(output)
