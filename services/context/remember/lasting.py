"""What of a message lasts beyond its mission: a user's preference, a promise with a date, an account of what happened.

Pure. The rules understand English and take only what clearly is such a statement. What they take is also kept where it
would be without them, so that nobody who finds it there today misses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

import msgspec

from services.context.remember.due import due
from services.context.remember.routing import Piece
from services.context.remember.schemas import RememberInput

LastingKind = Literal["preference", "commitment", "episode"]
# A preference or a promise is short. A longer text mentions one among other things.
_SHORT = 600
_SENTENCE = re.compile(r"[^.!?\n]+")
_PREFERS = re.compile(
    r"\A\s*(?:please,? |and |but |also,? |by the way,? )?"
    r"(?:I(?: would| really| generally| usually| always|'d)? (?:prefer|rather)\b"
    r"|I(?: am|'m) (?:allergic to|vegetarian|vegan)\b"
    r"|my (?:favou?rite|preferred) \w+(?: \w+)? (?:is|are)\b"
    r"|(?:please )?(?:always )?(?:call|address) me (?!back|when|if|at|on|later|tomorrow)\w)",
    re.I,
)
_PROMISES = re.compile(r"\bI(?:'ll| will| shall| promise to| commit to)\b(?! (?:not|never|be able)\b)", re.I)
_TELLS = re.compile(
    r"\A\s*#{0,3} ?(?:(?:session|meeting|call|conversation|incident|sprint|daily|weekly) "
    r"(?:summary|recap|notes|minutes|report|retrospective)|summary of (?:the |our |today's )?(?:session|meeting|call"
    r"|conversation|incident)|post-?mortem|recap)\b",
    re.I,
)


class Lasting(msgspec.Struct, frozen=True):
    """A memory beyond its mission. `fields` are those of its kind."""

    kind: LastingKind
    content: str
    why: str
    fields: dict[str, Any] = {}


def lasting(request: RememberInput, piece: Piece, now: datetime) -> Lasting | None:
    """`now` is when a piece was said that does not say so. What must not outlive its mission does not last."""
    if request.ttl_hours is not None or piece.source_kind not in ("user", "agent"):
        return None
    if _TELLS.search(piece.text):
        return Lasting("episode", piece.text, "it tells what happened")
    if len(piece.text) > _SHORT or piece.number:
        return None
    if request.user_id is not None and piece.source_kind == "user" and (words := _preference(piece.text)):
        return Lasting("preference", words, "a user's preference")
    return _promise(request, piece, now)


def scope(request: RememberInput) -> str:
    """Who finds it: the user, or else the mission, or else the agent."""
    if request.user_id is not None:
        return f"user:{request.user_id}"
    if request.mission_namespace is not None:
        return f"mission:{request.mission_namespace}"
    return f"agent:{request.caller}"


def _sentences(text: str) -> Iterator[str]:
    return (match[0].strip() for match in _SENTENCE.finditer(text))


def _preference(text: str) -> str | None:
    return text if any(_PREFERS.search(sentence) for sentence in _sentences(text)) else None


def _promise(request: RememberInput, piece: Piece, now: datetime) -> Lasting | None:
    """A promise counts with the one date that its sentence names, if that is still to come."""
    said = piece.occurred_at or now
    for sentence in _sentences(piece.text):
        if _PROMISES.search(sentence) and (at := due(sentence, said)) is not None and at > now:
            return Lasting("commitment", piece.text, "a promise with a date", _parties(request, piece, at))
    return None


def _parties(request: RememberInput, piece: Piece, at: datetime) -> dict[str, Any]:
    agent, user = request.caller, request.user_id
    by_user = piece.source_kind == "user"
    parties = {
        "owed_by": (user or piece.speaker) if by_user else agent,
        "owed_to": agent if by_user else user,
    }
    return {name: who for name, who in parties.items() if who is not None} | {"due_at": at}
