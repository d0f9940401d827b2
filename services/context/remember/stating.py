"""States in the graph what messages state as facts. A fact that fails is reported, and fails no request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from services.context import stores
from services.context.forwarding.owners import Owner
from services.context.remember.lasting import scope
from services.context.remember.routing import Piece
from services.context.remember.schemas import RememberInput, StatedFact
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import AppError
from shared.sentences.triples import Triple, triples

# The most facts that an owner takes in a write.
_BATCH = 100
_WHY = "its sentence states a fact"


class ToState(NamedTuple):
    """A fact of a piece. `at` is the index of its line in the answer."""

    at: int
    piece: Piece
    triple: Triple


def to_state(request: RememberInput, pieces: Iterable[tuple[int, Piece]]) -> list[ToState]:
    """What users and agents state. What must not outlive its mission states nothing."""
    if request.ttl_hours is not None:
        return []
    found = [
        ToState(at, piece, triple)
        for at, piece in pieces
        if piece.source_kind in ("user", "agent") and not piece.number
        for triple in triples(piece.text, _speaker(request, piece))
    ]
    return found[:_BATCH]


def _speaker(request: RememberInput, piece: Piece) -> str | None:
    """The name of the user who speaks, if it is known. What an agent says of itself is no fact."""
    if piece.source_kind != "user":
        return None
    return request.user_id if piece.speaker in (None, piece.role) else piece.speaker


async def state(
    owner: Owner,
    principal: Principal,
    request: RememberInput,
    facts: Sequence[ToState],
    deadline: Deadline,
    request_id: str,
) -> dict[int, list[StatedFact]]:
    """What became of the facts, by the index of their line. A retry states nothing twice: what is known stays."""
    if not facts:
        return {}
    body = msgspec.json.encode({"facts": [_fact(request, fact) for fact in facts]})
    lines: defaultdict[int, list[StatedFact]] = defaultdict(list)
    try:
        answer = await owner.ask("POST", "/api/kg/batch", principal, deadline, request_id, body=body)
    except AppError as error:
        for fact in facts:
            lines[fact.at].append(_refused(fact, error))
        return lines
    for fact, result in zip(facts, answer["results"], strict=True):
        lines[fact.at].append(_stated(request, fact, result))
    return lines


def _fact(request: RememberInput, fact: ToState) -> dict[str, Any]:
    fields = {
        **fact.triple._asdict(),
        "scope": scope(request),
        "user_id": request.user_id,
        "agent_name": request.caller,
        "source_kind": fact.piece.source_kind,
        "valid_from": fact.piece.occurred_at,
        "recalled_from": request.recalled_from,
        "dispatch_id": request.dispatch_id,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _stated(request: RememberInput, fact: ToState, result: Mapping[str, Any]) -> StatedFact:
    return StatedFact(
        subject=fact.triple.subject,
        predicate=fact.triple.predicate,
        object=fact.triple.object,
        status=result["status"],
        why=_WHY,
        id=result["id"],
        handle=stores.FACTS.handle(result["id"]),
        scope=scope(request),
        closed=result["closed"],
        disputes=result["disputes"],
    )


def _refused(fact: ToState, error: AppError) -> StatedFact:
    subject, predicate, value, _ = fact.triple
    return StatedFact(subject, predicate, value, status="refused", why=error.detail)
