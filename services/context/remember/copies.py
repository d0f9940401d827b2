"""Keeps in long-term memory what lasts beyond its mission. A copy that fails is reported, and fails no request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from services.context import stores
from services.context.forwarding.owners import Owner
from services.context.remember.lasting import Lasting, lasting, scope
from services.context.remember.routing import Piece
from services.context.remember.schemas import Copy, RememberInput
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import AppError


class ToCopy(NamedTuple):
    """A piece that lasts. `at` is the index of its line in the answer."""

    at: int
    piece: Piece
    lasting: Lasting


def to_copy(request: RememberInput, pieces: Sequence[tuple[int, Piece]], now: datetime) -> list[ToCopy]:
    found = [ToCopy(at, piece, lasts) for at, piece in pieces if (lasts := lasting(request, piece, now))]
    return found[:_BATCH]


# The most memories that an owner takes in a write.
_BATCH = 100


async def keep(
    owner: Owner,
    principal: Principal,
    request: RememberInput,
    copies: Sequence[ToCopy],
    deadline: Deadline,
    request_id: str,
) -> dict[int, Copy]:
    """What became of each copy, by the index of its line. A retry copies nothing twice: what is known stays."""
    if not copies:
        return {}
    body = msgspec.json.encode({"memories": [_memory(request, copy) for copy in copies]})
    try:
        answer = await owner.ask("POST", "/api/memory/batch", principal, deadline, request_id, body=body)
    except AppError as error:
        return {copy.at: _refused(copy, error) for copy in copies}
    return {copy.at: _kept(copy, result) for copy, result in zip(copies, answer["results"], strict=True)}


def _memory(request: RememberInput, copy: ToCopy) -> dict[str, Any]:
    piece = copy.piece
    fields = {
        "kind": copy.lasting.kind,
        "scope": scope(request),
        "content": copy.lasting.content,
        "agent_name": request.caller,
        "user_id": request.user_id,
        "language": request.language,
        "session_id": request.session_id,
        "recalled_from": request.recalled_from,
        "source_kind": piece.source_kind,
        "speaker": piece.speaker,
        "occurred_at": piece.occurred_at,
        "seq": piece.seq if copy.lasting.kind == "episode" else None,
        **copy.lasting.fields,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _kept(copy: ToCopy, result: Mapping[str, Any]) -> Copy:
    return Copy(
        store=stores.LONG_TERM.name,
        kind=copy.lasting.kind,
        status=result["status"],
        why=copy.lasting.why,
        id=result["id"],
        handle=stores.LONG_TERM.handle(result["id"]),
        scope=result["scope"],
    )


def _refused(copy: ToCopy, error: AppError) -> Copy:
    return Copy(store=stores.LONG_TERM.name, kind=copy.lasting.kind, status="refused", why=error.detail)
