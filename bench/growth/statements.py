"""Which statements of the services read more pages where the database holds more: that does not depend on the load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import asyncpg

_START = "create extension if not exists pg_stat_statements; select pg_stat_statements_reset()"
_READ = """
select s.query, sum(s.calls)::int as calls, sum(s.shared_blks_hit + s.shared_blks_read) / sum(s.calls) as pages
from pg_stat_statements s join pg_roles r on r.oid = s.userid
where r.rolname like 'scrubjay%' and r.rolname <> 'scrubjay_owner'
group by s.query
"""
_RATIO, _PAGES = 1.3, 10.0

Pages = Mapping[str, float]
"""Read by a call, by the statement's text."""


class Grown(NamedTuple):
    statement: str
    before: float
    after: float


async def start(dsn: str) -> None:
    """Counts from now on. Needs a server that has loaded pg_stat_statements."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(_START)
    finally:
        await connection.close()


async def pages(dsn: str) -> Pages:
    connection = await asyncpg.connect(dsn)
    try:
        return {row["query"]: float(row["pages"]) for row in await connection.fetch(_READ)}
    finally:
        await connection.close()


def grown(before: Pages, after: Pages) -> list[Grown]:
    """Those that read more by a third and by ten pages, the worst first."""
    both = [
        Grown(" ".join(statement.split()), round(count, 1), round(after[statement], 1))
        for statement, count in before.items()
        if statement in after
    ]
    found = [each for each in both if each.after > _RATIO * each.before and each.after - each.before > _PAGES]
    return sorted(found, key=lambda each: each.before - each.after)
