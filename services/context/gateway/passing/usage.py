"""What a provider bills, read beside an answer that passes. Nothing here changes or holds up what is passed on.

A stream's usage stands in a few of its events: at Anthropic's at its beginning and, what was said by then, near its
end; at OpenAI's in the last.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from services.context.gateway.events import Splitter
from services.context.gateway.passing.fields import Fields, value_of
from shared.spending import Tokens

_STREAM = "text/event-stream"
_MARK = b'"usage"'
# An answer that is whole is read at its end, and most of it is no usage.
_MOST_WHOLE = 32 * 1_048_576


class Billed(NamedTuple):
    model: str
    tokens: Tokens


class _Unpacked(Protocol):
    def decompress(self, data: bytes, /) -> bytes: ...


class Reader:
    """Of one answer. What cannot be read, such as Brotli, counts as unknown."""

    def __init__(self, fields: Fields) -> None:
        kind = value_of(fields, b"content-type") or ""
        self._splitter = Splitter() if kind.startswith(_STREAM) else None
        self._unpacked = _unpacking(value_of(fields, b"content-encoding"))
        self._readable = kind.startswith((_STREAM, "application/json")) and self._unpacked is not None
        self._whole = bytearray()
        self._usage: dict[str, Any] = {}
        self._model = ""

    def feed(self, piece: bytes) -> None:
        if not self._readable:
            return
        try:
            self._feed(self._unpacked.decompress(piece) if self._unpacked else piece)
        except (zlib.error, msgspec.MsgspecError, UnicodeError):
            self._readable = False

    def billed(self) -> Billed | None:
        """Once all of it was fed."""
        if not self._readable:
            return None
        if self._splitter is None:
            self._note(bytes(self._whole))
        if not self._usage:
            return None
        return Billed(self._model, tokens_of(self._usage))

    def _feed(self, piece: bytes) -> None:
        if self._splitter is None:
            self._whole += piece
            self._readable = len(self._whole) <= _MOST_WHOLE
            return
        for event in self._splitter.feed(piece):
            if event.data is not None and _MARK in event.data:
                self._note(event.data)

    def _note(self, said: bytes) -> None:
        try:
            read = msgspec.json.decode(said)
        except (msgspec.MsgspecError, UnicodeError):
            return
        if not isinstance(read, dict):
            return
        for holder in (read, read.get("message"), read.get("response")):
            if isinstance(holder, dict):
                self._model = str(holder.get("model") or self._model)
                usage = holder.get("usage")
                if isinstance(usage, dict):
                    # At Anthropic's the last numbers are those of the whole answer.
                    self._usage |= {name: value for name, value in usage.items() if value is not None}


def tokens_of(usage: Mapping[str, Any]) -> Tokens:
    """Of either provider. OpenAI's input holds what came from its cache, Anthropic's does not."""
    if "prompt_tokens" in usage or "input_tokens_details" in usage:
        details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
        cached = _count(details, "cached_tokens") if isinstance(details, dict) else 0
        given = _count(usage, "prompt_tokens") or _count(usage, "input_tokens")
        output = _count(usage, "completion_tokens") or _count(usage, "output_tokens")
        return Tokens(max(0, given - cached), output, cached, 0)
    return Tokens(
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage, "cache_read_input_tokens"),
        _count(usage, "cache_creation_input_tokens"),
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


class _Plain:
    def decompress(self, data: bytes, /) -> bytes:
        return data


def _unpacking(coding: str | None) -> _Unpacked | None:
    if coding in (None, "", "identity"):
        return _Plain()
    return zlib.decompressobj(wbits=47) if coding in ("gzip", "x-gzip", "deflate") else None
