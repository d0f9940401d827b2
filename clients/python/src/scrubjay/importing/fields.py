"""Reads the fields of a record: texts, times, and further fields as topics. Raises Unfit. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from scrubjay.importing.items import Unfit

Fields = Mapping[str, Any]

_MOST_TOPICS, _LONGEST_TOPIC = 50, 100
_LONGEST_ORIGIN = 500


def fields_of(value: Any) -> Fields:
    if not isinstance(value, dict):
        raise Unfit("is not an object")
    return value


def text(fields: Fields, *names: str) -> str:
    """The first of these fields that holds text."""
    for name in names:
        found = optional(fields, name)
        if found is not None and found.strip():
            return found
    raise Unfit(f"has no {names[0]}")


def optional(fields: Fields, name: str) -> str | None:
    """The field's text; None where it is missing or empty."""
    found = fields.get(name)
    if found is None or found == "":
        return None
    if not isinstance(found, str):
        raise Unfit(f"{name} is not a text")
    return found


def time(fields: Fields, *names: str) -> datetime | None:
    """The time in the first of these fields that holds one. A time without an offset is UTC."""
    for name in names:
        found = optional(fields, name)
        if found is not None:
            return _time(name, found)
    return None


def _time(name: str, value: str) -> datetime:
    try:
        read = datetime.fromisoformat(value)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unfit(f"{name} is not a time: {value[:40]!r}") from None


def past(*times: datetime | None) -> datetime | None:
    """The first time that does not lie ahead: what is written has happened."""
    now = datetime.now(UTC)
    return next((each for each in times if each is not None and each <= now), None)


def iso(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


def changed_since(created: datetime | None, updated: datetime | None) -> list[str]:
    """A topic that keeps when a record was created, where its text is of a later time."""
    if created is None or updated is None or created >= updated:
        return []
    return [f"created: {iso(created)}"]


def strings(fields: Fields, name: str) -> list[str]:
    found = fields.get(name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise Unfit(f"{name} is not a list of texts")
    return found


def scalars(fields: Fields) -> list[tuple[str, str]]:
    """The fields whose values are short: texts, numbers, true and false."""
    found = []
    for name, value in fields.items():
        if isinstance(value, bool):
            found.append((name, str(value).lower()))
        elif isinstance(value, str | int | float) and value != "":
            found.append((name, str(value)))
    return found


def named(fields: Fields) -> list[str]:
    """Topics such as `team: payments`."""
    return [f"{name}: {value}" for name, value in scalars(fields)]


def topics(*groups: Iterable[str]) -> list[str]:
    """Each topic once. Those that show nothing, those that are too long, and those beyond the limit are left out."""
    found = dict.fromkeys(each.strip() for group in groups for each in group)
    return [each for each in found if len(each) <= _LONGEST_TOPIC and is_seen(each)][:_MOST_TOPICS]


def is_seen(text: str) -> bool:
    """Whether it shows anything."""
    return any(letter.isprintable() and not letter.isspace() for letter in text)


def origin(system: str, *parts: str) -> str:
    """The system and the record's id there; of an id that is too long, the beginning and a digest."""
    whole = f"{system}:{'/'.join(part.replace('%', '%25').replace('/', '%2F') for part in parts)}"
    if len(whole) <= _LONGEST_ORIGIN:
        return whole
    return f"{whole[: _LONGEST_ORIGIN // 2]}#{digest(whole)}"


def digest(value: str) -> str:
    return hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()[:32]
