"""Which turns of a session a mission has: told apart by speaker, number and content, for those who may read them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator

import asyncpg
import msgspec
import pytest

from local.database import Database
from services.cache.entries import queries
from services.cache.entries.schemas import StoredTurn, Turn, TurnsInput
from services.cache.service import CacheService
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Forbidden
from tests.support.cache_services import cache_service, intel, principal

Known = tuple[str | None, int | None, str]
CALLER = principal("turns")


@pytest.fixture
async def service(database: Database, redis_url: str) -> AsyncIterator[CacheService]:
    async with cache_service(database, redis_url) as service:
        yield service


def turn(content: str, speaker: str | None = None, seq: int | None = None) -> Turn:
    return Turn(content_sha256=hashlib.sha256(content.encode()).hexdigest(), speaker=speaker, seq=seq)


async def write(service: CacheService, mission: str, content: str, session: str = "s", **more: object) -> int:
    entry = intel(mission, content, session_id=session, **more)
    return (await service.writer.write(CALLER, entry, None, Deadline(10))).id


async def stored(
    service: CacheService, mission: str, *turns: Turn, user: str | None = None, caller: Principal = CALLER
) -> dict[Known, int]:
    request = TurnsInput(mission_id=mission, session_id="s", turns=list(turns), user_id=user)
    found = await service.entries.stored_turns(caller, request, Deadline(10))
    return {known(stored): stored.id for stored in reversed(found.turns)}


def known(turn: Turn | StoredTurn) -> Known:
    return turn.speaker, turn.seq, turn.content_sha256


async def test_a_turn_is_its_speaker_number_and_content(service: CacheService) -> None:
    first = await write(service, "m", "Grüße, 世界", speaker="ana", seq=1)
    await write(service, "m", "Grüße, 世界", speaker="ana", seq=1)
    plain = await write(service, "m", "without a number")
    await write(service, "m", "of another session", session="t", seq=2)
    await write(service, "elsewhere", "of another mission", seq=3)
    there = [turn("Grüße, 世界", "ana", 1), turn("without a number")]
    not_there = [
        turn("Grüße, 世界", "ana", 2),
        turn("Grüße, 世界", "ana"),
        turn("Grüße, 世界", "bo", 1),
        turn("Grüße, 世界", None, 1),
        turn("Grüße", "ana", 1),
        turn("without a number", None, 1),
        turn("without a number", "ana"),
        turn("of another session", None, 2),
        turn("of another mission", None, 3),
    ]
    found = await stored(service, "m", *there, *not_there, *there)
    assert found == {known(there[0]): first, known(there[1]): plain}


async def test_each_user_has_turns_of_their_own(service: CacheService) -> None:
    hello = turn("hello", None, 1)
    of_user = await write(service, "users", "hello", seq=1, user_id="u1")
    assert await stored(service, "users", hello) == {}
    assert await stored(service, "users", hello, user="u2") == {}
    assert await stored(service, "users", hello, user="u1") == {known(hello): of_user}


async def test_expired_entries_hold_no_turns(service: CacheService, sql: Connection) -> None:
    await write(service, "expired", "hello", seq=1)
    await write(service, "expired", "without a number")
    await sql.execute(
        "update cache.psychic_cache set expires_at = now() where tenant = 'turns' and mission_id = 'expired'"
    )
    assert await stored(service, "expired", turn("hello", None, 1), turn("without a number")) == {}


async def test_only_those_who_may_read_are_told(service: CacheService) -> None:
    await write(service, "granted", "hello", seq=1, user_id="u1")
    hello = turn("hello", None, 1)
    stranger = msgspec.structs.replace(CALLER, missions=frozenset({"other"}))
    of_user = msgspec.structs.replace(CALLER, users=frozenset({"u2"}))
    for caller in (stranger, of_user):
        with pytest.raises(Forbidden):
            await stored(service, "granted", hello, user="u1", caller=caller)
    assert await stored(service, "granted", hello, user="u1", caller=principal("other-turns")) == {}


FILL_MISSIONS = (
    "insert into cache.missions (tenant, mission_id) select 'turns', 'm' || n from generate_series(0, 19) n"
)
FILL_SESSIONS = """
insert into cache.psychic_cache (tenant, mission_id, context_type, content, token_count, written_by, source_kind,
                                 session_id, seq, speaker, created_at, expires_at)
select 'turns', 'm' || n % 20, 'intel', 'line ' || n, 2, 'test', 'user', 's' || n % 100, n, 'ana', clock_timestamp(),
       'infinity'
from generate_series(1, 20000) n
"""


async def test_a_number_leads_to_its_entries(fresh_database: Database) -> None:
    asked = [{"speaker": "ana", "seq": n, "content_sha256": "0" * 64} for n in range(100)]
    connection = await asyncpg.connect(fresh_database.admin)
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    try:
        for statement in (FILL_MISSIONS, FILL_SESSIONS, "analyze cache.psychic_cache"):
            await connection.execute(statement)
        plan = await connection.fetch(
            f"explain (analyze) {queries.STORED_TURNS}", "turns", "m7", "s7", None, asked, None
        )
    finally:
        await connection.close()
    lines = [row[0] for row in plan]
    assert not [line for line in lines if "Seq Scan" in line]
    assert [line for line in lines if "psychic_cache_session_seq" in line]
    # No turn lacks a number, so nobody looks at what has none.
    assert [line for line in lines if "on psychic_cache " in line and "never executed" in line]
