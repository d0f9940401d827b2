"""Turns of a session, by which a conversation that is sent again adds only what is new. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from services.context.remember.routing import Piece

Entry = TypeVar("Entry")

# A session may well hold a shorter text twice, so only its number identifies it.
_TELLING = 40


class Turn(NamedTuple):
    """Identifies a turn within its session."""

    speaker: str | None
    seq: int | None
    content_sha256: str


def turn_of(piece: Piece) -> Turn | None:
    """None for a short piece without a number, because a session may hold it twice."""
    if piece.seq is None and len(piece.text) < _TELLING:
        return None
    return Turn(piece.speaker, piece.seq, hashlib.sha256(piece.text.encode()).hexdigest())


def taken(stored: Mapping[Turn, list[Entry]], turn: Turn | None) -> Entry | None:
    """The oldest entry that holds the turn. Without a number, what is said again is another turn, so it takes it."""
    if turn is None or not (entries := stored.get(turn)):
        return None
    return entries.pop(0) if turn.seq is None else entries[0]
