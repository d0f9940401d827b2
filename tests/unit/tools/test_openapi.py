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
            assert operation.path.startswith(("/api/context/", "/api/timeline")), "who answers it?"
