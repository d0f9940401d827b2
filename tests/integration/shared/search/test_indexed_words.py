"""Which words the index holds of an item: its own, exact terms, and those of the session's earlier turns."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from local.database import Database
from services.agent_memory.memories.queries_search import own_scope, peers_scope
from services.cache.entries.puts.making import put_of
from services.cache.entries.queries_search import SEARCH, missions_scope
from services.cache.entries.queries_write import put_entries
from services.cache.missions.queries import DefaultLimits, MissionKey
from shared.database.postgres import Connection, _prepare
from shared.search import lexicon as lexicons
from shared.search import store
from shared.search.lexicon import MAX_TERM_BYTES, Asked, Hints, Lexicon
from shared.search.sql import scope_key, search
from shared.search.store import StoreQuery
from tests.integration.conftest import Tenant
from tests.support.cache_services import intel, principal
from tests.support.calls import lesson, note
from tests.support.cluster import Client

CACHE, MEMORY = "/api/psychic-cache", "/api/agent-memory"
CHUNK_WORDS = {
    "p_keys": "text[]",
    "p_starts": "int[]",
    "p_stops": "int[]",
    "p_chunks": "text[]",
    "p_configs": "text[]",
    "p_terms": "text[]",
    "p_head": "text",
    "p_before": "text[]",
}
# A parser that counts the texts that it reads.
COUNTED = """
create temp sequence read;
create function pg_temp.counted(config text, body text) returns tsvector language plpgsql stable as $$
begin
    perform nextval('pg_temp.read');
    return to_tsvector(config::regconfig, body);
end $$
"""
LIMITS = DefaultLimits(token_budget=10_000, entry_budget=200, ttl_hours=24.0)
# "elderberries", "olives" and what comes first of the cherries have 300 characters.
TURNS = ["apples", "berries", "cherries " + "red " * 69, "olives", "elderberries", "figs"]


async def words(sql: Connection, table: str, item: int, weight: str) -> set[str]:
    held = await sql.fetchval(
        f'select tsvector_to_array(ts_filter(tsv, $2::"char"[])) from {table} where item_id = $1 and chunk = 0',
        item,
        [weight.encode()],
    )
    return set(held)


async def of_entry(sql: Connection, item: int, weight: str) -> set[str]:
    return await words(sql, "cache.psychic_chunks", item, weight)


async def of_memory(sql: Connection, item: int, weight: str) -> set[str]:
    return await words(sql, "memory.agent_memory_chunks", item, weight)


def turns(mission: str, **more: Any) -> list[dict[str, Any]]:
    return [note(mission, text, session_id="s", seq=number, **more) for number, text in enumerate(TURNS)]


@pytest.mark.parametrize("batch", [True, False])
async def test_a_turn_holds_the_words_of_the_turns_before_it(
    client: Client, sql: Connection, batch: bool
) -> None:
    mission = f"turns-{batch}"
    if batch:
        answer = await client.post(f"{CACHE}/write/batch", {"entries": turns(mission)})
        ids = [item["data"]["id"] for item in answer.body["data"]["entries"]]
    else:
        ids = [(await client.post(f"{CACHE}/write", turn)).body["data"]["id"] for turn in turns(mission)]
    last = ids[-1]
    assert await of_entry(sql, last, "a") == {"fig"}
    assert await of_entry(sql, last, "c") == {"elderberri"}
    # The nearest turns come first, and all context together has 300 characters.
    assert await of_entry(sql, last, "d") == {"oliv", "cherri", "red"}
    assert await of_entry(sql, ids[0], "c") == await of_entry(sql, ids[0], "d") == set()
    assert await of_entry(sql, ids[1], "c") == {"appl"}
    assert await of_entry(sql, ids[1], "d") == set()


async def test_a_turns_context_is_of_its_user(client: Client, sql: Connection) -> None:
    for turn in turns("users", user_id="ana"):
        await client.post(f"{CACHE}/write", turn)
    of_bo = note("users", "grapes", session_id="s", seq=len(TURNS), user_id="bo")
    written = (await client.post(f"{CACHE}/write", of_bo)).body["data"]["id"]
    assert await of_entry(sql, written, "c") == await of_entry(sql, written, "d") == set()


async def test_new_tags_leave_a_turns_other_words(client: Client, sql: Connection) -> None:
    ids = [(await client.post(f"{CACHE}/write", turn)).body["data"]["id"] for turn in turns("tags")]
    before = {weight: await of_entry(sql, ids[-1], weight) for weight in "acd"}
    assert before["d"]
    tagged = await client.call("PATCH", f"{CACHE}/all/entries/{ids[-1]}", {"tags": ["orchard"]})
    assert tagged.status == 200, tagged.body
    assert {weight: await of_entry(sql, ids[-1], weight) for weight in "acd"} == before
    assert "orchard" in await of_entry(sql, ids[-1], "b")


async def test_peers_find_no_words_of_a_private_turn(client: Client, sql: Connection) -> None:
    for number, (text, private) in enumerate(
        [("the wombat", True), ("the ferret", False), ("the otter", True)]
    ):
        turn = lesson("scout", text, session_id="s", seq=number, private=private)
        await client.post(f"{MEMORY}/commit", turn)
    answer = await client.post(f"{MEMORY}/commit", lesson("scout", "the badger", session_id="s", seq=3))
    shared = answer.body["memory_id"]
    assert await of_memory(sql, shared, "c") == {"ferret"}
    assert await of_memory(sql, shared, "d") == set()
    turn = lesson("scout", "the marten", session_id="s", seq=4, private=True)
    own = (await client.post(f"{MEMORY}/commit", turn)).body["memory_id"]
    assert await of_memory(sql, own, "c") == {"badger"}
    assert await of_memory(sql, own, "d") == {"wombat", "ferret", "otter"}


# The names of the keys under which an item's words are indexed, as its tenant's search reads them.
KEYS = """
select array(select distinct split_part(word, ':', 1) from unnest(tsvector_to_array(scoped)) word) as keys
from {view} where item_id = $1
"""


async def keys_of(sql: Connection, tenant: Tenant, view: str, item: int) -> set[str]:
    async with sql.transaction():
        await sql.execute(f"set local scrubjay.tenant = '{tenant.name}'")
        return set(await sql.fetchval(KEYS.format(view=view), item))


async def test_words_are_indexed_under_the_keys_that_searches_ask_for(
    tenant: Tenant, client: Client, sql: Connection
) -> None:
    entry = (await client.post(f"{CACHE}/write", note("keys", "the wombat"))).body["data"]["id"]
    (key,) = missions_scope(tenant.name, ["mission:keys"]).keys()
    assert await keys_of(sql, tenant, "cache.searchable_words", entry) == {key}
    memory = (await client.post(f"{MEMORY}/commit", lesson("keeper", "the ferret"))).body["memory_id"]
    (own,), (every,) = own_scope(tenant.name, "keeper").keys(), peers_scope(tenant.name, "other").keys()
    assert await keys_of(sql, tenant, "memory.searchable_words", memory) == {own, every}


async def test_the_words_of_a_private_memory_are_not_indexed_for_peers(
    tenant: Tenant, client: Client, sql: Connection
) -> None:
    answer = await client.post(f"{MEMORY}/commit", lesson("keeper", "the marten sleeps", private=True))
    (own,) = own_scope(tenant.name, "keeper").keys()
    assert await keys_of(sql, tenant, "memory.searchable_words", answer.body["memory_id"]) == {own}


async def test_words_of_scopes_are_stored_in_their_index_only(client: Client, sql: Connection) -> None:
    entry = (await client.post(f"{CACHE}/write", note("once", "the otter"))).body["data"]["id"]
    tagged = await client.call("PATCH", f"{CACHE}/all/entries/{entry}", {"tags": ["river"]})
    assert tagged.status == 200, tagged.body
    memory = (await client.post(f"{MEMORY}/commit", lesson("keeper", "the badger"))).body["memory_id"]
    for table, item in (("cache.psychic_chunks", entry), ("memory.agent_memory_chunks", memory)):
        assert await sql.fetchval(f"select scoped from {table} where item_id = $1", item) is None


TERMS = ["don't", r"C:\temp", "a b", "x" * MAX_TERM_BYTES, "y" * (MAX_TERM_BYTES + 1), "", "E4242", "E4242"]


@pytest.fixture
async def service(database: Database) -> AsyncIterator[Connection]:
    """A connection as the cache service has it."""
    connection = await asyncpg.connect(
        database.services["cache"], server_settings={"scrubjay.tenant": "terms"}
    )
    await _prepare(connection)
    yield connection
    await connection.close()


async def test_terms_are_found_as_they_are(service: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    who, mission = principal("terms"), MissionKey("terms", "m")

    def known(text: str, names: list[str], hints: Hints) -> Lexicon:
        return Lexicon(config="german" if "Häuser" in text else "english", terms=TERMS)

    monkeypatch.setattr(lexicons, "lexicon", known)
    puts = [put_of(who, intel("m", text)) for text in ("some prose", "Häuser")]
    await put_entries(service, mission, puts[:1], model="m", limits=LIMITS)
    await put_entries(service, mission, puts, model="m", limits=LIMITS)
    rows = await service.fetch(
        "select words, tsv::text as tsv from cache.psychic_chunks where tenant = 'terms' order by item_id"
    )
    assert [row["words"] for row in rows] == [1, 1, 1]
    assert "'german haus':" in rows[2]["tsv"]
    assert rows[0]["tsv"] == rows[1]["tsv"]

    async def asked(configs: list[str], texts: list[str], terms: list[str]) -> list[Any]:
        monkeypatch.setattr(store, "asked", lambda *_: Asked(configs, texts, terms))
        query = StoreQuery(query="q", vector=None, model="m")
        values = query.values(missions_scope("terms", ["mission:m"]))
        return await search(service, SEARCH, values)

    for term in ["don't", r"C:\temp", "a b", "x" * MAX_TERM_BYTES, "E4242"]:
        found = await asked(["english"], ["nothing of it"], [term])
        assert [row["places"] for row in found] == [[2]] * 3, term
        assert found[0]["lexemes"] == ["noth", term]
    assert [row["item_id"] for row in await asked(["english"], ["q"], ["e4242", "y" * 201])] == [None]
    (one,) = await asked(["english", "german"], ["Haus", "Haus"], ["haus"])
    assert one["lexemes"] == ["haus", "german haus"]


async def test_an_english_question_has_the_words_of_its_text(sql: Connection) -> None:
    text = "Which of the ports, 5433 or 6644, do the staging ledgers listen on at night?"
    values = StoreQuery(query=text, vector=None, model="m").values(missions_scope("none", ["mission:m"]))
    (row,) = await search(sql, SEARCH, values)
    assert row["lexemes"] == await sql.fetchval("select tsvector_to_array(to_tsvector('english', $1))", text)


@pytest.mark.parametrize("schema", ["cache", "memory"])
async def test_the_text_parser_reads_each_text_once(sql: Connection, schema: str) -> None:
    """The planner would copy an expression to each place that uses it."""
    body = await sql.fetchval(
        "select prosrc from pg_proc where oid = $1::text::regprocedure",
        f"{schema}.chunk_words({', '.join(CHUNK_WORDS.values())})",
    )
    read = [(name, kind) for name, kind in CHUNK_WORDS.items() if name != "p_keys"]
    for number, (name, kind) in enumerate(read, 1):
        body = body.replace(name, f"(${number}::{kind})")
    async with sql.transaction():
        await sql.execute(COUNTED)
        arguments = [0], [5], ["chunk"], ["english"], [""], "head", ["previous", "earlier"]
        (row,) = await sql.fetch(re.sub(r"\bto_tsvector\(", "pg_temp.counted(", body), *arguments)
        assert "'chunk':1A" in row["every"]
        assert await sql.fetchval("select last_value from pg_temp.read") == 4
        await sql.execute("drop function pg_temp.counted; drop sequence pg_temp.read")


HELD = pytest.mark.parametrize(
    "held",
    [
        [],
        ["one"],
        ["one", "two", "'quoted'", "back\\slash", "with space", "\u4f60\u597d"],
        # Whatever stands between the words when they are joined: no word becomes two.
        ["torn\x1fapart", "one"],
    ],
)


@HELD
async def test_each_word_has_the_key_of_its_scope_and_no_word_is_torn(
    sql: Connection, held: list[str]
) -> None:
    scoped = await sql.fetchval(
        "select tsvector_to_array(cache.scoped_words('t', 'mission:m', array_to_tsvector($1::text[])))", held
    )
    assert set(scoped) == {f"{scope_key('t', 'mission:m')}:{word}" for word in held}


@HELD
@pytest.mark.parametrize("private", [True, False])
async def test_words_that_are_not_private_have_the_key_of_all_scopes_too(
    sql: Connection, held: list[str], private: bool
) -> None:
    scoped = await sql.fetchval(
        "select tsvector_to_array(memory.scoped_words('t', 'agent:a', $1, array_to_tsvector($2::text[])))",
        private,
        held,
    )
    scopes = ["agent:a"] if private else ["agent:a", "*"]
    assert set(scoped) == {f"{scope_key('t', scope)}:{word}" for scope in scopes for word in held}
