"""A store's search statement: both arms, the evidence of their union, and word statistics.

`statements/` holds its four forms, and what a search of a copy in memory asks. Braces enclose a table, columns or a
predicate; a colon marks a value.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import asyncpg
import msgspec
from pgvector import HalfVector

from shared.database.postgres import Connection
from shared.search.counts import EXACT_UP_TO, MOST_SELECTED, SELECTED_SHARE

_FOLDER = Path(__file__).with_name("statements")
_PARTS = {name: (_FOLDER / f"{name}.sql").read_text() for name in ("asked", "selecting", "there")}
_COMMENT = re.compile(r"^(?: *--.*)?\n", re.MULTILINE)
_VALUE = re.compile(r"(?<!:):([a-z_]+)")

# The item columns that `candidate_from_row` reads. A store adds its kind and its agent's name.
ITEM_COLUMNS = (
    "i.scope, i.created_at, i.occurred_at, i.session_id, i.seq, i.speaker, i.user_id, i.source_kind,"
    " i.source_claim, i.superseded_by, i.paths, i.symbols, i.step"
)
# Predicates that narrow a search to some ids, or to ids up to a bound.
ONLY = "(:only::bigint[] is null or item_id = any(:only))"
UNTIL = "(:until::bigint is null or item_id <= :until)"

# That on an item, where a key of any users may see all.
ANYBODYS = ":users::text[] is null or u.user_id is null or u.user_id = any(:users)"


class Source(NamedTuple):
    """What a store brings to its search statement: constants of the code, never a user's text.

    Its predicates name columns without their table, and fields of `Values` after a colon.
    """

    items: str
    """The table of its items, one row each."""
    chunks: str
    """The table of the items' chunks, with their words."""
    by_words: str
    """The view of `chunks` for the words' index."""
    vectors: str
    """The table of the chunks' vectors."""
    compared: str
    """The view of `vectors` for a search that compares them all."""
    columns: str
    """The columns of the item's row `i` that make a candidate."""
    within: str
    """The predicate on a row of `chunks` or `vectors`: in the scope, narrowed by ONLY and UNTIL."""
    counted: str
    """The predicate on the rows of `chunks` that count as searched."""
    copied: str = "c.tenant = :tenant and c.scope = s.name"
    """The predicate on the rows `c` of `chunks` that the copy of a scope `s` holds: those that `counted` counts."""
    visible: str = "u.user_id is null or u.user_id = any(:users)"
    """The predicate on an item's row `u`: a key of some users or missions may see it."""
    indexed: str = "true"
    """The predicate on the rows of `vectors` that the HNSW index holds."""
    sizes: str = "null::bigint[]"
    """How many items the scope holds, by its parts and in their order; null: as many as chunks were searched."""
    hidden: str = "false"
    """Of a chunk's row `c`: `within` leaves it out, although it has not expired and `counted` counts it."""
    text: str = "i.content"
    """The whole text of an item's row `i`, where it is asked for."""
    key: str = "id"
    """The column of `items` that chunks and vectors know as `item_id`."""
    live: Mapping[str, str] = MappingProxyType({})
    """More columns of a candidate `k` and its item, by their names: they change although the item's row does not."""


class Values(msgspec.Struct, frozen=True, kw_only=True):
    """The values of a search statement. Its parameters are numbered in this order."""

    tenant: str
    configs: list[str]
    texts: list[str]
    """The words to look for are those of each text, read with its text search configuration."""
    terms: list[str]
    """More words, as they are indexed."""
    vector: HalfVector | None
    """None: search by text only."""
    model: str
    """Only this model's vectors are compared."""
    depth: int
    """Rows per arm."""
    keys: list[str]
    """The prefixes of the scope's indexed words, from `scope_key`."""
    documents: int | None = None
    """Chunks in the scope; None: the statement counts them."""
    common_words: list[str] = []
    """These words select no rows, except the two rarest. Every word counts in the score."""
    common_df: list[int] = []
    """How many chunks contain each common word."""
    scope: str | list[str]
    """The value that the store's predicate compares with."""
    only: list[int] | None = None
    """The only ids that may be found."""
    until: int | None = None
    """The last id that may be found."""
    users: list[str] | None = None
    """Only items about these users, or about no user, may be found. Word statistics still cover everyone's."""
    missions: list[str] | None = None
    """Only items of these missions, or of no mission, may be found."""
    reader: str | None = None
    """The agent that reads what it keeps private, where `missions` are given."""

    @property
    def bounded(self) -> bool:
        return self.users is not None or self.missions is not None


class Statement(NamedTuple):
    """SQL, and the names of its parameters $1, $2 and so on."""

    sql: str
    parameters: tuple[str, ...]

    def arguments(self, values: Values) -> list[Any]:
        """Raises ValueError for a value that the statement would ignore."""
        by_name = msgspec.structs.asdict(values)
        ignored = [
            name for name, value in by_name.items() if value is not None and name not in self.parameters
        ]
        if ignored:
            raise ValueError(f"the statement takes no {', '.join(ignored)}")
        return [by_name[name] for name in self.parameters]


class Forms(NamedTuple):
    """The forms of a store's search statement. The planner cannot choose: it misjudges pgvector's filtered scans.

    Searches for some users or missions have forms of their own, so that no other plan has to allow for them.
    """

    exact: Statement
    exact_of_users: Statement
    approximate: Statement
    """Needs HNSW_SETTINGS in its transaction, and an HNSW index over the store's vectors."""
    approximate_of_users: Statement
    last_by: str
    """Selects a tenant's ($1) last id at a time ($2)."""

    def of(self, values: Values, *, approximate: bool) -> Statement:
        if approximate:
            return self.approximate_of_users if values.bounded else self.approximate
        return self.exact_of_users if values.bounded else self.exact


def search_forms(source: Source) -> Forms:
    """Each form answers at least one row; its `item_id` is null when nothing was found."""
    return Forms(
        exact=filled("exact", source, Values),
        exact_of_users=filled("exact_of_users", source, Values),
        approximate=filled("approximate", source, Values),
        approximate_of_users=filled("approximate_of_users", source, Values),
        last_by=_text("last_by", source),
    )


def filled(name: str, source: Source, values: type[msgspec.Struct]) -> Statement:
    """The statement of a file, with what the store brings. Its parameters are fields of `values`."""
    text = _text(name, source)
    used = set(_VALUE.findall(text))
    parameters = tuple(field for field in values.__struct_fields__ if field in used)
    assert used == set(parameters), f"{name}: {used - set(parameters)} are no values"
    return Statement(_VALUE.sub(lambda match: f"${parameters.index(match[1]) + 1}", text), parameters)


def _text(name: str, source: Source) -> str:
    text = (_FOLDER / f"{name}.sql").read_text()
    for part, words in _PARTS.items():
        text = text.replace(f"{{{part}}}\n", words)
    text = _COMMENT.sub("", text)
    live = "".join(f", {column} as {name}" for name, column in source.live.items())
    arrays = "".join(
        f", array_agg({column} order by k.place) as live_{name}" for name, column in source.live.items()
    )
    for field, value in {
        **source._asdict(),
        "live": live,
        "live_arrays": arrays,
        "most_selected": MOST_SELECTED,
        "selected_share": SELECTED_SHARE,
        "most_read": EXACT_UP_TO,
    }.items():
        text = text.replace(f"{{{field}}}", str(value))
    return text


def scope_key(tenant: str, scope: str) -> str:
    """The prefix of a scope's indexed words. 32 bits are enough: a collision only costs a recheck."""
    return hashlib.sha256(f"{tenant}\x1f{scope}".encode()).hexdigest()[:8]


async def search(
    connection: Connection, forms: Forms, values: Values, *, approximate: bool = False
) -> list[asyncpg.Record]:
    statement = forms.of(values, approximate=approximate)
    rows: list[asyncpg.Record] = await connection.fetch(statement.sql, *statement.arguments(values))
    return rows


async def last_by(connection: Connection, forms: Forms, tenant: str, time: datetime) -> int:
    """An upper bound for the ids recorded by `time`. Imports give old items new ids, so the bound may be too high."""
    return await connection.fetchval(forms.last_by, tenant, time) or 0
