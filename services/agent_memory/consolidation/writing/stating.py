"""States learned facts. What contradicts one follows the rule of facts: it ends, or both stand disputed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from services.agent_memory.consolidation import queries_changes
from services.agent_memory.consolidation.changes import LONGER, NO_LONGER, Change, FactRow, Touched, touched
from services.agent_memory.consolidation.learned import LearnedFact
from services.agent_memory.consolidation.writing.place import Writing, change
from services.agent_memory.facts.names import entity_key, predicate_key
from services.agent_memory.facts.schemas import WrittenFact
from services.agent_memory.facts.writes.queries import lock_scopes
from services.agent_memory.facts.writes.recording import record, resolve
from services.agent_memory.facts.writes.statements import Group, Provenance, Statement, writer_of
from shared.database.postgres import Connection
from shared.provenance import TRUSTED

_MOST_NAME, _MOST_PREDICATE, _MOST_VALUE = 300, 200, 4_000
UNFIT = "a name or a value is empty or too long"


class _Stated(NamedTuple):
    fact: LearnedFact
    statement: Statement
    result: WrittenFact

    @property
    def group(self) -> tuple[str, str]:
        return self.statement.subject_key, self.statement.predicate_key


async def state(c: Connection, writing: Writing, learned: Sequence[LearnedFact]) -> list[Change]:
    """Call it in a transaction. What a statement changes of other rows is part of the answer."""
    unfit = [change("fact", "skipped", fact, why=UNFIT) for fact in learned if not _fits(fact)]
    facts = [fact for fact in learned if _fits(fact)]
    if not facts:
        return unfit
    now = await lock_scopes(c, writing.tenant, [writing.place.scope])
    statements = [_statement(writing, fact) for fact in facts]
    await resolve(c, writing.tenant, statements)
    groups = sorted({_group(each.group) for each in statements})
    before = await queries_changes.of_groups(c, writing.tenant, writing.place, groups)
    results = await record(c, writing.tenant, statements, now, writing.principal.key)
    ids = [row.id for row in before]
    after = await queries_changes.of_groups(c, writing.tenant, writing.place, groups, ids)
    stated = list(map(_Stated, facts, statements, results))
    return [*unfit, *_said(stated, set(ids)), *_changed(stated, before, after)]


def _fits(fact: LearnedFact) -> bool:
    return (
        len(fact.subject) <= _MOST_NAME
        and len(fact.predicate) <= _MOST_PREDICATE
        and len(fact.object) <= _MOST_VALUE
        and all(map(entity_key, (fact.subject, fact.object)))
        and bool(predicate_key(fact.predicate))
    )


def _group(group: Group) -> tuple[str, str]:
    return group.subject_key, group.predicate_key


def _statement(writing: Writing, fact: LearnedFact) -> Statement:
    return Statement(
        place=writing.place,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        subject_key=entity_key(fact.subject),
        predicate_key=predicate_key(fact.predicate),
        object_key=entity_key(fact.object),
        confidence=fact.confidence,
        valid_from=fact.valid_from,
        # What a tool or a document said ends nothing that was learned of a user or an agent.
        single=fact.single and fact.trust in TRUSTED,
        writer=writer_of(writing.principal, writing.place.scope, "derived"),
        provenance=Provenance(
            written_by=writing.principal.key,
            agent_name=writing.source.agent_name,
            source_kind="derived",
            source_claim=fact.trust,
        ),
    )


def _said(stated: Sequence[_Stated], known: set[int]) -> Iterator[Change]:
    for each in stated:
        if each.result.status == "known" and each.result.id in known:
            yield change("fact", "confirmed", each.fact, each.result.id)
        for disputed in each.result.disputes:
            yield change("fact", "disputed", each.fact, disputed)


def _changed(
    stated: Sequence[_Stated], before: Sequence[FactRow], after: Sequence[FactRow]
) -> Iterator[Change]:
    """The rows that are new, and those that are not as they were."""
    of_row = {each.result.id: each.fact for each in stated}
    of_group: defaultdict[tuple[str, str], list[_Stated]] = defaultdict(list)
    for each in stated:
        of_group[each.group].append(each)
    known = {row.id for row in before}
    for row in after:
        if row.id not in known:
            yield change("fact", "opened", of_row.get(row.id) or of_group[row.group][-1].fact, row.id)
    left = touched(before, after)
    for row in before:
        if row.id in left:
            yield _ended(of_group[row.group], row, left[row.id])


def _ended(stated: Sequence[_Stated], row: FactRow, undoing: Touched) -> Change:
    """A row is closed by another value, or replaced by a longer one of its own."""
    same = [each.fact for each in stated if each.statement.object_key == row.object_key]
    others = [each.fact for each in stated if each.statement.object_key != row.object_key]
    if same and not undoing.after.believed:
        return change("fact", "replaced", same[-1], row.id, why=LONGER, undoing=undoing)
    return change("fact", "closed", (others or same)[-1], row.id, why=NO_LONGER, undoing=undoing)
