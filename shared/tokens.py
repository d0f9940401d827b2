"""The only estimate of tokens: characters / 4, rounded up."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    return _tokens(len(text))


def estimate_tokens_of(values: Iterable[Any]) -> int:
    """Tokens of all values, including those in lists and objects. Numbers and times count as they are written."""
    return _tokens(_characters_of(values))


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _characters_of(values: Iterable[Any]) -> int:
    return sum(map(_characters, values))


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return _characters_of(value)
    if isinstance(value, dict):
        return _characters_of(value) + _characters_of(value.values())
    if isinstance(value, datetime):
        return len(value.isoformat())
    return 0 if value is None else len(str(value))
