"""What stands for messages that a compaction takes out, where the host gives no summary. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from services.cache.sessions.trail.cutting import Message
from services.cache.sessions.trail.messages import Block, TextBlock, ToolResult, ToolUse
from services.cache.sessions.trail.schemas import TrailEvent
from shared.tokens import CHARACTERS_PER_TOKEN, width, within
from shared.tokens.boundaries import boundary

_LINE, _LEAST = 200, 60
_MOST_TOKENS = 4_000
_HALF = _MOST_TOKENS * CHARACTERS_PER_TOKEN // 2
_LEFT_OUT = "[{} messages are left out here]"
_MARKED = re.compile(r"\[(\d{1,9}) messages are left out here\]")
_CUT_MARK = " […]"


def as_message(event: TrailEvent) -> Message:
    calls = frozenset(block.id for block in event.content if isinstance(block, ToolUse))
    answers = frozenset(block.tool_use_id for block in event.content if isinstance(block, ToolResult))
    return Message(event.seq, event.tokens, calls, answers, event.role == "assistant")


def extract(before: str | None, events: Sequence[TrailEvent]) -> str:
    """The lines of the summary of what came before, and a line for each message.

    Of more lines than fit, those in the middle are left out: the task stands at the beginning, and where the work is at
    the end.
    """
    lines = [*(before or "").splitlines(), *(line for event in events if (line := _line(event)))]
    if _fitting(lines, 2 * _HALF) < len(lines):
        # A host's own summary may have lines of any length.
        lines = [_beginning(line, _HALF - len(_CUT_MARK) - 1) for line in lines]
        # What was left out before is counted in the same mark.
        marks = [place for place, line in enumerate(lines) if _MARKED.fullmatch(line)]
        first = min([_fitting(lines, _HALF), *marks])
        last = max([len(lines) - _fitting(reversed(lines), _HALF), *(place + 1 for place in marks)])
        if first < last:
            lines[first:last] = [_LEFT_OUT.format(sum(map(_messages, lines[first:last])))]
    return "\n".join(lines) or _LEFT_OUT.format(len(events))


def _fitting(lines: Iterable[str], room: int) -> int:
    """How many of the first lines fit into a width."""
    return sum(wide <= room for wide in accumulate(width(line) + 1 for line in lines))


def _messages(line: str) -> int:
    """How many messages a line stands for: an earlier compaction may have left out some."""
    marked = _MARKED.fullmatch(line)
    return int(marked[1]) if marked else 1


def _line(event: TrailEvent) -> str:
    said = " ".join(" ".join(_words(event.content)).split())
    return f"{event.role}: {_beginning(said, _LINE)}" if said else ""


def _words(blocks: Iterable[Block]) -> Iterable[str]:
    for block in blocks:
        if isinstance(block, TextBlock):
            yield block.text[: 4 * _LINE]
        elif isinstance(block, ToolUse):
            yield f"calls {block.name}"
        elif isinstance(block, ToolResult):
            yield block.content[: 4 * _LINE]


def _beginning(text: str, longest: int) -> str:
    most = within(text, longest)
    if most == len(text):
        return text
    return text[: boundary(text, min(_LEAST, most), most)].rstrip() + _CUT_MARK
