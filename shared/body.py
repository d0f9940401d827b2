"""Request bodies: strict decoding into structs, with errors that name the field."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from shared.errors import Invalid
from shared.vocabulary import Rewritten, rewritten

T = TypeVar("T")

UNKNOWN_FIELD = "unknown field"
# Bytes of a request's body.
MAX_BODY = 2 * 1024 * 1024


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Base of every request body: unknown fields are refused, and so is text that Postgres cannot hold."""

    def __post_init__(self) -> None:
        for field in self.__struct_fields__:
            if _holds_nul(getattr(self, field)):
                raise ValueError(f"{field}: must not contain U+0000")


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, list):
        return any(_holds_nul(item) for item in value)
    if isinstance(value, dict):
        return any(_holds_nul(key) or _holds_nul(item) for key, item in value.items())
    return False


_PATH = re.compile(r"^(?P<message>.*?)(?: - at `(?P<path>\$[^`]*|key[^`]*)`)?$", re.S)
_NAMED = re.compile(r"^Object (?P<what>missing required|contains unknown) field `(?P<name>[^`]+)`$")
_REFUSED = re.compile(r"^(?P<name>\w+): (?P<message>.*)$", re.S)


def invalid(error: msgspec.DecodeError) -> Invalid:
    """A decoding error as a 400 that names the field, as a dotted path from the body's root."""
    if not isinstance(error, msgspec.ValidationError):
        return Invalid.field("body", f"not valid JSON: {error}")
    match = _PATH.match(str(error))
    message, path = (match["message"], match["path"] or "") if match else (str(error), "")
    path = path.removeprefix("$").removeprefix(".")
    if named := _NAMED.match(message):
        path = f"{path}.{named['name']}" if path else named["name"]
        message = "is required" if named["what"].startswith("missing") else UNKNOWN_FIELD
    elif refused := _REFUSED.match(message):
        path = f"{path}.{refused['name']}" if path else refused["name"]
        message = refused["message"]
    return Invalid.field(path or "body", message)


def decode(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Raises Invalid. Short names and ids as strings are taken, too: see `shared.vocabulary`."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        if (found := rewritten(body, decoder.type)) is not None:
            return _decode_rewritten(found, decoder)
        raise invalid(error) from error
    except msgspec.DecodeError as error:
        raise invalid(error) from error
    except UnicodeDecodeError as error:
        raise Invalid.field("body", "not valid UTF-8") from error
    except RecursionError as error:
        raise Invalid.field("body", "nested too deeply") from error


def _decode_rewritten(found: Rewritten, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(msgspec.json.encode(found.document))
    except msgspec.DecodeError as error:
        raise found.as_given(invalid(error)) from error
    except OverflowError as error:
        raise Invalid.field("body", "holds a number that is out of range") from error
