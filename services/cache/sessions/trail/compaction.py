"""What stands for messages that a compaction takes out, where the host gives no summary. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.cache.sessions.trail.cutting import Message
from services.cache.sessions.trail.messages import Block, TextBlock, ToolResult, ToolUse
from services.cache.sessions.trail.schemas import TrailEvent
from shared.tokens import CHARACTERS_PER_TOKEN, within
from shared.tokens.boundaries import boundary

_LINE, _LEAST = 200, 60
_MOST_TOKENS = 4_000
_LEFT_OUT = "[{} messages are left out here]"


def as_message(event: TrailEvent) -> Message:
    calls = frozenset(block.id for block in event.content if isinstance(block, ToolUse))
    answers = frozenset(block.tool_use_id for block in event.content if isinstance(block, ToolResult))
    return Message(event.seq, event.tokens, calls, answers, event.role == "assistant")


def extract(before: str | None, events: Sequence[TrailEvent]) -> str:
    """The summary of what came before, and a line for each message.

    Of more lines than fit, those in the middle are left out: the task stands at the beginning, and where the work is at
    the end.
    """
    lines = [line for event in events if (line := _line(event))]
    room = _MOST_TOKENS * CHARACTERS_PER_TOKEN
    most = max(2, room // (_LINE + 1))
    if len(lines) > most:
        kept = most // 2
        left_out = _LEFT_OUT.format(len(lines) - 2 * kept)
        lines = [*lines[:kept], left_out, *lines[-kept:]]
    head = [] if before is None else [before[: within(before, room)]]
    return "\n".join([*head, *lines]) or _LEFT_OUT.format(len(events))


def _line(event: TrailEvent) -> str:
    said = " ".join(" ".join(_words(event.content)).split())
    return f"{event.role}: {_beginning(said)}" if said else ""


def _words(blocks: Iterable[Block]) -> Iterable[str]:
    for block in blocks:
        if isinstance(block, TextBlock):
            yield block.text[: 4 * _LINE]
        elif isinstance(block, ToolUse):
            yield f"calls {block.name}"
        elif isinstance(block, ToolResult):
            yield block.content[: 4 * _LINE]


def _beginning(text: str) -> str:
    most = within(text, _LINE)
    if most == len(text):
        return text
    return text[: boundary(text, min(_LEAST, most), most)].rstrip() + " […]"
