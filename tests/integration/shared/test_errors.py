"""Hostile input is a 4xx problem that says what was wrong, never a 5xx; what is abandoned leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from yarl import URL

import local.database
from services.context import stores
from shared.auth import Principal
from shared.body import MAX_BODY
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Unavailable
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note
from tests.support.cluster import Answer, Client, Cluster
from tests.support.refusals import BODIES, WRITE, assert_invalid, assert_problem

DEEP = 20_000
JSON = {"content-type": "application/json"}

# Fields that some route takes besides.
OPTIONAL = {
    *(
        "context_type",
        "tags",
        "scopes",
        "task_context",
        "session_id",
        "occurred_at",
        "as_of",
        "explicit_links",
    ),
    *(
        "user_id",
        "memory_type",
        "private",
        "weights",
        "token_shares",
        "recalled_from",
        "speaker",
        "ttl_hours",
    ),
}
ROUTES = pytest.mark.parametrize("path", BODIES)


@pytest.fixture
async def client(tenant: Tenant) -> Client:
    """May do everything, so that nothing is refused for lack of access."""
    return await tenant.client("admin")


async def send(client: Client, path: str, raw: Any, method: str = "POST", **headers: str) -> Answer:
    return await client.call(method, path, None, data=raw, headers={**JSON, **headers})


@ROUTES
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b'{"typo": 1}',
        b"\x00",
        b"\xff\xfe{}",
        b"not json at all",
        b"[" * DEEP,
        b'{"a":' * DEEP,
        b"[" * DEEP + b"]" * DEEP,
        b'{"query":' + b"[" * DEEP + b"]" * DEEP + b"}",
        b"1e999",
        b"-" + b"9" * 5_000,
    ],
    ids=lambda raw: repr(raw[:12]),
)
async def test_a_body_that_is_none(client: Client, path: str, raw: bytes) -> None:
    assert_invalid(await send(client, path, raw))


def _texts(path: str) -> list[str]:
    return [name for name, value in BODIES[path].items() if isinstance(value, str)]


@ROUTES
@pytest.mark.parametrize(
    "text",
    [rb"a\u0000b", b"a\x00b", rb"\ud800", rb"\udfff\ud800", b"\xed\xa0\x80", b"\xff", b"\xc0\x80", b"a\nb"],
    ids=repr,
)
async def test_text_that_no_database_holds(client: Client, path: str, text: bytes) -> None:
    for name in _texts(path):
        body = json.dumps(BODIES[path] | {name: "@"}).encode().replace(b'"@"', b'"' + text + b'"')
        problem = assert_invalid(await send(client, path, body))
        assert text != rb"a\u0000b" or problem["errors"][0]["field"] == name


async def test_nul_is_found_deep_in_a_body(client: Client) -> None:
    context = {"task_description": "t", "skills_used": ["a", "b\0"], "outcome": "success"}
    problem = assert_invalid(
        await client.post("/api/agent-memory/commit", lesson("ana", "x", task_context=context))
    )
    assert problem["errors"][0]["field"] == "task_context.skills_used"
    problem = assert_invalid(await client.post(WRITE, note("m", "x", tags=["ok", "\0"])))
    assert problem["errors"][0]["field"] == "tags"


async def test_text_that_only_looks_like_nul_is_taken(client: Client) -> None:
    raw = json.dumps(note("m", "@")).encode().replace(b'"@"', rb'"the escape \\u0000 stands for NUL"')
    answer = await send(client, WRITE, raw)
    assert answer.status == 201, answer
    (entry,) = (await client.get("/api/psychic-cache/m/entries")).body["data"]
    assert entry["content"] == "the escape \\u0000 stands for NUL"


@ROUTES
@pytest.mark.parametrize("value", [10**30, 2**63, 2**64, -(2**63) - 1, 1e308, -0.5])
async def test_numbers_out_of_range(client: Client, path: str, value: float) -> None:
    numbers = {
        WRITE: ["seq", "dispatch_id", "source_turn", "recalled_from"],
        "/api/psychic-cache/query": ["token_budget"],
        "/api/agent-memory/commit": ["seq", "recalled_from"],
        "/api/agent-memory/query": ["limit"],
        "/api/agent-memory/list": ["limit"],
        "/api/agent-memory/peer-query": ["limit"],
        "/api/context/assemble": ["token_budget", "dispatch_id"],
        "/api/context/feedback": ["assembly_id", "tokens_used"],
        "/api/context/purge": ["scope"],
        "/api/agent-memory/batch": ["memories"],
        "/api/agent-memory/forget": ["agent_name"],
        "/api/dispatch/report": ["parent_dispatch_id"],
        "/api/context/log/1/replay": ["token_budget"],
    }
    for name in numbers[path]:
        problem = assert_invalid(await client.post(path, BODIES[path] | {name: value}))
        assert problem["errors"][0]["field"] in (name, "body")


@pytest.mark.parametrize(
    "path", ["/api/psychic-cache/query", "/api/agent-memory/query", "/api/agent-memory/peer-query"]
)
async def test_queries_of_20000_terms(client: Client, path: str) -> None:
    for query in ("a " * 20_000, "word" * 20_000, "x y z " * 20_000):
        problem = assert_invalid(await client.post(path, BODIES[path] | {"query": query}))
        assert problem["errors"][0]["field"] == "query"


@pytest.mark.parametrize(
    "query",
    [
        " ".join(f"term{n}" for n in range(1_100))[:8_000],
        "x" * 8_000,
        "the of and " * 700,
        "& | ! ( ) <-> :* ' \\ " * 300,
        "🦜" * 8_000,
        "a.b/c-d_e@f:g " * 500,
        "\n" * 8_000,
        " ",
        ".",
    ],
    ids=lambda query: repr(query[:12]),
)
async def test_the_longest_and_emptiest_queries_are_answered(client: Client, query: str) -> None:
    await client.post(WRITE, note("m", "term7 and a parrot"))
    for path in ("/api/psychic-cache/query", "/api/agent-memory/query", "/api/context/assemble"):
        answer = await client.post(path, BODIES[path] | {"query": query})
        assert answer.status == 200, answer


@pytest.mark.parametrize("length", [2_000, 2_001, 2_038, 2_046, 2_047, 2_500])
async def test_a_word_of_any_length_may_be_asked_for(client: Client, length: int) -> None:
    """Long ones are not indexed; the words beside them are found all the same."""
    text = f"the parrot and {'x' * length}"
    assert (await client.post(WRITE, note("m", text))).status == 201
    assert (await client.post("/api/agent-memory/commit", lesson("ana", text))).status == 201
    cache = await client.post("/api/psychic-cache/query", {"mission_id": "m", "query": text})
    assert len(cache.body["data"]["entries"]) == 1
    memory = await client.post("/api/agent-memory/query", {"agent_name": "ana", "query": text})
    assert len(memory.body["memories"]) == 1


async def test_content_that_is_one_long_word_or_all_words(client: Client) -> None:
    await client.call("PUT", "/api/psychic-cache/m/limits", {"token_budget": 1_000_000})
    for content in (
        "x" * 200_000,
        " ".join(f"w{n:05d}" for n in range(28_000)),
        "\n" * 50_000 + "x",
        "🦜" * 200_000,
    ):
        raw = json.dumps(note("m", content), ensure_ascii=False).encode()
        answer = await send(client, WRITE, raw)
        assert answer.status == 201, answer


async def test_more_words_than_an_index_holds_are_refused(client: Client) -> None:
    """A branch's lists may say more than its content may."""
    body = note("m", "c") | {
        "context_type": "shadow_clone",
        "subtasks": [f"{n} " + "y " * 1_900 for n in range(100)],
    }
    del body["intel_source"]
    answer = await client.post(WRITE, body)
    assert answer.status in (201, 400, 422), answer


@ROUTES
async def test_a_body_that_says_it_is_too_large_is_not_read(client: Client, path: str) -> None:
    """The length is enough to refuse it: nothing of the body was sent."""
    host, port = URL(str(client.session._base_url)).host, URL(str(client.session._base_url)).port
    assert host
    reader, writer = await asyncio.open_connection(host, port)
    token = client.session.headers["Authorization"]
    writer.write(
        f"POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: {token}\r\ncontent-type: application/json\r\n"
        f"content-length: {MAX_BODY + 1}\r\n\r\n".encode()
    )
    status = await asyncio.wait_for(reader.readline(), 20)
    writer.close()
    assert b" 413 " in status


async def test_a_body_that_does_not_come_is_not_the_owners_fault(client: Client) -> None:
    host, port = URL(str(client.session._base_url)).host, URL(str(client.session._base_url)).port
    reader, writer = await asyncio.open_connection(host, port)
    token = client.session.headers["Authorization"]
    writer.write(
        f"POST /api/psychic-cache/query HTTP/1.1\r\nhost: x\r\nauthorization: {token}\r\nx-timeout-ms: 300\r\n"
        'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"query": '.encode()
    )
    status = await asyncio.wait_for(reader.readline(), 20)
    writer.close()
    assert b" 408 " in status


@ROUTES
async def test_a_body_that_turns_out_too_large(client: Client, path: str) -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        yield b'{"content": "'
        for _ in range(MAX_BODY // 65_536 + 2):
            yield b"x" * 65_536
        yield b'"}'

    async with aclosing(pieces()) as body:
        assert_problem(await send(client, path, body), 413)


@ROUTES
async def test_a_body_in_pieces_is_like_any(client: Client, path: str) -> None:
    whole = json.dumps(BODIES[path]).encode()

    async def pieces() -> AsyncGenerator[bytes]:
        for n in range(len(whole)):
            yield whole[n : n + 1]

    expected = (await client.post(path, BODIES[path])).status
    async with aclosing(pieces()) as body:
        assert (await send(client, path, body)).status == expected


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[" * DEEP, b"\xff", b'{"reason": "\xff"}', b'{"reason": "because"}', b"[]", b"7"],
    ids=lambda r: r[:12],
)
async def test_a_body_of_a_delete(client: Client, raw: bytes) -> None:
    assert_invalid(await send(client, "/api/psychic-cache/m", raw, "DELETE"))


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/api/psychic-cache/%00/entries", {400}),
        ("/api/psychic-cache/a%00b/stats", {400}),
        ("/api/psychic-cache/%ED%A0%80/entries", {200, 400}),
        ("/api/psychic-cache/%FF/entries", {200, 400}),
        ("/api/psychic-cache/%zz/entries", {200, 400}),
        ("/api/psychic-cache/" + "x" * 7_000 + "/entries", {200, 400, 414}),
        ("/api/psychic-cache/checkpoint/%00", {400}),
        ("/api/psychic-cache/checkpoint/", {404, 405}),
        ("/api/timeline?after=-1", {400}),
        ("/api/timeline?after=x", {400}),
        ("/api/timeline?after=99999999999999999999", {400}),
        ("/api/timeline?after=1.5", {400}),
        ("/api/timeline?limit=0", {400}),
        ("/api/timeline?limit=1001", {400}),
        ("/api/timeline?mission=%00", {400}),
        ("/api/timeline?kind=%00", {400}),
        ("/api/timeline?kind=%FF", {200, 400}),
        ("/api/timeline?dispatch_id=0", {400}),
        ("/api/timeline?dispatch_id=9223372036854775808", {400}),
        ("/api/agent-memory/pending-review", {400}),
        ("/api/agent-memory/pending-review?since=", {400}),
        ("/api/agent-memory/pending-review?since=[]", {400}),
        ("/api/agent-memory/pending-review?since=%7B%22a%22:%22never%22%7D", {400}),
        ("/api/agent-memory/pending-review?since=%7B%22a%5Cu0000%22:%222024-01-01T00:00:00Z%22%7D", {400}),
        ("/api/agent-memory/pending-review?since=%7B%22a%22:%220001-01-01T00:00:00%2B14:00%22%7D", {400}),
        ("/api/agent-memory/pending-review?since=" + "[" * 6_000, {400}),
        ("/api/agent-memory/pending-review?since=%7B%22a%22:" + "[" * 6_000, {400}),
        ("/api/agent-memory/pending-review?since=%7B%22%FF%22:%222024-01-01T00:00:00Z%22%7D", {200, 400}),
        ("/api/nothing", {404}),
        ("/nothing", {404}),
        ("/api/psychic-cache", {404, 405}),
        ("/api/psychic-cache/a/b/c", {404}),
        ("/api/context/assemble", {405}),
        ("/internal/search", {404}),
        ("/api/psychic-cache/../../internal/search", {404, 405}),
        ("/api/psychic-cache/%2e%2e/%2e%2e/internal/search", {404, 405}),
        ("/api/psychic-cache/..%2f..%2finternal%2fsearch", {404, 405}),
        ("/api/psychic-cache//internal/search", {404, 405}),
        ("/api/psychic-cachet/entries", {404}),
    ],
    ids=lambda value: value[:70] if isinstance(value, str) else "",
)
async def test_hostile_addresses(client: Client, path: str, statuses: set[int]) -> None:
    answer = await client.get(URL(path, encoded=True))  # type: ignore[arg-type]
    assert answer.status in statuses, answer
    if answer.status >= 400:
        assert_problem(answer, answer.status)


@pytest.mark.parametrize(
    "path",
    [
        "/internal/purge?purged=mission:m",
        "/internal/search",
        "/internal/languages",
        "/internal/references",
        "/internal/turns",
        "/api/psychic-cache/../../internal/purge?purged=mission:m",
        "/api/psychic-cache/%2e%2e/%2e%2e/internal/purge?purged=mission:m",
        "/api/psychic-cache/..%2f..%2finternal/purge?purged=mission:m",
        "/api/psychic-cache//../..//internal/purge?purged=mission:m",
        "/api/agent-memory/..;/..;/internal/purge?purged=agent:ana",
    ],
)
async def test_nothing_internal_is_reached_through_the_door(client: Client, path: str) -> None:
    await client.post(WRITE, note("m", "stays"))
    answer = await client.post(URL(path, encoded=True), BODIES["/api/psychic-cache/query"])  # type: ignore[arg-type]
    assert_problem(answer, 400, 404, 405)
    assert len((await client.get("/api/psychic-cache/m/entries")).body["data"]) == 1


@pytest.mark.parametrize("query", ["mission=%00", "kind=%00", "after=-1", "after=x", "dispatch_id=0"])
async def test_a_stream_that_could_never_say_anything_is_not_opened(client: Client, query: str) -> None:
    async with asyncio.timeout(20):
        answer = await client.get(
            URL(f"/api/timeline?{query}", encoded=True),  # type: ignore[arg-type]
            headers={"accept": "text/event-stream"},
        )
    assert_invalid(answer)


@pytest.mark.parametrize("last", ["-1", "x", "1.5", str(2**63)])
async def test_a_stream_is_not_resumed_after_nonsense(client: Client, last: str) -> None:
    async with asyncio.timeout(20):
        answer = await client.get(
            "/api/timeline", headers={"accept": "text/event-stream", "last-event-id": last}
        )
    assert_invalid(answer)


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/api/context/assemble"), ("PATCH", WRITE), ("DELETE", "/api/timeline"), ("POST", "/readyz")],
)
async def test_a_method_that_a_route_does_not_have(client: Client, method: str, path: str) -> None:
    assert_problem(await client.call(method, path, {}), 405)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/msgpack", "nonsense"]
)
@ROUTES
async def test_a_body_of_another_type(client: Client, path: str, kind: str) -> None:
    answer = await client.call("POST", path, None, data=b"\x81\xa5query\xa1q", headers={"content-type": kind})
    assert_problem(answer, 400, 415)


@pytest.mark.parametrize("key", ["", " ", "two words", "k" * 201, "ümlaut"])
async def test_an_idempotency_key_that_is_none(client: Client, key: str) -> None:
    answer = await client.post(WRITE, note("m", "x"), headers={"idempotency-key": key})
    problem = assert_invalid(answer)
    assert problem["errors"][0]["field"] == "Idempotency-Key"


@pytest.mark.parametrize(
    "as_of", ["0001-01-01T00:00:00", "9999-12-31T23:59:59Z", "2024-02-29T00:00:00+05:30"]
)
async def test_any_time_may_be_asked_about(client: Client, as_of: str) -> None:
    await client.post(WRITE, note("m", "the parrot"))
    question = BODIES["/api/context/assemble"] | {"query": "parrot on 1 January", "as_of": as_of}
    assert (await client.post("/api/context/assemble", question)).status == 200


@pytest.mark.parametrize("as_of", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "never"])
async def test_a_time_that_is_none(client: Client, as_of: str) -> None:
    answer = await client.post("/api/context/assemble", BODIES["/api/context/assemble"] | {"as_of": as_of})
    assert assert_invalid(answer)["errors"][0]["field"] == "as_of"


@pytest.mark.parametrize("header", ["-1", "abc", "9" * 400, "1.5", ""])
async def test_a_deadline_that_cannot_be_read_is_ignored(client: Client, header: str) -> None:
    answer = await client.post(WRITE, note("m", "x"), headers={"x-timeout-ms": header})
    assert answer.status == 201, answer


@pytest.mark.parametrize("given", ["abc-1", "x" * 128])
async def test_a_request_id_is_given_back(client: Client, given: str) -> None:
    answer = await client.get("/api/timeline", headers={"x-request-id": given})
    assert answer.headers.getall("x-request-id") == [given]  # type: ignore[attr-defined]


@pytest.mark.parametrize("given", ["x" * 129, "a b", "é", "<script>"])
async def test_a_request_id_that_is_none_is_replaced(client: Client, given: str) -> None:
    for path in ("/api/timeline", "/api/psychic-cache/all/entries"):
        answer = await client.get(path, headers={"x-request-id": given})
        assert answer.status == 200
        (made,) = answer.headers.getall("x-request-id")  # type: ignore[attr-defined]
        assert made != given
        assert len(made) == 32


async def test_random_bodies_are_never_a_5xx(client: Client) -> None:
    """Every field of every route with values of every kind."""
    values: list[Any] = [
        None,
        True,
        -1,
        0,
        2**70,
        1.5,
        "",
        "x",
        "\0",
        "x" * 9_000,
        [],
        ["x"],
        [[]],
        {},
        {"x": 1},
        [None] * 300,
    ]
    for path, body in BODIES.items():
        names = {*body, *OPTIONAL}
        answers = await asyncio.gather(
            *(client.post(path, body | {name: value}) for name in names for value in values)
        )
        assert [answer for answer in answers if answer.status >= 500] == []
        for answer in answers:
            assert answer.status < 400 or assert_problem(answer, 400, 404, 409, 422)


@asynccontextmanager
async def owner(cluster: Cluster, name: str) -> AsyncIterator[Client]:
    """Straight to an owner, as the context service would."""
    async with Client(cluster.url(name), None) as client:
        client.session.headers.update(cluster.tokens.identity(name, ADMIN))
        yield client


ADMIN = Principal("owners", "test", frozenset({"read", "write", "admin"}))
SCOPES = ["mission:m", "user:u", "project:p", "shared"]
SEARCH: dict[str, dict[str, Any]] = {
    owner: {
        "query": "q",
        "agent": "ana",
        "stores": {
            store.name: store.scopes(["session:s"] if store is stores.SESSION_OBJECTS else SCOPES)
            for store in stores.STORES
            if store.owner == owner
        },
    }
    for owner in sorted({store.owner for store in stores.STORES})
}


@pytest.mark.parametrize("name", SEARCH)
async def test_owners_search_the_stores_that_are_registered(cluster: Cluster, name: str) -> None:
    async with owner(cluster, name) as client:
        answer = await client.post("/internal/search", SEARCH[name])
        assert set(answer.body["stores"]) == set(SEARCH[name]["stores"])


@pytest.mark.parametrize("name", SEARCH)
@pytest.mark.parametrize(
    "changes",
    [
        {"vector": "not base64!"},
        {"vector": "AAAA"},
        {"vector": "A" * 4_000},
        {"vector": ""},
        {"depth": -1},
        {"depth": 10**9},
        {"query": "\0"},
        {"stores": []},
        {"typo": 1},
    ],
    ids=str,
)
async def test_what_owners_are_asked_is_checked_too(
    cluster: Cluster, name: str, changes: dict[str, Any]
) -> None:
    async with owner(cluster, name) as client:
        assert (await client.post("/internal/search", SEARCH[name])).status == 200
        assert_problem(await client.post("/internal/search", SEARCH[name] | changes), 400)


async def test_a_deadline_that_passes_anywhere_leaves_no_transaction_open(
    database: local.database.Database, sql: Connection
) -> None:
    """A connection that went back inside a transaction would swallow the next acknowledged write."""
    pool = Database(database.services["cache"], connections=2)
    await pool.open()
    insert = "insert into timeline.events (tenant, scope, kind) values ('left-open', 'shared', 'test')"

    async def work(connection: Connection) -> None:
        await connection.execute(insert)
        await connection.execute("select pg_sleep(0.001)")

    try:
        abandoned = acknowledged = 0
        for n in range(300):
            try:
                await pool.transaction("left-open", work, Deadline(n % 60 / 10_000))
                acknowledged += 1
            except Unavailable:
                abandoned += 1
            await pool.run("left-open", lambda c: c.execute(insert), Deadline(10))
            acknowledged += 1
        stored = await sql.fetchval("select count(*) from timeline.events where tenant = 'left-open'")
    finally:
        await pool.close()
    assert abandoned > 20
    assert stored >= acknowledged
