"""What `make verify-types` compiles, and that nothing in the document makes a field with a default required."""

from proofs.typescript import minimal
from shared.vocabulary import DEFAULT
from tests.support.openapi import DOCUMENT, check, operations
from tools.openapi.defaults import show_defaults


def test_generators_of_types_see_no_field_with_a_default() -> None:
    fields = {
        f"{name}.{field}": told
        for name, schema in DOCUMENT["components"]["schemas"].items()
        for field, told in schema.get("properties", {}).items()
    }
    assert not [name for name, told in fields.items() if "default" in told]
    assert fields["AssembleContextInput.log"][DEFAULT] is True
    assert "Default: `true`." in fields["AssembleContextInput.log"]["description"]


def test_a_field_that_is_always_there_has_no_default() -> None:
    schema = {"properties": {"a": {"default": 1}, "b": {"default": None}}, "required": ["a"]}
    show_defaults(schema, asked=True)
    assert schema["properties"] == {"a": {}, "b": {DEFAULT: None}}


def test_minimal_bodies_are_valid() -> None:
    for one in operations():
        if content := one.bodies.get("application/json"):
            for body in minimal(DOCUMENT, content["schema"]):
                check(content["schema"], body)
