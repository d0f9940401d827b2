"""Request bodies: strict decoding into structs, and every error of a body that is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

import msgspec
import msgspec.inspect as mi

from shared.auth import Principal
from shared.bindings import unbound
from shared.errors import FieldError, Invalid
from shared.validation.values import MISSING, MOST_ERRORS, UNKNOWN_FIELD, FieldsRefused, errors_of
from shared.vocabulary import Rewritten

__all__ = ["MAX_BODY", "UNKNOWN_FIELD", "Body", "decode"]

T = TypeVar("T")

# The largest request body, in bytes.
MAX_BODY = 2 * 1024 * 1024
# Lists and objects within each other, where a field may hold any JSON.
MOST_LEVELS = 100

_NUL = "must not contain U+0000"
_TOO_DEEP = "is nested too deeply"


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The base of every request body. It refuses unknown fields, and text that Postgres cannot store."""

    def __post_init__(self) -> None:
        # Most fields of most bodies are not given.
        errors = [
            (field, problem)
            for field in self.__struct_fields__
            if (value := getattr(self, field)) is not None and (problem := _problem(value)) is not None
        ]
        errors += islice(self.checks(), MOST_ERRORS)
        if errors:
            raise FieldsRefused(errors)

    def checks(self) -> Iterator[tuple[str, str]]:
        """What types cannot say of the fields, as pairs of a field and what is wrong with it."""
        return iter(())


def _problem(value: Any) -> str | None:
    """Why a value cannot be stored, or None."""
    if isinstance(value, str):
        return _NUL if "\x00" in value else None
    if not value or not isinstance(value, list | dict):
        return None
    level = [value]
    # Level by level, because the input could exhaust the stack.
    for _ in range(MOST_LEVELS):
        if any("\x00" in each for each in level if isinstance(each, str)):
            return _NUL
        level = [item for each in level for item in _items(each)]
        if not level:
            return None
    return _TOO_DEEP


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else ()


def decode(body: bytes, decoder: msgspec.json.Decoder[T], principal: Principal | None = None) -> T:
    """Short names and ids as strings are taken, too: see `shared.vocabulary`.

    Raises Invalid with every error of the body. `principal` is the caller whose key may fill in fields: without those
    that it leaves open, a body is refused (`shared.bindings`).
    """
    kind: Any = decoder.type
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        found = Rewritten(_document(body), kind)
        refused: Exception = error
    if found.changed:
        try:
            return decoder.decode(msgspec.json.encode(found.document))
        except (msgspec.DecodeError, OverflowError) as error:
            refused = error
    errors = errors_of(_type_info(kind), found.document, unbound(principal))
    raise found.as_given(Invalid.of(errors or [_where(refused)])) from refused


def _document(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid.field("body", _not_json(body, error)) from error


@lru_cache(maxsize=256)
def _type_info(kind: Any) -> mi.Type:
    return mi.type_info(kind)


_BYTE = re.compile(r"\(byte \d+\)")


def _not_json(body: bytes, error: Exception) -> str:
    if not body:
        return MISSING
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    if isinstance(error, UnicodeDecodeError):
        return "is not valid UTF-8"
    if isinstance(error, msgspec.ValidationError):
        return "holds a number that is out of range"
    place = _BYTE.search(str(error))
    return "is not valid JSON " + (place[0] if place else "(it breaks off)")


_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")


def _where(refused: Exception) -> FieldError:
    """What the decoder itself says, for a body so large that the walk ends before the error."""
    match = _PATH.search(str(refused))
    own = isinstance(refused.__cause__, FieldsRefused)
    return FieldError(
        field=match["path"] if match and match["path"] else "body",
        message=str(refused.__cause__) if own else "is not valid",
    )
