"""Plays the examples on a running cluster, with the values kept from earlier answers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tools.openapi.examples import EXAMPLES
from tools.openapi.examples_cache import Example

_SECONDS = 30
_JSON = ("application/json", "application/problem+json")


@dataclass(frozen=True)
class Played:
    example: Example
    status: int
    media: str
    answer: Any


class Player:
    """`document` gives each operation's route. `kept` grows with the answers."""

    def __init__(self, url: str, token: str, document: Mapping[str, Any]) -> None:
        self._address = urlsplit(url).netloc
        self._headers = {"authorization": f"Bearer {token}"}
        self._places = places(document)
        self.kept: dict[str, Any] = {}

    def play(self) -> Iterator[Played]:
        for example in EXAMPLES:
            played = self._call(example)
            if played.status < 300:
                self.kept |= {name: part(played.answer, path) for name, path in example.keep.items()}
            yield played

    def _call(self, example: Example) -> Played:
        method, path, where = self._places[example.operation]
        given = resolved(example.parameters, self.kept)
        shown = {name: quote(str(value), safe="") for name, value in given.items() if where[name] == "path"}
        asked = urlencode({name: value for name, value in given.items() if where[name] == "query"})
        body = resolved(example.body, self.kept)
        headers = {**self._headers, "accept": example.accept}
        if body is not None:
            headers["content-type"] = "application/x-ndjson" if isinstance(body, str) else "application/json"
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        connection = http.client.HTTPConnection(self._address, timeout=_SECONDS)
        try:
            target = path.format(**shown) + (f"?{asked}" if asked else "")
            connection.request(method, target, text and text.encode(), headers)
            response = connection.getresponse()
            media = response.headers.get_content_type()
            return Played(example, response.status, media, _read(response, media))
        finally:
            connection.close()


def _read(response: http.client.HTTPResponse, media: str) -> Any:
    if media != "text/event-stream":
        text = response.read().decode()
        return json.loads(text) if media in _JSON and text else text
    # A stream does not end, so read only its first event.
    lines: list[str] = []
    while not (lines[-1:] == ["\n"] and any(line.startswith("data:") for line in lines)):
        lines.append(response.readline().decode())
    return "".join(lines)


def places(document: Mapping[str, Any]) -> dict[str, tuple[str, str, dict[str, str]]]:
    """The method, path and places of the parameters of each operation."""
    return {
        operation["operationId"]: (
            method.upper(),
            path,
            {p["name"]: p["in"] for p in operation["parameters"] if "name" in p},
        )
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def resolved(value: Any, kept: Mapping[str, Any]) -> Any:
    """Replaces each `$name` with the value that was kept."""
    if isinstance(value, str) and value.startswith("$"):
        return kept[value[1:]]
    if isinstance(value, dict):
        return {key: resolved(item, kept) for key, item in value.items()}
    if isinstance(value, list):
        return [resolved(item, kept) for item in value]
    return value


def part(answer: Any, path: str) -> Any:
    """The value at a dotted path."""
    for step in path.split(".") if path else ():
        answer = answer[int(step)] if isinstance(answer, list) else answer[step]
    return answer
