"""The API's document is what the code says, and says it of every route."""

import json

from services.context.document import as_json, as_yaml
from tools.openapi.document import build, rendered


def test_the_committed_document_is_what_the_code_says() -> None:
    assert as_json().decode() == rendered(build()), "run `make openapi`"


def test_no_inner_route_is_public() -> None:
    assert not [path for path in json.loads(as_json())["paths"] if "internal" in path]


def test_yaml_says_the_same() -> None:
    assert b"openapi: 3.1.0" in as_yaml()
