"""How much of a content the context of its session shows already. Includes the SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from services.cache.sessions.objects.parts import Part
from services.cache.sessions.transactions import Held
from shared.database.postgres import Connection

# Lines of a content that are looked up. Of a part with more lines than its share, those with the least hashes are.
_MOST_LINES, _LEAST_OF_PART = 500, 4


class Seen(NamedTuple):
    likeness: float
    """The share of a part's lines that objects show whole."""
    like: UUID | None
    """The object that shows most of them."""


UNSEEN = Seen(0.0, None)

# $3 hashes of lines, $4 any of them. An object's first chunk holds the hashes of its lines. `offset 0` has each chunk
# read by its key, before a word is compared. Only the latest objects are, however many tiny ones a session holds.
SHOWN_LINES = """
select t.line, (array_agg(m.id order by m.place desc))[1] as id
from (
    select o.id, o.place, c.tsv
    from (
        select o.id, o.place, o.number from sessions.semantic_objects o
        where o.tenant = $1 and o.session_id = $2 and o.current_fidelity = 0 and o.superseded_by is null
        order by o.place desc limit 1000
    ) o
    cross join lateral (
        select c.tsv from sessions.object_chunks c
        where c.tenant = $1 and c.item_id = o.number and c.chunk = 0 offset 0
    ) c
    where c.tsv @@ $4::text::tsquery
    order by o.place desc limit 100
) m
join unnest($3::text[]) t(line) on m.tsv @@ ('''=' || t.line || '''')::tsquery
group by t.line
"""


async def seen(connection: Connection, held: Held, parts: Sequence[Part]) -> list[Seen]:
    """By the lines of each part. A line that is shown only in short, or by an older version, is new again."""
    if not held.last_place:
        return [UNSEEN] * len(parts)
    most = max(_LEAST_OF_PART, _MOST_LINES // max(1, len(parts)))
    asked = [part.lines[:most] for part in parts[:_MOST_LINES]]
    lines = list({line for each in asked for line in each})
    if not lines:
        return [UNSEEN] * len(parts)
    any_of = " | ".join(f"'={line}'" for line in lines)
    rows = await connection.fetch(SHOWN_LINES, held.tenant, held.id, lines, any_of)
    shown: dict[str, UUID] = {row["line"]: row["id"] for row in rows}
    found = [_seen([shown.get(line) for line in each]) for each in asked]
    return [*found, *[UNSEEN] * (len(parts) - len(found))]


def _seen(shown: Sequence[UUID | None]) -> Seen:
    counts = Counter(each for each in shown if each is not None)
    if not counts:
        return UNSEEN
    return Seen(counts.total() / len(shown), counts.most_common(1)[0][0])
