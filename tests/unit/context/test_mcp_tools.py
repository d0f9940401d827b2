"""The tools are what every client understands, what the routes take, and no less than what was published."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from services.context.document import as_json
from services.context.mcp.calls import request_of
from services.context.mcp.catalog import TOOLS, TOOLSETS
from services.context.mcp.fields import FIELDS
from services.context.mcp.resources import RESOURCES, find
from services.context.mcp.toolbox import Bound, chosen, toolbox
from shared.errors import Invalid
from tools.mcp.snapshot import PUBLISHED, breaks, build, rendered

BOX = toolbox(json.loads(as_json()))
EVERY = pytest.mark.parametrize("bound", BOX.values(), ids=list(BOX))
COMPOSITION = {"oneOf", "anyOf", "allOf", "not", "if", "$ref"}


@EVERY
def test_a_schema_that_every_client_understands(bound: Bound) -> None:
    assert bound.input["type"] == "object"
    assert not COMPOSITION & set(bound.input)
    Draft202012Validator.check_schema(bound.input)
    if bound.output is not None:
        assert bound.output["type"] == "object"
        assert not COMPOSITION & set(bound.output)
        Draft202012Validator.check_schema(bound.output)
    assert "$ref" not in json.dumps([bound.input, bound.output])
    for name, schema in bound.input["properties"].items():
        assert schema["type"] in ("string", "integer", "number", "boolean", "array", "object"), name
        assert all(abs(schema[bound]) <= 2**53 for bound in ("minimum", "maximum") if bound in schema), name
        flat = schema["type"] != "object" or bound.kind == "raw"
        assert flat, f"{name} is not flat"


@EVERY
def test_everything_is_described(bound: Bound) -> None:
    assert bound.description[-1] == "."
    for path, schema in _parts(bound.input):
        assert schema.get("description", "").strip().endswith((".", ")")), f"{path} has no description"
    assert len(bound.name) <= 40


def _parts(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, one in schema.get("properties", {}).items():
        yield f"{path}.{name}", one
        yield from _parts(one, f"{path}.{name}")
        yield from _parts(one.get("items", {}), f"{path}.{name}[]")


def test_only_what_answers_a_block_has_no_output_schema() -> None:
    assert {name for name, bound in BOX.items() if bound.output is None} == {
        "assemble_context",
        "assemble_context_raw",
        "memory_search",
        "query_psychic_cache",
        "query_psychic_cache_raw",
    }


def test_the_first_line_says_what_a_mission_is_written_for() -> None:
    first = BOX["write_psychic_cache"].description.splitlines()[0]
    assert first.startswith("Share what happens in a mission with its other agents")


def test_the_default_set() -> None:
    names = [one.name for one in chosen(BOX, ["default"])]
    assert names == [
        "assemble_context",
        "context_feedback",
        "remember",
        "memory_search",
        "write_psychic_cache",
        "commit_agent_memory",
        "query_session",
        "restore_object",
    ]


def test_every_toolset_has_tools() -> None:
    assert all(chosen(BOX, [name]) for name in TOOLSETS)
    assert {one.name for one in chosen(BOX, ["full", "raw"])} == set(BOX)


def test_the_seeds_tools_are_there() -> None:
    assert {
        "write_psychic_cache",
        "write_psychic_cache_raw",
        "clear_psychic_cache",
        "assemble_context",
        "context_feedback",
        "context_feedback_raw",
        "commit_agent_memory",
        "commit_agent_memory_raw",
    } <= set(BOX)


def test_nothing_is_described_in_vain() -> None:
    used = {path.rpartition(".")[2] for one in BOX.values() for path, _ in _parts(one.input)}
    assert set(FIELDS) <= used
    assert all(set(tool.fields) <= set(BOX[tool.name].input["properties"]) for tool in TOOLS)


@EVERY
def test_every_field_becomes_a_part_of_the_request(bound: Bound) -> None:
    if bound.kind == "raw":
        return
    values = {name: f"v{n}" for n, name in enumerate(bound.input["properties"])}
    path, query, body, headers = request_of(bound.route, values)
    whole = f"{path} {query.decode()} {body.decode()} {headers}"
    assert all(f"{value}" in whole for value in values.values())
    assert "{" not in path


def test_a_name_cannot_lead_elsewhere() -> None:
    route = BOX["list_mission_entries"].route
    path, *_ = request_of(route, {"mission_id": "../all/missions?x=1#"})
    assert path == "/api/psychic-cache/..%2Fall%2Fmissions%3Fx%3D1%23/entries"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_cache_entry", {}),
        ("get_cache_entry", {"entry_id": True}),
        ("get_cache_entry", {"entry_id": [1]}),
        ("get_cache_entry", {"entry_id": 1.5}),
        ("get_cache_entry", {"entry_id": 1, "colour": "red"}),
        ("list_mission_entries", {"mission_id": "\ud800"}),
        ("write_psychic_cache", {"content": "\ud800"}),
        ("write_psychic_cache", {"idempotency_key": 7.5}),
    ],
)
def test_what_cannot_be_part_of_a_request(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        request_of(BOX[name].route, arguments)


def test_resources_lead_to_routes() -> None:
    operations = {one.tool.operation: one.route for one in BOX.values()}
    for one in RESOURCES:
        uri = one.uri.replace("{", "").replace("}", "").replace("mission_id", "a%2Fb")
        found = find(uri)
        assert found is not None, uri
        assert found[0] == one.operation
        request_of(operations[found[0]], found[1])
    assert find("scrubjay://missions/a%2Fb") == ("cache_mission_entries", {"mission_id": "a/b"})
    assert find("scrubjay://missions/a/b") is None
    assert find("file:///etc/passwd") is None


def test_what_is_published_is_what_there_is() -> None:
    assert PUBLISHED.read_text() == rendered(build()), "run `make openapi`"


def test_what_was_published_is_not_taken_back() -> None:
    published, now = json.loads(PUBLISHED.read_text()), build()
    assert breaks(published, now) == []
    fields = now["write_psychic_cache"]["inputSchema"]
    wider = copy.deepcopy(now)
    wider["new_tool"] = wider["remember"]
    wider["write_psychic_cache"]["inputSchema"]["properties"]["mood"] = {"type": "string"}
    assert breaks(now, wider) == []
    changes: tuple[Callable[[Any], object], ...] = (
        lambda tools: tools.pop("remember"),
        lambda tools: tools["write_psychic_cache"]["inputSchema"]["properties"].pop("content"),
        lambda tools: tools["write_psychic_cache"]["inputSchema"]["required"].append("agent_name"),
        lambda tools: tools["write_psychic_cache"]["inputSchema"]["properties"]["content"].update(
            maxLength=9
        ),
        lambda tools: tools["write_psychic_cache"]["inputSchema"]["properties"]["context_type"]["enum"].pop(),
        lambda tools: tools["write_psychic_cache"]["inputSchema"]["properties"]["turn_count"].update(
            type="string"
        ),
        lambda tools: tools["write_psychic_cache"]["outputSchema"]["properties"]["data"]["required"].pop(),
        lambda tools: tools["context_feedback"].update(outputSchema=None),
        lambda tools: tools["assemble_context"]["annotations"].update(readOnlyHint=False),
    )
    for change in changes:
        narrower = copy.deepcopy(now)
        change(narrower)
        assert breaks(now, narrower), fields
