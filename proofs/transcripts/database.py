"""What an import left in the database: its episodes as one digest, and every word of every table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg
from ahocorasick_rs import BytesAhoCorasick

from tests.support.attacks.secret_samples import SAMPLES
from tests.support.fakes.transcripts import MARK

STATE = """
select count(*) as rows, md5(string_agg(
    md5(concat_ws('|', origin, content, session_id, speaker, paths, topics, step, occurred_at)), '' order by origin
)) as digest
from memory.long_term where scope = $1 and origin is not null
"""
TABLES = """
select format('%I.%I', schemaname, tablename) from pg_tables
where schemaname not in ('pg_catalog', 'information_schema')
"""


class State(NamedTuple):
    rows: int
    digest: str


class Found(NamedTuple):
    secrets: int
    marks: int
    bytes: int


async def state(sql: asyncpg.Connection, scope: str) -> State:
    found = await sql.fetchrow(STATE, scope)
    assert found is not None
    return State(found["rows"], found["digest"] or "")


async def search(sql: asyncpg.Connection) -> Found:
    """Looks for each secret, and for the mark that stood beside it, in the text of every table."""
    finder = _Finder([secret.splitlines()[1 if "\n" in secret else 0] for _, secret in SAMPLES.values()])
    for (table,) in await sql.fetch(TABLES):
        await sql.copy_from_query(f"select t::text from {table} t", output=finder.feed)
    return Found(finder.secrets, finder.marks, finder.bytes)


class _Finder:
    def __init__(self, secrets: Sequence[str]) -> None:
        self._kinds = [secret.encode() for secret in secrets] + [MARK.encode()]
        self._automaton = BytesAhoCorasick(self._kinds)
        self._longest = max(map(len, self._kinds))
        self._rest = b""
        self.secrets = self.marks = self.bytes = 0

    async def feed(self, data: bytes) -> None:
        """A find that ends within what was carried over was counted before."""
        text = self._rest + data
        for kind, _, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if end > len(self._rest):
                self.marks += self._kinds[kind] == MARK.encode()
                self.secrets += self._kinds[kind] != MARK.encode()
        self._rest = text[-self._longest :]
        self.bytes += len(data)
