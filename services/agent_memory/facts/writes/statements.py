"""What a request states, with the keys of its names and its provenance. Pure, but for the grants it checks."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import msgspec

from services.agent_memory.facts.names import entity_key, predicate_key
from services.agent_memory.facts.schemas import AddFactInput, Placed, Scoped
from services.agent_memory.facts.writes.spans import Writer
from shared.auth import Principal
from shared.errors import Forbidden
from shared.provenance import TRUSTED, Origin, SourceKind, utc

_OF_AN_AGENT = "this key has no grant for what an agent keeps outside of missions"


class Place(NamedTuple):
    """Facts of different places never change each other."""

    scope: str
    user_id: str | None = None
    source: str | None = None


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    written_by: str
    agent_name: str | None = None
    source_kind: SourceKind = "agent"
    source_claim: SourceKind | None = None
    recalled_from: int | None = None
    dispatch_id: int | None = None
    line: int | None = None
    """Where the source states it, if that is a file."""
    piece: int | None = None
    """The piece of the upload that states it."""


class Statement(msgspec.Struct, kw_only=True):
    """A triple that is stated. The keys of its entities are resolved when they are looked up."""

    place: Place
    subject: str
    predicate: str
    object: str
    subject_key: str
    predicate_key: str
    object_key: str
    provenance: Provenance
    writer: Writer
    confidence: float = 1.0
    valid_from: datetime | None = None
    """None: when it is recorded."""
    valid_to: datetime | None = None
    single: bool = False

    @property
    def group(self) -> Group:
        return Group(self.place, self.subject_key, self.predicate_key)


class Group(NamedTuple):
    """The values of a subject's predicate, in one place."""

    place: Place
    subject_key: str
    predicate_key: str


def place_of(principal: Principal, given: Placed) -> Place:
    """Raises Forbidden for a place that the key may not write to."""
    scope = scope_of(principal, given)
    kind, _, name = scope.partition(":")
    user = name if kind == "user" else given.user_id
    principal.require_user(user)
    return Place(scope, user)


def scope_of(principal: Principal, given: Scoped) -> str:
    """Raises Forbidden for a scope that the key may not write to."""
    scope = given.scope or _own_scope(given)
    principal.require_agent(given.agent_name)
    require_place(principal, scope)
    return scope


def require_place(principal: Principal, scope: str) -> None:
    """What an agent keeps for itself is closed to a key of some missions, unless it is the agent's."""
    principal.require_scope(scope)
    if scope.startswith("agent:") and principal.agent is None and principal.missions is not None:
        raise Forbidden(_OF_AN_AGENT)


def _own_scope(given: Scoped) -> str:
    if given.mission_namespace is not None:
        return f"mission:{given.mission_namespace}"
    return "shared" if given.agent_name is None else f"agent:{given.agent_name}"


def writer_of(principal: Principal, scope: str, kind: SourceKind) -> Writer:
    """Whose facts of the scope the key may close."""
    key = principal.key if principal.changes_only_its_own(scope) else None
    return Writer(kind in TRUSTED, principal.agent, key)


def stated(principal: Principal, fact: AddFactInput) -> Statement:
    """Raises Forbidden."""
    origin = Origin.of(principal, fact.source_kind)
    place = place_of(principal, fact)
    return Statement(
        place=place,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        subject_key=entity_key(fact.subject),
        predicate_key=predicate_key(fact.predicate),
        object_key=entity_key(fact.object),
        confidence=fact.confidence,
        valid_from=utc(fact.valid_from, "valid_from"),
        valid_to=utc(fact.valid_to, "valid_to"),
        single=fact.single,
        writer=writer_of(principal, place.scope, origin.kind),
        provenance=Provenance(
            written_by=principal.key,
            agent_name=fact.agent_name,
            source_kind=origin.kind,
            source_claim=origin.claim,
            recalled_from=fact.recalled_from,
            dispatch_id=fact.dispatch_id,
        ),
    )
