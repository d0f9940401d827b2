"""Every refusal names all that is wrong, in words of our own, and leads to a page that explains it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.errors import KINDS
from tests.integration.conftest import Tenant
from tests.support.calls import note
from tests.support.cluster import Answer, Client
from tests.support.refusals import BODIES, WRITE, assert_invalid, assert_problem

ROUTES = pytest.mark.parametrize("path", BODIES)


@pytest.fixture
async def client(tenant: Tenant) -> Client:
    """May do everything, so that nothing is refused for lack of access."""
    return await tenant.client("admin")


def fields(answer: Answer) -> dict[str, dict[str, Any]]:
    """The errors of a refusal by field."""
    return {error.pop("field"): error for error in assert_invalid(answer)["errors"]}


async def test_every_error_of_a_body_is_answered_at_once(client: Client) -> None:
    body = {
        "context_type": "decision",
        "mission_id": "all",
        "contnt": "typo",
        "agent_name": 3,
        "decision_alternatives": ["a", ""],
        "ttl_hours": 0,
        "source_kind": "agnet",
    }
    assert fields(await client.post(WRITE, body)) == {
        "mission_id": {"message": "'all' is reserved"},
        "content": {"message": "is required"},
        "contnt": {"message": "unknown field", "did_you_mean": "content"},
        "agent_name": {"message": "must be a string of 1 to 200 characters, not 3"},
        "decision_rationale": {"message": "is required"},
        "decision_alternatives[1]": {"message": "must be a string of 1 to 4000 characters, not an empty one"},
        "ttl_hours": {"message": "must be a number above 0 and up to 8784, not 0"},
        "source_kind": {
            "message": "must be one of agent, derived, document, imported, tool, user",
            "allowed": ["agent", "derived", "document", "imported", "tool", "user"],
            "did_you_mean": "agent",
        },
    }


async def test_an_unknown_tag_lists_the_tags(client: Client) -> None:
    found = fields(await client.post(WRITE, note("m", "x") | {"context_type": "intelligence"}))
    assert found["context_type"]["allowed"][:3] == ["decision", "directive", "intel"]
    assert len(found["context_type"]["allowed"]) == 9
    assert "intel_source" not in found


async def test_every_error_of_a_query_is_answered_at_once(client: Client) -> None:
    answer = await client.get("/api/dispatch?statsu=stale&status=done&limit=x")
    assert fields(answer) == {
        "statsu": {"message": "unknown query parameter"},
        "status": {
            "message": "must be one of completed, dispatched, in_progress, stale",
            "allowed": ["completed", "dispatched", "in_progress", "stale"],
        },
        "limit": {"message": "must be a whole number from 1 to 1000"},
    }


async def test_errors_of_path_query_and_body_come_together(client: Client) -> None:
    answer = await client.post("/api/context/log/0/replay", {"token_budgt": 5})
    assert set(fields(answer)) == {"assembly_id", "token_budgt"}


@pytest.mark.parametrize(
    ("path", "wrong", "meant"),
    [
        ("/api/timeline?misson=m", "misson", "mission"),
        ("/api/context/log?limt=5", "limt", "limit"),
        ("/api/context/keys?cursr=5", "cursr", "cursor"),
        ("/api/psychic-cache/all/missions?limits=5", "limits", "limit"),
        ("/api/agent-memory/export?agent_nam=a", "agent_nam", "agent_name"),
        ("/api/psychic-cache/m/stats?x=1", "x", None),
        ("/mcp?toolsets=default", "toolsets", "toolset"),
    ],
)
async def test_an_unknown_query_parameter_is_refused(
    client: Client, path: str, wrong: str, meant: str | None
) -> None:
    answer = await client.post(path, {"method": "x"}) if path.startswith("/mcp") else await client.get(path)
    error = fields(answer)[wrong]
    assert (error["message"], error.get("did_you_mean")) == ("unknown query parameter", meant)


async def test_hostile_queries_stay_small(client: Client) -> None:
    many = "&".join(f"p{n}=1" for n in range(2_000))
    answer = await client.get(f"/api/timeline?{many}")
    assert len(assert_invalid(answer)["errors"]) == 50


async def test_20000_unknown_fields_stay_small(client: Client) -> None:
    for path, body in BODIES.items():
        problem = assert_invalid(await client.post(path, body | {f"f{n}": n for n in range(20_000)}))
        assert len(problem["errors"]) == 50
        assert len(problem["detail"]) < 2_000


@ROUTES
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/msgpack"])
async def test_a_body_of_another_type_says_which_it_must_be(client: Client, path: str, kind: str) -> None:
    raw = json.dumps(BODIES[path]).encode()
    answer = await client.call("POST", path, None, data=raw, headers={"content-type": kind})
    problem = assert_problem(answer, 415)
    assert "application/json" in problem["detail"]


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
async def test_json_goes_by_these_types(client: Client, kind: str) -> None:
    raw = json.dumps(BODIES[WRITE]).encode()
    answer = await client.call("POST", WRITE, None, data=raw, headers={"content-type": kind})
    assert answer.status == 201, answer


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/api/context/assembel", "/api/context/assemble"),
        ("/api/psychic-cache/all/mission", "/api/psychic-cache/all/missions"),
        ("/api/psychic-cach/m/entries", "/api/psychic-cache/m/entries"),
        ("/api/psychic-cache/m/entires", "/api/psychic-cache/{mission_id}/entries"),
        ("/api/agent-memory/abc", "/api/agent-memory/{memory_id}"),
        ("/api/agent-memory/abc/def", None),
        ("/internal/serach", None),
        ("/nothing", None),
    ],
)
async def test_an_unknown_path_says_where_to_look(client: Client, path: str, meant: str | None) -> None:
    problem = assert_problem(await client.get(path), 404)
    assert "/docs" in problem["detail"]
    assert problem.get("did_you_mean") == meant


async def test_a_wrong_method_says_which_there_are(client: Client) -> None:
    for path in ("/api/context/assemble", WRITE):
        answer = await client.get(path)
        assert "POST" in assert_problem(answer, 405)["detail"]
        assert "POST" in answer.headers["allow"]


async def test_each_kind_of_problem_has_a_page(client: Client) -> None:
    refused = [
        await client.post(WRITE, {}),
        await client.get("/api/nothing"),
        await client.get(WRITE),
        await client.call("POST", WRITE, None, data=b"x", headers={"content-type": "text/plain"}),
        await client.post("/api/psychic-cache/write", None, headers={"authorization": "Bearer nobody"}),
    ]
    types = {answer.body["type"] for answer in refused}
    assert len(types) == len(refused)
    for kind in [*types, *(f"/problems/{kind}" for kind in KINDS), "/problems"]:
        async with client.session.get(kind) as page:
            assert page.status == 200
            assert page.content_type == "text/html"
            assert "http:" not in await page.text()
    assert (await client.get("/problems/none")).status == 404


async def test_the_root_leads_to_the_docs(client: Client) -> None:
    async with client.session.get("/", allow_redirects=False) as answer:
        assert (answer.status, answer.headers["location"]) == (307, "/docs")
    async with client.session.get("/") as page:
        assert "Scrubjay API" in await page.text()
