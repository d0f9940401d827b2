"""Secrets in request bodies: a JSON document, or JSON Lines. Values are searched, and the names of fields, which an
object of any names may keep."""

from __future__ import annotations

from typing import Any

import msgspec

from services.context.scrubbing.schemas import Masked
from shared.errors import Invalid
from shared.secrets.scanning import found_in, masked, may_hold


class Scrubbed(msgspec.Struct):
    """A body with its secrets masked, and where they were."""

    body: bytes
    secrets: list[Masked]


def scrubbed(body: bytes, *, lines: bool) -> Scrubbed:
    """A body that cannot be read stays as it is: the route that reads it says what is wrong with it."""
    if not may_hold(body):
        return Scrubbed(body, [])
    if not lines:
        return _document(body, "")
    parts = [_document(line, f"line {number}") for number, line in enumerate(body.splitlines(), 1)]
    secrets = [secret for part in parts for secret in part.secrets]
    return Scrubbed(b"\n".join(part.body for part in parts) if secrets else body, secrets)


def _document(body: bytes, path: str) -> Scrubbed:
    secrets: list[Masked] = []
    try:
        document = _value(msgspec.json.decode(body), path, secrets)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Scrubbed(body, [])
    try:
        return Scrubbed(msgspec.json.encode(document) if secrets else body, secrets)
    except (OverflowError, UnicodeEncodeError) as error:
        raise Invalid.field("body", "holds a value that is out of range") from error


def _value(value: Any, path: str, secrets: list[Masked]) -> Any:
    """The value with its secrets masked; adds them to `secrets`."""
    if isinstance(value, str):
        return _text(value, path, secrets)
    if isinstance(value, list):
        return [_value(item, f"{path}[{place}]", secrets) for place, item in enumerate(value)]
    if isinstance(value, dict):
        named = [(_text(name, path, secrets), item) for name, item in value.items()]
        return {name: _value(item, f"{path}.{name}" if path else name, secrets) for name, item in named}
    return value


def _text(text: str, path: str, secrets: list[Masked]) -> str:
    found = found_in(text)
    if not found:
        return text
    secrets += [Masked(field=path or "body", kind=one.kind) for one in found]
    return masked(text, found)
