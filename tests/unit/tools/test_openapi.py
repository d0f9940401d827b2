"""The API's document is what the code says, it is valid, and it leaves no operation without words and examples."""

import inspect

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from services.context.document import as_json, as_yaml
from services.context.forwarding.forward import PREFIXES, is_read
from tests.support.openapi import DOCUMENT, PROBLEM, Operation, check, check_content, operations
from tools.openapi.document import apps, build, rendered
from tools.openapi.operations import handlers_of

every_operation = pytest.mark.parametrize("operation", list(operations()), ids=lambda one: one.id)


def test_the_committed_document_is_what_the_code_says() -> None:
    assert as_json().decode() == rendered(build()), "run `make openapi`"


def test_it_is_valid() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_yaml_says_the_same() -> None:
    assert b"openapi: 3.1.0" in as_yaml()


def test_ids_are_unique_and_no_inner_route_is_public() -> None:
    ids = [one.id for one in operations()]
    assert len(set(ids)) == len(ids)
    assert not [path for path in DOCUMENT["paths"] if "internal" in path]


@every_operation
def test_it_is_described(operation: Operation) -> None:
    assert operation.told["summary"]
    assert operation.told["description"]
    assert operation.told["x-access"] in ("read", "write", "admin", "public")


def test_every_tag_parameter_and_field_is_described() -> None:
    tags = {tag["name"]: tag["description"] for tag in DOCUMENT["tags"]}
    assert all(tags.values())
    assert {tag for one in operations() for tag in one.told["tags"]} == set(tags)
    assert not [
        f"{one.id} {parameter['name']}"
        for one in operations()
        for parameter in one.parameters
        if not parameter.get("description")
    ], "say it in the route, or for every route in tools/openapi/words.py"
    assert not [
        f"{name}.{field}"
        for name, schema in DOCUMENT["components"]["schemas"].items()
        for field, told in schema.get("properties", {}).items()
        if not told.get("description")
    ], "say it in a text after the field, or for every struct in tools/openapi/words.py"


def test_operations_are_tagged_by_what_they_are_for() -> None:
    tags = {one.id: one.told["tags"] for one in operations()}
    assert tags["context_assemble"] == tags["context_remember"] == ["assemble and remember"]
    assert tags["context_purge"] == tags["agent_memory_forget"] == ["erasure"]
    assert tags["context_explain"] == tags["context_source"] == ["why"]
    assert {tag for one in tags.values() for tag in one} == {
        "assemble and remember",
        "missions",
        "memories",
        "vault",
        "long-term memory",
        "consolidation",
        "facts",
        "dispatches",
        "sessions",
        "checkpoints",
        "webhooks",
        "why",
        "learning",
        "costs",
        "profiles",
        "timeline",
        "keys",
        "audit",
        "backlog",
        "review",
        "secrets",
        "languages",
        "erasure",
    }


def test_short_names_stand_beside_the_main_ones() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["AssembleContextInput"]["properties"]["agent"]["x-alias-of"] == "caller"
    assert schemas["Decision"]["properties"]["mission"]["x-alias-of"] == "mission_id"
    assert schemas["TaskContext"]["properties"]["mission"]["x-alias-of"] == "mission_namespace"
    assert "agent" not in schemas["LogEntry"]["properties"]
    for name in ("AssembleContextInput", "Decision", "CommitAgentMemoryInput"):
        assert not {"caller", "agent_name", "mission_id"} & set(schemas[name]["required"])


@every_operation
def test_examples_are_valid(operation: Operation) -> None:
    for parameter in operation.parameters:
        if "example" in parameter:
            check(parameter["schema"], parameter["example"])
        assert "example" in parameter or not parameter["required"]
    for media, told in operation.bodies.items():
        assert told["examples"], "add one to tools/openapi/examples.py"
        for example in told["examples"].values():
            check_content(operation.bodies, media, example["value"])
    for status in operation.told["responses"]:
        if status >= "3":
            content = operation.answers(int(status))
            check_content(content, PROBLEM, content[PROBLEM]["example"])
    (success,) = (int(status) for status in operation.told["responses"] if status.startswith("2"))
    for media, told in operation.answers(success).items():
        check_content(operation.answers(success), media, told["example"])


def test_a_key_is_documented_where_it_is_taken() -> None:
    for app in apps():
        for handler in handlers_of(app):
            takes = "key_of(" in inspect.getsource(handler.fn)
            assert takes == bool(handler.opt.get("keyed")), handler


def test_forwarding_tells_reads_from_writes() -> None:
    """Deadlines and quotas go by it before an owner says what the route is."""
    for operation in operations():
        if operation.path.startswith(tuple(PREFIXES)):
            assert is_read(operation.method, operation.path) == (operation.told["x-access"] == "read"), (
                operation.id
            )
        else:
            assert operation.path.startswith(("/api/context/", "/api/timeline", "/api/webhooks")), (
                "who answers it?"
            )
