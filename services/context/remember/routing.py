"""Cuts what was said into pieces and chooses where each goes. Pure: the same words always go to the same place.

The rules understand English. Anything else goes into the mission if one is named, or else to the agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from services.context.remember.schemas import RememberInput, Role, Store
from shared.provenance import AboutCode, SourceKind, utc
from shared.render import before_items
from shared.text import is_blank
from shared.tokens.boundaries import boundary

# Several pieces fit into a mission's budget. An entry larger than the whole budget would be refused.
PIECE = 8_000
# A message shows early what it is.
_LOOKED_AT = 1_000
_KINDS: Mapping[Role, SourceKind] = {
    "user": "user",
    "assistant": "agent",
    "tool": "tool",
    "system": "document",
}

_WORD = re.compile(r"\w")
_STEP = re.compile(r"^[ \t]*(?:step )?\d{1,2}[.):]\s", re.M | re.I)
_STEPS = 3
_LEARNED = (
    (
        "lesson_learned",
        re.compile(
            r"\blessons? learn(?:ed|t)\b|^lesson:|\b(?:I|we)(?:'ve| have)? learn(?:ed|t)\b|\bturns out\b"
            r"|\broot cause (?:is|was)\b|\bnext time\b|\bshould have\b",
            re.I | re.M,
        ),
    ),
    (
        "skill_heuristic",
        re.compile(
            r"(?:^|[.!?:]\s+)(?:please )?(?:always|never|avoid|prefer|don't|do not|make sure|remember (?:to|that)"
            r"|from now on|rule of thumb|tip:)\s",
            re.I | re.M,
        ),
    ),
    (
        "domain_pattern",
        re.compile(r"\b(?:usually|typically|tends? to|every time|as a rule|whenever)\b", re.I),
    ),
)
_DECIDED = re.compile(r"\b(?:decided|chose|agreed|opted|settled on|going with|will go with)\b", re.I)
_REASON = re.compile(r"\b(?:because|since|due to|so that)\s+([^\n]{3,500})", re.I)
_ASKED = re.compile(r"^(?:please\s|(?:can|could|will|would) you\s|you (?:must|should|need to)\s)", re.I)
_CHANGED = re.compile(
    r"\b(?:changed|moved|switched|went|upgraded|downgraded|migrated|scaled|rolled back)\b", re.I
)
_FROM_TO = re.compile(
    r"\bfrom ((?:[^\s,;]{1,60} ){1,4})to ([^\s,;]{1,60}(?: [^\s,;]{1,60}){0,3}?)"
    r"(?=[,;!?\n]|\.(?:\s|$)| (?:because|since|due)\b|$)",
    re.I,
)


class Piece(NamedTuple):
    """`item` is the message's index in the request, `number` the piece's index in the message."""

    role: Role | None
    item: int
    number: int
    text: str
    source_kind: SourceKind
    speaker: str | None
    occurred_at: datetime | None
    seq: int | None
    about: AboutCode


class Place(NamedTuple):
    """Where a message goes. Without a store it is not kept. `fields` are those of its context type."""

    store: Store | None
    kind: str | None
    why: str
    fields: Mapping[str, str] = {}


def route(
    text: str,
    source_kind: SourceKind,
    speaker: str | None,
    caller: str,
    in_mission: bool,
    *,
    temporary: bool = False,
) -> Place:
    """The place of a message. `text` must hold at least its beginning; what is `temporary` stays in its mission."""
    text = text[:_LOOKED_AT].strip()
    if not temporary and source_kind in ("user", "agent") and (kind := _learned(text)):
        return Place("agent_memory", kind, f"it reads like a {kind.replace('_', ' ')}")
    if in_mission:
        return _happened(text, source_kind, speaker, caller)
    if source_kind == "tool":
        return Place(None, None, "a tool's output is of a mission: say which in mission_namespace")
    return Place("agent_memory", "domain_pattern", "no mission was named, so the agent keeps it")


def _learned(text: str) -> str | None:
    if len(_STEP.findall(text)) >= _STEPS:
        return "task_blueprint"
    return next((kind for kind, words in _LEARNED if words.search(text)), None)


def _happened(text: str, source_kind: SourceKind, speaker: str | None, caller: str) -> Place:
    def entry(kind: str, why: str, **fields: str) -> Place:
        return Place("psychic_cache", kind, f"{why}, in a mission", fields)

    if _DECIDED.search(text) and (reason := _said(_REASON, text)):
        return entry("decision", "a decision with its reason", decision_rationale=reason[1].strip())
    if _CHANGED.search(text) and (change := _said(_FROM_TO, text)):
        return entry("state_change", "a change", state_from=change[1].strip(), state_to=change[2].strip())
    if source_kind == "user" and _ASKED.match(text):
        return entry("directive", "a user's request", directive_target=caller)
    source = source_kind if speaker is None or is_blank(speaker) else speaker
    return entry("intel", "what was said", intel_source=source)


def _said(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match, if each of its groups says something."""
    match = pattern.search(text)
    return None if match is None or any(map(is_blank, match.groups())) else match


def pieces(request: RememberInput) -> Iterator[tuple[Piece, str | None]]:
    """Every piece of the request, with the reason why it is not kept, or None."""
    latest: dict[str, str] = {}
    for whole in _messages(request):
        why = _nothing_new(whole, latest)
        if why is not None:
            yield whole, why
            continue
        own = before_items(whole.text)
        for number, text in enumerate(split(own)):
            yield whole._replace(number=number, text=text), _NO_WORDS if is_blank(text) else None
        if own != whole.text:
            yield whole._replace(text=whole.text[len(own) :]), _RECALLED


_NO_WORDS = "it has no words"
_RECALLED = "it is a block of context: what was recalled is not learned again"


def _nothing_new(message: Piece, latest: dict[str, str]) -> str | None:
    """`latest` is what each speaker said last: who says 80, 81 and 80 again means 80."""
    if message.role == "system":
        return "a system message is an instruction, not an event"
    if not _WORD.search(message.text):
        return _NO_WORDS
    if is_answer(message.text) or not _WORD.search(before_items(message.text)):
        return _RECALLED
    speaker, content = message.speaker or message.source_kind, " ".join(message.text.casefold().split())
    if latest.get(speaker) == content:
        return "the request says it twice"
    latest[speaker] = content
    return None


def _messages(request: RememberInput) -> Iterator[Piece]:
    at = utc(request.occurred_at)
    if request.text is not None:
        kind = request.source_kind or "agent"
        yield Piece(None, 0, 0, request.text, kind, request.speaker, at, request.seq, request)
    for place, message in enumerate(request.messages):
        counted = None if request.seq is None else request.seq + place
        yield Piece(
            role=message.role,
            item=place,
            number=0,
            text=message.content,
            source_kind=_KINDS[message.role],
            speaker=message.name or (request.user_id if message.role == "user" else None) or message.role,
            occurred_at=utc(message.occurred_at, f"messages[{place}].occurred_at") or at,
            seq=counted if message.seq is None else message.seq,
            about=message,
        )


def is_answer(text: str) -> bool:
    """Whether a tool passed on one of our own answers: JSON with a context block or with handles."""
    if not text.lstrip().startswith("{") or ('"context_block"' not in text and '"handle"' not in text):
        return False
    try:
        document: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return any("context_block" in found or "handle" in found for found in _objects(document))


def _objects(document: Any) -> Iterator[dict[str, Any]]:
    """The document, the objects in its envelope, and the items of its lists."""
    for value in (document, *document.values()):
        if isinstance(value, dict):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, dict))


def split(text: str) -> Iterator[str]:
    """Pieces of at most PIECE characters, cut after a paragraph, a line, a sentence or a word."""
    text = text.strip()
    while len(text) > PIECE:
        cut = text.rfind("\n\n", PIECE // 2, PIECE) + 1 or boundary(text, PIECE // 2, PIECE)
        yield text[:cut].strip()
        text = text[cut:].strip()
    if text:
        yield text
