"""Statements that replace each other, and neighbours that do not. Pure: a seed always gives the same ones."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from bench.conflict.material import EVENTS, PEOPLE, RELATIONS, SAME_SUBJECT, SYSTEMS, Relation

_BEGINNING = datetime(2026, 1, 5, 9, tzinfo=UTC)
_MOST_REPLACEMENTS = 4
_MIXED = 0.4


class Statement(NamedTuple):
    """`fact` is None for a statement that nothing replaces. Without a time, statements are in order of arrival."""

    text: str
    fact: int | None
    value: str
    occurred_at: datetime | None


class Fact(NamedTuple):
    question: str
    held_out: bool
    newest: Statement
    older: Sequence[Statement]


class Material(NamedTuple):
    """`statements` are in order of arrival."""

    facts: Sequence[Fact]
    neighbours: Sequence[Statement]
    statements: Sequence[Statement]


def generate(facts: int, *, seed: int = 1, held_out: bool = False) -> Material:
    """`held_out` uses only the templates that no rule was tuned on."""
    chance = random.Random(seed)
    made = list(_facts(chance, facts, held_out=held_out))
    neighbours = list(_neighbours(chance, facts))
    chains = [[*fact.older, fact.newest] for fact in made] + [[neighbour] for neighbour in neighbours]
    return Material(made, neighbours, _arrivals(chance, chains))


def _facts(chance: random.Random, count: int, *, held_out: bool) -> Iterator[Fact]:
    pairs = [(relation, subject) for relation in RELATIONS for subject in relation.subjects]
    chance.shuffle(pairs)
    for number, (relation, subject) in enumerate(pairs[:count]):
        values = chance.sample(relation.values, k=chance.randint(2, _MOST_REPLACEMENTS + 1))
        texts = list(_texts(chance, relation, subject, values, held_out=held_out))
        timed = chance.random() < 0.5
        start = _BEGINNING + timedelta(days=chance.randrange(60))
        chain = [
            Statement(text, number, value, start + timedelta(days=9 * place) if timed else None)
            for place, (text, value) in enumerate(zip(texts, values, strict=True))
        ]
        yield Fact(relation.question.format(s=subject), held_out, chain[-1], chain[:-1])


def _texts(
    chance: random.Random, relation: Relation, subject: str, values: Sequence[str], *, held_out: bool
) -> Iterator[str]:
    """Most facts keep their form; the others change it with each statement."""
    templates = relation.held_out if held_out else relation.seen
    form = chance.choice(templates)
    mixed = chance.random() < _MIXED
    for value in values:
        template = chance.choice(templates) if mixed else form
        yield _sentence(template.format(s=subject, v=value))


def _neighbours(chance: random.Random, count: int) -> Iterator[Statement]:
    groups = [*SAME_SUBJECT, *EVENTS]
    for place in range(count // 2):
        group = groups[place % len(groups)]
        subject = SYSTEMS[(place // len(groups)) % len(SYSTEMS)]
        person = PEOPLE[(place // len(groups)) % len(PEOPLE)]
        timed = chance.random() < 0.5
        for hours, template in enumerate(group):
            at = _BEGINNING + timedelta(hours=hours) if timed else None
            yield Statement(_sentence(template.format(s=subject, p=person)), None, "", at)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text.endswith(".") else text


def _arrivals(chance: random.Random, chains: Sequence[Sequence[Statement]]) -> list[Statement]:
    """All chains interleaved. Statements with a time arrive in any order, the others as they were made."""
    placed: list[tuple[float, Statement]] = []
    for chain in chains:
        times = [chance.random() for _ in chain]
        if chain[0].occurred_at is None:
            times.sort()
        placed.extend(zip(times, chain, strict=True))
    return [statement for _, statement in sorted(placed, key=lambda pair: pair[0])]
