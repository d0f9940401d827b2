"""The API's document, and what it says of a request or an answer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from services.context.document import as_json

DOCUMENT: dict[str, Any] = json.loads(as_json())
PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Operation:
    id: str
    method: str
    path: str
    told: dict[str, Any]

    @property
    def parameters(self) -> list[dict[str, Any]]:
        return [_followed(one) for one in self.told["parameters"]]

    @property
    def bodies(self) -> dict[str, Any]:
        """What it takes, by media type."""
        return dict(self.told.get("requestBody", {}).get("content", {}))

    def answers(self, status: int) -> dict[str, Any]:
        """What it says with a status, by media type. Raises KeyError where the status is not documented."""
        return dict(_followed(self.told["responses"][str(status)]).get("content", {}))


def operations() -> Iterator[Operation]:
    for path, methods in DOCUMENT["paths"].items():
        for method, told in methods.items():
            yield Operation(told["operationId"], method.upper(), path, told)


def check(schema: dict[str, Any], value: Any) -> None:
    """Raises jsonschema.ValidationError."""
    Draft202012Validator(
        {**schema, "components": DOCUMENT["components"]}, format_checker=Draft202012Validator.FORMAT_CHECKER
    ).validate(value)


def check_content(content: dict[str, Any], media: str, value: Any) -> None:
    """A body or an answer of a documented media type; of a sequence, each item."""
    told = content[media]
    check(told["schema"], value)
    if item := told.get("x-item-schema"):
        for one in _items(media, value):
            check(item, one)


def _items(media: str, text: str) -> Iterator[Any]:
    start = "data: " if media == "text/event-stream" else ""
    for line in text.split("\n"):
        if line.startswith(start) and line:
            yield json.loads(line.removeprefix(start))


def _followed(told: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in told:
        return told
    found: dict[str, Any] = DOCUMENT
    for step in told["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found
