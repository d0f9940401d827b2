"""Keeps the facts of notes in step with their texts, inside the transaction that writes or removes the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from services.agent_memory.facts.writes.sources import SourceFacts, Triple, replace
from services.agent_memory.facts.writes.statements import Place
from services.agent_memory.vault.conversion.formats import MARKDOWN, format_of
from services.agent_memory.vault.folders import scope_of, user_of
from services.agent_memory.vault.graph.notes import Statement
from shared.database.postgres import Connection

_AT_ONCE = 2_000
"""Statements, or one note's."""


def states_facts(path: str) -> bool:
    return format_of(path) == MARKDOWN


def facts_of(path: str, statements: Iterable[Statement] = (), piece: int = 1) -> SourceFacts:
    """What a note states, from one of its pieces on."""
    scope = scope_of(path)
    triples = [Triple(*statement) for statement in statements]
    return SourceFacts(Place(scope, user_of(scope), path), triples, piece)


async def replace_facts(c: Connection, tenant: str, facts: Iterable[SourceFacts], *, written_by: str) -> None:
    """Callers hold the locks of the paths. Files that are no notes state nothing."""
    for some in _batches(each for each in facts if states_facts(each.path)):
        await replace(c, tenant, some, written_by)


def _batches(facts: Iterable[SourceFacts]) -> Iterator[Sequence[SourceFacts]]:
    some: list[SourceFacts] = []
    size = 0
    for each in facts:
        some.append(each)
        size += 1 + len(each.triples)
        if size >= _AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some
