"""What of a message lasts beyond its mission: a user's preference, a promise with a date, an account of what happened.

Pure. The rules understand English and take only what clearly is such a statement. What they take is also kept where it
would be without them, so that nobody who finds it there today misses it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from services.context.remember.routing import Piece
from services.context.remember.schemas import RememberInput
from shared.sentences.lasting import is_preference, promised, tells

LastingKind = Literal["preference", "commitment", "episode"]
# A preference or a promise is short. A longer text mentions one among other things.
_SHORT = 600


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
    if tells(piece.text):
        return Lasting("episode", piece.text, "it tells what happened")
    if len(piece.text) > _SHORT or piece.number:
        return None
    if request.user_id is not None and piece.source_kind == "user" and is_preference(piece.text):
        return Lasting("preference", piece.text, "a user's preference")
    return _promise(request, piece, now)


def scope(request: RememberInput) -> str:
    """Who finds it: the user, or else the mission, or else the agent."""
    if request.user_id is not None:
        return f"user:{request.user_id}"
    if request.mission_namespace is not None:
        return f"mission:{request.mission_namespace}"
    return f"agent:{request.caller}"


def _promise(request: RememberInput, piece: Piece, now: datetime) -> Lasting | None:
    """A promise that is due already is none."""
    said = piece.occurred_at or now
    at = next((each for each in promised(piece.text, said) if each > now), None)
    if at is None:
        return None
    return Lasting("commitment", piece.text, "a promise with a date", _parties(request, piece, at))


def _parties(request: RememberInput, piece: Piece, at: datetime) -> dict[str, Any]:
    agent, user = request.caller, request.user_id
    by_user = piece.source_kind == "user"
    parties = {
        "owed_by": (user or piece.speaker) if by_user else agent,
        "owed_to": agent if by_user else user,
    }
    return {name: who for name, who in parties.items() if who is not None} | {"due_at": at}
