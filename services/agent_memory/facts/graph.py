"""The facts of a question's entities, for assembly."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import asyncpg

from services.agent_memory.facts import queries, queries_graph
from services.agent_memory.facts.fading import weight
from services.agent_memory.facts.names import entity_key
from services.agent_memory.facts.queries_graph import Asked
from services.agent_memory.facts.words import Words, patterns
from services.agent_memory.vacancy import Vacancies
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.provenance import utc
from shared.search.evidence import GRAPH, SearchRequest, Triple
from shared.states.schemas import ChangedPart, KnownPart, gone, state_of_fact

MOST_ENTITIES = 10
MOST_TRIPLES = 5
"""Of each entity."""
_MOST_WORDS = 120
_OTHER_FILES = "vault"
"""The scope of files that lie in no folder of an agent, a mission or a user, nor in the shared one."""
_LONGEST_NAME = 4
"""In words, of a name that is looked up among aliases."""
_MOST_RUNS = 30
_SHORTEST_RUN = 3
_COMPUTED = ("overlap", "weight", "half_life_days")
_WORD = re.compile(r"\w[\w'’.&-]*")
_POSSESSIVE = re.compile(r"['’]s?$")


class Graph:
    def __init__(self, database: Database, vacancies: Vacancies) -> None:
        self._database = database
        self._vacancies = vacancies

    async def search(
        self, principal: Principal, request: SearchRequest, scopes: Sequence[str], deadline: Deadline
    ) -> list[Triple]:
        """At most five of each entity's and ten entities', those of aliases first."""
        tenant = principal.tenant
        seen = queries.bounds(principal, request.user_id)
        words = _WORD.findall(request.query)[:_MOST_WORDS]
        asked = Asked(
            scopes=[*scopes, _OTHER_FILES],
            user_id=request.user_id,
            as_of=utc(request.as_of, "as_of"),
            aliases=list(dict.fromkeys(names(words))),
            runs=list(dict.fromkeys(runs(words)))[:_MOST_RUNS],
            words=patterns(request.query),
        )

        rows = await self._database.run(
            tenant, lambda c: queries_graph.facts_of(c, tenant, seen, asked), deadline
        )
        self._vacancies.learn(tenant, GRAPH, found=bool(rows))
        return chosen(rows, request.query)


class FactStates:
    """What became of facts that somebody was given."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def changed(
        self, principal: Principal, agent: str, known: Sequence[KnownPart], deadline: Deadline
    ) -> list[ChangedPart]:
        seen, ids = queries.bounds(principal), [part.id for part in known]
        rows = await self._database.run(
            principal.tenant, lambda c: queries_graph.stated(c, principal.tenant, seen, ids), deadline
        )
        now = {row["id"]: row for row in rows}
        compared = (_compared(part, now.get(part.id)) for part in known)
        return [part for part in compared if part is not None]


def _compared(known: KnownPart, row: asyncpg.Record | None) -> ChangedPart | None:
    if row is None:
        return gone(known)
    said = (row["subject"], row["predicate"], row["object"])
    state = state_of_fact(*said, row["valid_to"], disputed=row["disputed"])
    if state == known.state:
        return None
    text = " — ".join(said) + (" (disputed)" if row["disputed"] else "")
    return ChangedPart(id=known.id, chunk=None, what="edited", state=state, text=text)


def names(words: Sequence[str]) -> Iterator[str]:
    """The keys of what may be a name: up to four words in a row, the longer first."""
    plain = [_POSSESSIVE.sub("", word).rstrip(".") for word in words]
    for length in range(_LONGEST_NAME, 0, -1):
        for start in range(len(words) - length + 1):
            yield entity_key(" ".join([*words[start : start + length - 1], plain[start + length - 1]]))


def runs(words: Sequence[str]) -> Iterator[str]:
    """The keys of capitalised words of three letters or more, as many in a row as there are, and then each."""
    run: list[str] = []
    for word in [*words, ""]:
        if word[:1].isupper():
            run.append(word)
        elif run:
            yield from _of_run(run)
            run = []


def _of_run(run: Sequence[str]) -> Iterator[str]:
    for part in ([*run], *([word] for word in run)) if len(run) > 1 else ([*run],):
        name = _POSSESSIVE.sub("", " ".join(part)).rstrip(".")
        if len(name) >= _SHORTEST_RUN:
            yield entity_key(name)


def chosen(rows: Sequence[asyncpg.Record], query: str) -> list[Triple]:
    """Of an entity, the facts that hold more of the question and faded less come first, then the newest."""
    entities: defaultdict[str, list[asyncpg.Record]] = defaultdict(list)
    for row in rows:
        entities[row["entity"]].append(row)
    found = list(entities.values())[:MOST_ENTITIES]
    asked = Words(query, (row["name"] for facts in found for row in facts[:1]))
    picked: dict[int, Triple] = {}
    for facts in found:
        triples = sorted((_triple(row, asked) for row in facts), key=lambda fact: -fact.overlap * fact.weight)
        for triple in triples[:MOST_TRIPLES]:
            picked.setdefault(triple.id, triple)
    return list(picked.values())


def _triple(row: asyncpg.Record, asked: Words) -> Triple:
    other = row["object"] if row["entity"] == row["subject_key"] else row["subject"]
    overlap = asked.held(f"{row['name']} {row['entity']}", f"{row['predicate_key']} {other}")
    faded = weight(row["predicate_key"], row["stated_at"], row["now"])
    names = (name for name in Triple.__struct_fields__ if name not in _COMPUTED)
    return Triple(
        **{name: row[name] for name in names},
        overlap=round(overlap, 4),
        weight=round(faded.weight, 4),
        half_life_days=faded.half_life_days,
    )
