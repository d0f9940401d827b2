"""What a careful agent tells the cluster while it works: it sees one event after the other, and never ahead.

Findings are digests: of a file its path, purpose and signatures; of a command its errors and what it printed.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from bench.demo.digest import NOISE, allowance, digest, listing, pieces, telling
from bench.demo.transcript import (
    READS,
    Event,
    base,
    definitions,
    errors,
    failed,
    normal,
    sentences,
)
from shared.tokens import estimate_tokens

# A finding of this many characters is found and packed on its own.
PIECE = 700
# Requirements and signatures have little in common with each other: the fewer in a piece, the better each is found.
SHORT_PIECE = 350
_KEPT_WHOLE = 170
_CHECKPOINT_EVERY = 12
_FILES = {"write", "create", "edit", "multiedit", "notebookedit", "str_replace", "insert", "append"}
_QUIET = {"todowrite"}
_DECIDES = re.compile(
    r"\b(?:I(?:'| wi)ll|we(?:'| wi)ll|let's|let me|I need to|we need to|need to|should|must|will (?:now|use)|instead"
    r"|decided?|going to|the (?:fix|plan|approach|issue|problem)|to fix|we can(?:not)?|must not|don't)\b",
    re.I,
)
_DOCSTRING = re.compile(r"^(?:#!.*\n|#.*\n|\s*\n)*[rub]?(?:\"\"\"|''')\s*(.+?)(?:\n|\"\"\"|''')")
_FLAG = re.compile(r"add_argument\(\s*[\"']([^\"']+)[\"']")


class Write(NamedTuple):
    """One request of the agent; `path` is the API's."""

    path: str
    body: dict[str, Any]


class Agent:
    """Turns events into writes for one mission, in order."""

    def __init__(self, name: str, mission: str, session: str) -> None:
        self.name, self.mission, self.session = name, mission, session
        # The dispatch that this session works on; a fleet's orchestrator would have given it.
        self.dispatch = zlib.crc32(session.encode()) or 1
        self.tokens_written = 0
        self._writes = 0
        self._seen = 0
        self._task = ""
        self._last_said = ""
        self._calls: list[Event] = []
        self._read: dict[str, None] = {}
        self._changed: dict[str, None] = {}
        self._decisions: list[str] = []
        self._todos: list[dict[str, Any]] = []
        self._failures: dict[str, tuple[str, str]] = {}
        self._recovered: list[str] = []
        self._tools: dict[str, None] = {}
        self._failing = False

    def observe(self, event: Event) -> list[Write]:
        self._seen += 1
        writes = list(self._entries(event))
        if self._seen % _CHECKPOINT_EVERY == 0:
            writes.append(self._checkpoint(event))
        return writes

    def _entries(self, event: Event) -> Iterator[Write]:
        if event.kind == "user":
            yield from self._directive(event)
        elif event.kind == "assistant":
            yield from self._said(event)
        elif event.kind == "tool_call":
            self._tools.setdefault(event.tool or "shell")
            self._calls.append(event)
        else:
            yield from self._result(self._call_of(event), event)

    def _call_of(self, result: Event) -> Event:
        """The call that a result answers: several may be under way."""
        for call in self._calls:
            if (call.tool, call.key) == (result.tool, result.key):
                self._calls.remove(call)
                return call
        return result

    def _entry(self, event: Event, kind: str, content: str, **fields: Any) -> Write:
        self._writes += 1
        self.tokens_written += estimate_tokens(content)
        body = {
            "mission_id": self.mission,
            "context_type": kind,
            "content": content,
            "agent_name": self.name,
            "session_id": self.session,
            "seq": self._writes,
            "source_turn": event.seq,
            "dispatch_id": self.dispatch,
            **fields,
        }
        return Write("/api/psychic-cache/write", body)

    def _directive(self, event: Event) -> Iterator[Write]:
        self._task = self._task or event.text
        for piece in pieces(sentences(event.text), SHORT_PIECE):
            yield self._entry(
                event,
                "directive",
                piece,
                directive_target=self.name,
                directive_priority="high",
                speaker="user",
                source_kind="user",
            )

    def _said(self, event: Event) -> Iterator[Write]:
        said = sentences(event.text)
        decided = [one for one in said if _DECIDES.search(one)]
        reasons = [one for one in said if one not in decided]
        self._last_said = normal(event.text)[:300]
        if not said:
            return
        if decided and len(event.text) <= 2 * PIECE:
            self._decisions.append(decided[0][:300])
            yield self._entry(
                event,
                "decision",
                " ".join(decided),
                decision_rationale=" ".join(reasons)[:4000] or "the next step of the task",
            )
            return
        for piece in pieces(said, PIECE):
            yield self._intel(event, piece, "own reasoning", "agent")

    def _intel(self, event: Event, content: str, source: str, kind: str = "tool") -> Write:
        return self._entry(event, "intel", content, intel_source=source[:200], source_kind=kind)

    def _result(self, call: Event, result: Event) -> Iterator[Write]:
        if call.tool.lower() in _QUIET:
            self._todos = [todo for todo in call.arguments.get("todos", []) if isinstance(todo, dict)]
            return
        wrong = self._note_outcome(call, result)
        if call.tool.lower() in _FILES:
            yield from self._change(call, result, wrong)
        elif call.tool.lower() in READS and call.path:
            self._read.setdefault(call.path)
            yield from self._file(result, call.path, result.text, f"{call.tool} {base(call.path)}", call)
        else:
            yield from self._output(call, result, wrong)

    def _note_outcome(self, call: Event, result: Event) -> list[str]:
        """Errors of a result; one that a later run of the same tool does not have is a lesson."""
        reads = call.tool.lower() in READS
        if reads:
            return []
        wrong = errors(result.text) if failed(result.text) else []
        self._failing = bool(wrong)
        if wrong:
            self._failures[call.tool] = (_command(call), wrong[-1])
        elif call.tool in self._failures:
            command, why = self._failures.pop(call.tool)
            self._recovered.append(f"`{command}` failed: {why} What worked: `{_command(call)}`")
        return wrong

    def _change(self, call: Event, result: Event, wrong: list[str]) -> Iterator[Write]:
        path = call.path or result.path or call.key or "a file"
        old, new = str(call.arguments.get("old_string", "")), _new_text(call)
        if wrong:
            content = f"An edit of {base(path)} ({path}) failed:\n" + "\n".join(wrong[:5])
            yield self._intel(result, content, f"{call.tool} {base(path)}")
            return
        first = path not in self._changed and not old
        self._changed.setdefault(path)
        if first:
            yield self._entry(
                result,
                "output",
                f"Wrote {base(path)}: {_purpose(new) or self._last_said[:160] or 'a new file'}",
                output_url=path,
                output_summary=f"{len(new.splitlines())} lines",
            )
            if new:
                yield from self._file(result, path, new, f"{call.tool} {base(path)}", call, known=True)
            return
        before, after = _difference(old, new)
        yield self._entry(
            result,
            "state_change",
            f"Changed {base(path)} ({path}): {self._last_said[:200]}",
            state_from=before or "as it was",
            state_to=after or "changed",
        )

    def _file(
        self, event: Event, path: str, text: str, source: str, call: Event, *, known: bool = False
    ) -> Iterator[Write]:
        """Path and purpose, then the signatures, in pieces that name the file; short files as they are."""
        name = base(path)
        lines = text.splitlines()
        if estimate_tokens(text) <= _KEPT_WHOLE:
            yield self._intel(
                event, f"{name} ({path}):\n{text.strip()}" if lines else f"{path} is empty", source
            )
            return
        budget = allowance(text)
        if not known:
            head = f"{name} is at {path}, {len(lines)} lines. {_purpose(text)}"
            flags = _FLAG.findall(text)
            yield self._intel(event, head + (f" Arguments: {', '.join(flags)}" if flags else ""), source)
        listed = listing(definitions(text), budget)
        excerpt = _around(call, text)
        rest = [] if listed else digest(text, budget)
        for piece in [*pieces(listed, SHORT_PIECE, "\n"), *pieces([*excerpt, *rest], PIECE, "\n")]:
            yield self._intel(event, f"In {name}:\n{piece}", source)

    def _output(self, call: Event, result: Event, wrong: list[str]) -> Iterator[Write]:
        command = _command(call)
        kept = [line for line in telling(result.text) if line not in wrong]
        if estimate_tokens(result.text) > _KEPT_WHOLE:
            code = definitions(result.text)
            kept = listing(code, allowance(result.text)) if len(code) > 2 else digest(result.text)
        said = [*wrong[:6], *(line for line in kept if line not in wrong)]
        first, *others = list(pieces(said, PIECE, "\n")) or ["nothing was printed"]
        outcome = "failed" if wrong else "gave"
        yield self._intel(result, f"{command} {outcome}:\n{first}", f"{call.tool} {command}")
        for piece in others:
            yield self._intel(result, f"{command[:80]} also gave:\n{piece}", f"{call.tool} {command}")

    def _checkpoint(self, event: Event) -> Write:
        doing = [str(t.get("content")) for t in self._todos if t.get("status") == "in_progress"]
        waiting = [str(t.get("content")) for t in self._todos if t.get("status") == "pending"]
        prose = (
            f"Read {_names(self._read)}. Changed {_names(self._changed)}. "
            f"Now: {'; '.join(doing) or self._last_said[:200] or 'beginning'}"
        )
        return self._entry(
            event,
            "thread_checkpoint",
            f"Checkpoint at turn {event.seq}",
            turn_count=event.seq,
            active_dispatches=[str(self.dispatch)],
            open_decisions=self._decisions[-2:],
            pending_directives=waiting[:5],
            current_mission_namespaces=[self.mission],
            working_state_prose=prose[:2000],
        )

    def lessons(self) -> list[Write]:
        """What the session taught, for the agent's own memory."""
        task = normal(self._task or self._last_said)[:1000] or "a session without a stated task"
        context = {
            "task_description": task,
            "skills_used": list(self._tools)[:20],
            "outcome": "partial" if self._failing else "success",
            "mission_namespace": self.mission,
        }
        learned = [("lesson_learned", one) for one in dict.fromkeys(self._recovered)][-5:]
        plan = f"{sentences(task)[0][:250]} Read {_names(self._read)}; changed {_names(self._changed)}."
        if self._decisions:
            plan += f" Its last step: {self._decisions[-1]}"
        return [
            Write(
                "/api/agent-memory/commit",
                {
                    "agent_name": self.name,
                    "content": content,
                    "memory_type": kind,
                    "task_context": context,
                    "session_id": self.session,
                },
            )
            for kind, content in [*learned, ("task_blueprint", plan)]
        ]


def _command(call: Event) -> str:
    command = str(call.arguments.get("command") or call.arguments.get("pattern") or call.key or call.text)
    lines = [line for line in command.splitlines() if line.strip()]
    shown = normal(lines[0])[:160] if lines else call.tool
    description = call.arguments.get("description")
    return f"{shown} ({description})" if description and len(lines) > 1 else shown


def _new_text(call: Event) -> str:
    for field in ("content", "new_string", "new_str", "file_text"):
        if call.arguments.get(field):
            return str(call.arguments[field])
    if call.arguments:
        return ""
    lines = call.text.splitlines()[1:]
    return "\n".join(line for line in lines if line.strip() != "end_of_edit")


def _difference(old: str, new: str) -> tuple[str, str]:
    """Lines that an edit took out and put in, up to 300 characters of each."""
    before, after = old.splitlines(), new.splitlines()
    gone = [line.strip() for line in before if line not in after and line.strip()]
    came = [line.strip() for line in after if line not in before and line.strip()]
    return " ".join(gone)[:300], " ".join(came)[:300]


def _purpose(text: str) -> str:
    match = _DOCSTRING.match(text)
    return match[1].strip() if match else ""


def _around(call: Event, text: str) -> list[str]:
    """The lines that a file was opened for: those around the line that the call names."""
    numbers = re.findall(r"\b\d+\b", call.text) if not call.arguments else []
    above = re.search(r"^\((\d+) more lines above\)", text, re.M)
    lines = [line for line in text.splitlines() if not NOISE.search(line) or not line.strip()]
    if not numbers or not lines:
        return []
    place = int(numbers[0]) - (int(above[1]) if above else 0)
    near = lines[max(0, place - 6) : place + 6]
    return [line for line in near if line.strip()]


def _names(paths: Iterable[str]) -> str:
    return ", ".join(base(path) for path in paths) or "nothing yet"
