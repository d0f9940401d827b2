"""The API only grows: what is released stays, and the comparison that says so sees every kind of break."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.openapi import DOCUMENT
from tools.openapi.additive import breaks, released, without_words

Json = dict[str, Any]


def test_nothing_that_was_released_is_gone() -> None:
    assert not breaks(released(), DOCUMENT)


def _operation(document: Json, path: str = "/api/context/assemble", method: str = "post") -> Json:
    operation: Json = document["paths"][path][method]
    return operation


def _model(document: Json, name: str) -> Json:
    model: Json = document["components"]["schemas"][name]
    return model


def _parameter(document: Json, path: str, name: str) -> Json:
    parameters = _operation(document, path, "get")["parameters"]
    return next(p for p in parameters if p.get("name") == name)


BREAKS: dict[str, Callable[[Json], Any]] = {
    "a path goes": lambda d: d["paths"].pop("/api/context/assemble"),
    "a method goes": lambda d: d["paths"]["/api/context/weights"].pop("put"),
    "an operation is renamed": lambda d: _operation(d).update(operationId="other"),
    "more access is needed": lambda d: _operation(d).update({"x-access": "write"}),
    "a status goes": lambda d: _operation(d)["responses"].pop("403"),
    "a media type goes": lambda d: _operation(d, "/api/timeline", "get")["responses"]["200"]["content"].pop(
        "text/event-stream"
    ),
    "a query parameter goes": lambda d: _operation(d, "/api/timeline", "get")["parameters"].pop(0),
    "a query parameter is required": lambda d: _parameter(d, "/api/timeline", "kind").update(required=True),
    "a key is no longer taken": lambda d: _operation(d, "/api/psychic-cache/write")["parameters"].remove(
        {"$ref": "#/components/parameters/IdempotencyKey"}
    ),
    "a field of a request goes": lambda d: _model(d, "AssembleContextInput")["properties"].pop("as_of"),
    "a field of a request is required": lambda d: _model(d, "AssembleContextInput")["required"].append(
        "user_id"
    ),
    "a new field is required": lambda d: (
        _model(d, "PurgeInput")["required"].append("new"),
        _model(d, "PurgeInput")["properties"].update(new={"type": "string"}),
    ),
    "less text is taken": lambda d: _model(d, "Decision")["properties"]["content"].update(maxLength=10),
    "a lower bound rises": lambda d: _model(d, "AssembleContextInput")["properties"]["token_budget"]["anyOf"][
        0
    ].update(minimum=100),
    "null is not taken": lambda d: _model(d, "AssembleContextInput")["properties"]["as_of"]["anyOf"].pop(),
    "a choice goes": lambda d: _model(d, "Decision")["properties"]["source_kind"]["enum"].remove("tool"),
    "a branch of a union goes": lambda d: _operation(d, "/api/psychic-cache/write")["requestBody"]["content"][
        "application/json"
    ]["schema"]["anyOf"].pop(),
    "a field of a branch goes": lambda d: _model(d, "Intel")["properties"].pop("intel_confidence"),
    "a field of an answer goes": lambda d: _model(d, "Assembly")["properties"].pop("degraded"),
    "a field deep in an answer goes": lambda d: _model(d, "Source")["properties"].pop("score"),
    "a field may be missing": lambda d: _model(d, "Source")["required"].remove("score"),
    "a field may be null": lambda d: _model(d, "Source")["properties"].update(
        score={"anyOf": [{"type": "number"}, {"type": "null"}]}
    ),
    "a field changes its type": lambda d: _model(d, "Source")["properties"]["id"].update(type="string"),
    "a field of a problem goes": lambda d: _model(d, "Problem")["properties"].pop("errors"),
    "an item of a stream changes": lambda d: _model(d, "Event")["properties"].pop("seq"),
}
GROWTHS: dict[str, Callable[[Json], Any]] = {
    "a path": lambda d: d["paths"].update({"/api/new": d["paths"]["/api/context/assemble"]}),
    "a status": lambda d: _operation(d)["responses"].update({"409": {"description": "."}}),
    "an optional field of a request": lambda d: _model(d, "PurgeInput")["properties"].update(
        new={"type": "string"}
    ),
    "a field that need not be given any more": lambda d: _model(d, "PurgeInput").update(required=[]),
    "a field of an answer": lambda d: _model(d, "Source")["properties"].update(new={"type": "string"}),
    "another choice": lambda d: _model(d, "Decision")["properties"]["source_kind"]["enum"].append("new"),
    "more text": lambda d: _model(d, "Decision")["properties"]["content"].update(maxLength=10**6),
    "other words": lambda d: _operation(d).update(summary="new", description="new"),
}


@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_a_break_is_seen(change: Callable[[Json], Any]) -> None:
    changed = copy.deepcopy(DOCUMENT)
    change(changed)
    assert breaks(without_words(DOCUMENT), changed)


@pytest.mark.parametrize("change", GROWTHS.values(), ids=GROWTHS)
def test_a_growth_is_none(change: Callable[[Json], Any]) -> None:
    changed = copy.deepcopy(DOCUMENT)
    change(changed)
    assert not breaks(without_words(DOCUMENT), changed)
