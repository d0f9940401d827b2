"""Providers' bills, by their published rules for cached input."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from services.context.gateway.paging.blocks import tokens_of

# Anthropic: https://docs.claude.com/en/docs/build-with-claude/prompt-caching. OpenAI: guides/prompt-caching.
_LOOKBACK = 20
_LEAST = 1_024
_STEP = 128
_TTL_SECONDS = 300


class Tokens(NamedTuple):
    """What a bill lists."""

    input: int
    read: int
    write: int


class Anthropic:
    """A prefix is written at each mark of the host, and found at a mark or at one of the 20 blocks before it."""

    def __init__(self) -> None:
        self._written: dict[bytes, float] = {}

    def bill(self, body: bytes, now: float) -> Tokens:
        sizes, hashes, marks = [0], [b""], []
        for part, marked in _parts(body):
            sizes.append(sizes[-1] + len(part))
            hashes.append(hashlib.sha256(hashes[-1] + part).digest())
            if marked:
                marks.append(len(hashes) - 1)
        found = max((self._found(hashes, mark, now) for mark in marks), default=0)
        for place in {found, *(mark for mark in marks if tokens_of(sizes[mark]) >= _LEAST)} - {0}:
            self._written[hashes[place]] = now
        last = max(marks[-1] if marks else 0, found)
        read, marked_tokens, total = (tokens_of(sizes[place]) for place in (found, last, -1))
        return Tokens(total - marked_tokens, read, marked_tokens - read)

    def _found(self, hashes: Sequence[bytes], mark: int, now: float) -> int:
        for place in range(mark, max(0, mark - _LOOKBACK), -1):
            if now - self._written.get(hashes[place], -_TTL_SECONDS - now) <= _TTL_SECONDS:
                return place
        return 0


def _parts(body: bytes) -> Iterator[tuple[bytes, bool]]:
    """Blocks in the order in which they are read, without their marks."""
    given = msgspec.json.decode(body)
    for part in given["system"]:
        yield _part("system", part)
    for message in given["messages"]:
        for part in message["content"]:
            yield _part(message["role"], part)


def _part(role: str, part: dict[str, Any]) -> tuple[bytes, bool]:
    marked = part.pop("cache_control", None) is not None
    return role.encode() + msgspec.json.encode(part), marked


class OpenAI:
    """The longest beginning of an earlier request is read from the cache, in steps of 128 tokens."""

    def __init__(self) -> None:
        self._before: list[tuple[bytes, float]] = []

    def bill(self, body: bytes, now: float) -> Tokens:
        held = [text for text, at in self._before if now - at <= _TTL_SECONDS]
        same = max((common(text, body) for text in held), default=0) // 4
        read = same // _STEP * _STEP if same >= _LEAST else 0
        self._before = [*self._before, (body, now)][-3:]
        return Tokens(tokens_of(len(body)) - read, read, 0)


def common(left: bytes, right: bytes) -> int:
    """Bytes that both begin with."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[:middle] == right[:middle] else (low, middle - 1)
    return low
