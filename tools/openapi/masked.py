"""Adds to the answers of operations that take a body what was masked in it: the door says so, not the handlers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shared.vocabulary import DEFAULT
from tools.openapi.operations import MEDIA, Operation

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_MASKED: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "field": {**_TEXT, "description": "Where it was: the dotted path of the field."},
            "kind": {**_TEXT, "description": "What it was, such as `github token`."},
        },
        "required": ["field", "kind"],
        "additionalProperties": _TEXT,
    },
    "description": "The secrets in the request that a mask stands for now, where there were any.",
    DEFAULT: [],
}


def show_masked(
    operations: Iterable[Operation], schemas: Mapping[tuple[str, str], Schema], components: dict[str, Schema]
) -> None:
    for operation in operations:
        answer = schemas.get((operation.id, f"answer {MEDIA['json']}"))
        if operation.reads and answer is not None:
            components[answer["$ref"].rsplit("/", 1)[-1]]["properties"]["masked"] = _MASKED
