"""A request about one agent, mission or session reads no more when its tenant holds much of others.

The attacks of tests/support/attacks are every operation, with arguments that name one of each. They are made in a
tenant that holds a few hundred copies of their victim, and in one that holds a few thousand; the pages are counted that
their statements read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from local.database import Database
from shared.database.postgres import Connection
from tests.integration.conftest import embedder_settings
from tests.support.attacks.sending import Attempt, attempts, send
from tests.support.attacks.victim import Victim, settle
from tests.support.cluster import Client, Cluster
from tests.support.fakes.fake_openai import FakeOpenAI
from tests.support.multiplying import multiply

FEW, MANY = 250, 2_000
_RATIO, _PAGES = 2, 25

GROWING: Mapping[str, str] = {
    "cache_all_entries": "all entries of a tenant, of which a filter takes few",
    "context_assemble": "what all agents of the tenant know, and all of its files",
    "context_audit": "all of the audit trail, of which a filter takes few",
    "context_costs": "all costs of a tenant",
    "context_evaluate": "the settings of all callers",
    "context_given": "the log of a tenant's assemblies: to whom something was given",
    "context_log": "the log of a tenant's assemblies, of which a filter takes few",
    "context_profiles": "all profiles of a tenant",
    "context_prompt": "as context_assemble",
    "context_review": "all that may be reviewed, of which a filter takes few",
    "context_savings": "all costs of a tenant",
    "kg_aliases": "all aliases of a tenant, of which a filter takes few",
    "kg_predicates": "all facts of a tenant",
    "kg_query": "all facts of a tenant, of which a filter takes few",
    "kg_stats": "all facts of a tenant",
    "memory_due": "all that is owed in a tenant, of which a filter takes few",
    "monitor": "what all agents of a tenant do",
    "timeline": "all events of a tenant, of which a kind takes few",
    "vault_search": "all files of a tenant",
}
"""By operation: what it reads that grows with the tenant."""

_READ = """
select s.query, sum(s.calls)::int as calls, sum(s.shared_blks_hit + s.shared_blks_read)::bigint as pages
from pg_stat_statements s join pg_roles r on r.oid = s.userid
where s.dbid = (select oid from pg_database where datname = current_database())
  and r.rolname like 'scrubjay%' and r.rolname not like '%owner'
group by s.query
"""
# Writes of rows with many indexes touch pages that they fill, now one, now many.
_WRITES = re.compile(
    r"\b(insert into|update|delete from|put_\w+|commit_new\w*|record_\w+|number_tenant|forget_\w+)\b"
)
# Background work goes on beside a request. Most of it is of all tenants; the rest follows a question.
_BACKGROUND = re.compile(r"tsvectorsend|array_agg\(\(c\.item_id <<")

Pages = dict[str, int]
"""Read in all, by the statement's text."""


class Grown(NamedTuple):
    attempt: str
    few: int
    many: int
    statement: str


async def test_a_request_reads_no_more_in_a_large_tenant(
    fresh_database: Database, redis_url: str, embedding_api: FakeOpenAI, tmp_path: Path
) -> None:
    settings = {
        **embedder_settings(embedding_api),
        "SCRUBJAY_IN_FLIGHT": "256",
        "SCRUBJAY_HOT_SCOPES_MB": "0",
    }
    own: Any = {"agent_memory": {"VAULT_ROOT": str(tmp_path / "vault")}}
    (tmp_path / "vault").mkdir()
    async with Cluster(fresh_database, redis_url, tmp_path, settings=settings, settings_of=own) as cluster:
        admin = await asyncpg.connect(fresh_database.admin)
        await admin.execute("create extension if not exists pg_stat_statements")
        few = await _pages(cluster, admin, "small", FEW)
        many = await _pages(cluster, admin, "large", MANY)
        await admin.close()
    grown = [*_grown(few, many)]
    found = [each for each in grown if each.attempt.split()[0] not in GROWING]
    print(*found, sep="\n")
    assert not found
    # What no longer grows leaves the list.
    assert GROWING.keys() <= {each.attempt.split()[0] for each in grown}


async def _pages(cluster: Cluster, admin: Connection, tenant: str, copies: int) -> dict[str, Pages]:
    """By attempt, as one victim among many copies makes it."""
    async with Client(cluster.url(), cluster.tokens.admin) as operator:
        made = await operator.post("/api/context/keys", {"name": tenant, "access": "admin", "tenant": tenant})
    async with Client(cluster.url(), made.body["token"]) as client:
        await settle(client, f"{tenant}first")
        await _indexed(admin)
        await multiply(admin, tenant, f"{tenant}first", copies)
        victim = await settle(client, f"{tenant}second")
        found: dict[str, Pages] = {}
        for place, attempt in enumerate(_asked(victim)):
            # A connection that searches for the first time reads the catalog, too.
            times = [await _sent(client, admin, attempt) for _ in range(2 if attempt.access == "read" else 1)]
            found[f"{attempt.operation} {place}"] = {
                statement: min(pages.get(statement, 0) for pages in times) for statement in times[0]
            }
    return found


async def _sent(client: Client, admin: Connection, attempt: Attempt) -> Pages:
    before = await _read(admin)
    reply = await send(client, attempt)
    assert reply.status < 500, (attempt, reply)
    after = await _read(admin)
    return {
        statement: pages - before.get(statement, 0)
        for statement, pages in after.items()
        if pages > before.get(statement, 0)
    }


async def _indexed(admin: Connection) -> None:
    """Waits until everything has its vectors."""
    waiting = "select exists (select from cache.index_queue) or exists (select from memory.index_queue)"
    while await admin.fetchval(waiting):
        await asyncio.sleep(0.2)


def _asked(victim: Victim) -> Iterator[Attempt]:
    """Over REST alone: a tool asks the same. No purge, and nothing of every session or mission of the tenant."""
    for attempt in attempts(victim):
        through_mcp = attempt.tool or attempt.uri
        whole = {"all", "stream"} & attempt.arguments.keys() or attempt.arguments.get("mission_id") == "*"
        if not (through_mcp or whole or attempt.operation == "context_purge"):
            yield attempt


async def _read(admin: Connection) -> Pages:
    rows = await admin.fetch(_READ)
    return {" ".join(row["query"].split()): row["pages"] for row in rows}


def _grown(few: Mapping[str, Pages], many: Mapping[str, Pages]) -> Iterator[Grown]:
    for attempt, pages in many.items():
        for statement, count in pages.items():
            before = few.get(attempt, {}).get(statement)
            if not before or "tenant = $" not in statement or _BACKGROUND.search(statement):
                continue
            if count > _RATIO * before and count - before > _PAGES and not _WRITES.search(statement):
                yield Grown(attempt, before, count, statement[:200])
