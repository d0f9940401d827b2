"""What a reviewer is shown of a fact that waits. Pure."""

from __future__ import annotations

from services.agent_memory.facts.schemas import AddFactInput
from services.agent_memory.facts.writes.statements import Place, Statement
from shared.review.reviews import About
from shared.review.schemas import Waiting

STORE = "facts"


def about(statement: Statement) -> About:
    return about_row(statement.place, statement.provenance.agent_name)


def about_row(place: Place, agent: str | None) -> About:
    kind, _, name = place.scope.partition(":")
    return About(place.scope, name if kind == "mission" else None, agent, place.user_id)


def waiting_of(statement: Statement, given: AddFactInput, rules: list[str]) -> Waiting:
    return Waiting(
        **about(statement)._asdict(),
        store=STORE,
        rules=rules,
        content=in_words(statement.subject, statement.predicate, statement.object),
        body=given,
        source_kind=statement.provenance.source_kind,
        source_claim=statement.provenance.source_claim,
    )


def in_words(subject: str, predicate: str, value: str) -> str:
    return f"{subject} — {predicate} — {value}"
