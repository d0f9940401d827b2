"""How much of a content the context of its session shows already. Includes the SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from services.cache.sessions.objects.parts import Part
from services.cache.sessions.search.queries import session_scope
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

# $3 the key of the session's words, $4 hashes of lines. `offset 0` leaves the index of words as the only way.
SHOWN_LINES = """
select t.line, o.id
from unnest($4::text[]) t(line)
cross join lateral (
    select o.id
    from (
        select w.tenant, w.scope, w.item_id from sessions.searchable_objects w
        where w.scoped @@ ('''' || $3::text || ':=' || t.line || '''')::tsquery offset 0
    ) m
    join sessions.semantic_objects o on o.tenant = $1 and o.number = m.item_id
    where m.tenant = $1 and o.session_id = $2 and o.current_fidelity = 0 and o.superseded_by is null
    limit 1
) o
"""


async def seen(connection: Connection, held: Held, parts: Sequence[Part]) -> list[Seen]:
    """By the lines of each part. A line that is shown only in short, or by an older version, is new again."""
    if not held.last_place:
        return [UNSEEN] * len(parts)
    most = max(_LEAST_OF_PART, _MOST_LINES // max(1, len(parts)))
    asked = [part.lines[:most] for part in parts[:_MOST_LINES]]
    lines = list({line for each in asked for line in each})
    (key,) = session_scope(held.tenant, held.id).keys()
    rows = await connection.fetch(SHOWN_LINES, held.tenant, held.id, key, lines)
    shown: dict[str, UUID] = {row["line"]: row["id"] for row in rows}
    found = [_seen([shown.get(line) for line in each]) for each in asked]
    return [*found, *[UNSEEN] * (len(parts) - len(found))]


def _seen(shown: Sequence[UUID | None]) -> Seen:
    counts = Counter(each for each in shown if each is not None)
    if not counts:
        return UNSEEN
    return Seen(counts.total() / len(shown), counts.most_common(1)[0][0])
