"""The blocks of a request that may be sent shorter, each with the bytes it stands in. Pure; in linear time.

Nothing is serialised anew: a block is the span of one JSON string, and `replace` leaves every other byte as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from services.context.gateway.editing import Span, address

Kind = Literal["result", "text"]

BYTES_PER_TOKEN = 4
LEAST_BYTES = 800
"""A shorter string is no block: what would stand in its place takes as much."""
# What a provider counts for an image, whatever its bytes.
_OPAQUE_BYTES = 1_500 * BYTES_PER_TOKEN


class ToolCall(msgspec.Struct, frozen=True):
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"null")
    """As JSON; the arguments of a function of OpenAI are a string that holds JSON."""


class Block(NamedTuple):
    key: str
    """The same for as long as the host sends the same text in the same place."""
    start: int
    """Of the JSON string, with its quotation marks."""
    end: int
    before: int
    """Tokens that the provider reads before it."""
    kind: Kind
    age: int
    """The model's answers that follow it. 0: the model has not seen it."""
    call: ToolCall | None

    @property
    def tokens(self) -> int:
        return tokens_of(self.end - self.start)


class Reading(NamedTuple):
    blocks: Sequence[Block]
    """In the order of the request."""
    turns: int
    """Answers of the model that the request holds."""
    head: int
    """Tokens of the tools and the system."""
    sent: int
    """Tokens that the request before sent already."""
    total: int


class Found(NamedTuple):
    """A string that may become a block, or what counts in tokens otherwise than in bytes."""

    raw: msgspec.Raw
    kind: Kind | Literal["opaque"]
    turn: int
    """Answers before it."""
    place: str
    """Tells equal texts apart: the call's id, and the part of its result."""
    call: ToolCall | None = None


class Conversation(NamedTuple):
    """What a reader of one API finds."""

    messages: msgspec.Raw
    found: Sequence[Found]
    turns: int
    last_answer: msgspec.Raw | None
    """Where the last answer of the model begins."""


def tokens_of(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)


def is_string(raw: msgspec.Raw) -> bool:
    return bytes(memoryview(raw)[:1]) == b'"'


def is_list(raw: msgspec.Raw) -> bool:
    return bytes(memoryview(raw)[:1]) == b"["


def reading(body: bytes, conversation: Conversation) -> Reading:
    place = _Places(body, conversation)
    blocks: list[Block] = []
    seen: dict[str, int] = {}
    for found in conversation.found:
        start, end = place.span(found.raw)
        if found.kind == "opaque":
            place.discount(end - start)
        elif end - start >= LEAST_BYTES:
            key = _key(found, body[start:end], seen)
            age = conversation.turns - found.turn
            blocks.append(Block(key, start, end, place.before(start), found.kind, age, found.call))
    last = conversation.last_answer
    sent = place.before(place.span(last)[0]) if last is not None else 0
    return Reading(blocks, conversation.turns, place.head, min(sent, place.total()), place.total())


def _key(found: Found, text: bytes, seen: dict[str, int]) -> str:
    head = f"{found.kind}\0{found.place}\0".encode()
    key = hashlib.sha256(head + text).hexdigest()[:32]
    count = seen[key] = seen.get(key, 0) + 1
    return key if count == 1 else hashlib.sha256(f"{key}\0{count}".encode()).hexdigest()[:32]


class _Places:
    """Where things stand in the body, and in the order in which a provider reads: tools and system come first."""

    def __init__(self, body: bytes, conversation: Conversation) -> None:
        self._base = address(body)
        start, end = self.span(conversation.messages)
        self._shift = len(body) - (end - start) - start
        self.head = tokens_of(len(body) - (end - start))
        self._length = len(body)
        self._discount = 0

    def span(self, raw: msgspec.Raw) -> Span:
        start = address(raw) - self._base
        return start, start + memoryview(raw).nbytes

    def discount(self, size: int) -> None:
        self._discount += max(0, size - _OPAQUE_BYTES)

    def before(self, start: int) -> int:
        return tokens_of(max(0, start + self._shift - self._discount))

    def total(self) -> int:
        return tokens_of(self._length - self._discount)
