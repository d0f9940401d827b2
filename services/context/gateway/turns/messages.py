"""An answer of Anthropic's messages: one for the host, however many requests it took. Pure.

What the model said is kept block by block as it was, thinking and signatures too: the request that goes on with it
holds exactly that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from services.context.gateway.cleanup import Action, Piece
from services.context.gateway.editing import appended
from services.context.gateway.events import Event, with_data, written
from services.context.gateway.phantom import NAMES, PhantomCall, call_of
from services.context.gateway.turns.text import Text
from services.context.gateway.turns.usage import total

_COUNTED = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
    "server_tool_use",
)
_TOOL_USE, _END_TURN = "tool_use", "end_turn"


class _Started(msgspec.Struct):
    usage: dict[str, Any] = {}


class _Value(msgspec.Struct):
    type: str
    index: int = -1
    message: _Started | None = None
    content_block: dict[str, Any] | None = None
    delta: dict[str, Any] = {}
    usage: dict[str, Any] = {}


class _Body(msgspec.Struct):
    messages: msgspec.Raw


_VALUE = msgspec.json.Decoder(_Value)
_ANY = msgspec.json.Decoder(dict[str, Any])
_BODY = msgspec.json.Decoder(_Body)
_encode = msgspec.json.Encoder().encode


class Block:
    """A block of an answer, made of its deltas."""

    def __init__(self, started: dict[str, Any]) -> None:
        self.type = started.get("type")
        self.is_whole = True
        self._value = started
        self._pieces: dict[str, list[str]] = {}
        self.text: Text[Event] | None = Text() if self.type == "text" else None

    @property
    def is_phantom(self) -> bool:
        return self.type == _TOOL_USE and self._value.get("name") in NAMES

    def add(self, delta: dict[str, Any]) -> None:
        match delta:
            case {"type": "text_delta", "text": str(piece)}:
                self._add("text", piece)
            case {"type": "thinking_delta", "thinking": str(piece)}:
                self._add("thinking", piece)
            case {"type": "input_json_delta", "partial_json": str(piece)}:
                self._add("input", piece)
            case {"type": "signature_delta", "signature": str(signature)}:
                self._value["signature"] = signature
            case {"type": "citations_delta", "citation": citation}:
                self._value["citations"] = [*(self._value.get("citations") or ()), citation]
            case _:
                self.is_whole = False

    def value(self) -> dict[str, Any]:
        """As it stands in an answer that is not streamed."""
        joined: dict[str, Any] = {name: "".join(pieces) for name, pieces in self._pieces.items()}
        for name in joined.keys() - {"input"}:
            joined[name] = self._value.get(name, "") + joined[name]
        if "input" in joined:
            joined["input"] = msgspec.Raw(joined["input"].encode() or b"{}")
        return {**self._value, **joined}

    def call(self) -> PhantomCall:
        given = _encode(self.value().get("input"))
        return call_of(str(self._value.get("id")), str(self._value.get("name")), given)

    def _add(self, name: str, piece: str) -> None:
        self._pieces.setdefault(name, []).append(piece)


class MessagesStream:
    """Events of the provider in, bytes for the host out. What needs no change keeps its bytes."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self._spent: dict[str, Any] | None = None
        self._next = 0
        self._begin()

    def _begin(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._places: dict[int, int] = {}
        self._usage: dict[str, Any] = {}
        self._end: list[Event] = []
        self._reason: Any = None
        self._open: int | None = None
        """The text that has not ended."""

    @property
    def calls(self) -> list[PhantomCall]:
        """The gateway's, once the round has ended with them; none if the model was cut short."""
        if self._reason != _TOOL_USE:
            return []
        return [block.call() for block in self._blocks.values() if block.is_phantom]

    @property
    def is_mixed(self) -> bool:
        """The host has calls to answer in the same round, so that it goes on."""
        return any(block.type == _TOOL_USE and not block.is_phantom for block in self._blocks.values())

    @property
    def has_ended(self) -> bool:
        return self._reason is not None

    def said(self) -> list[dict[str, Any]]:
        return [block.value() for block in self._blocks.values()]

    def feed(self, event: Event) -> list[bytes]:
        try:
            value = _VALUE.decode(event.data or b"")
        except (msgspec.MsgspecError, UnicodeError):
            return [event.raw]
        if value.type == "message_start" and value.message is not None:
            return self._message_start(event, value.message)
        if value.type == "content_block_start" and value.content_block is not None:
            return self._block_start(event, value.index, value.content_block)
        if value.type in ("message_delta", "message_stop"):
            return self._message_end(event, value)
        block = self._blocks.get(value.index)
        return self._beside(event) if block is None else self._in_block(event, value, block)

    def held(self) -> list[bytes]:
        """What waits to become a tag, when the stream ends before its time."""
        if self._open is None or (text := self._blocks[self._open].text) is None:
            return []
        return self._shown(self._open, text.end())

    def goes_on(self, body: bytes, results: Sequence[str]) -> bytes | None:
        """The request of the next round; None if this one cannot be told again as it was."""
        if not all(block.is_whole for block in self._blocks.values()):
            return None
        try:
            request = with_answers(body, self.said(), self.calls, results)
        except (msgspec.MsgspecError, UnicodeError):
            return None
        self._spent = total(self._spent or {}, self._usage)
        self._begin()
        return request

    def finish(self) -> list[bytes]:
        """The end that was held back, when no round follows. Without a call of the host, the turn has ended."""
        given: list[bytes] = []
        for event in self._end:
            value = _ANY.decode(event.data or b"{}")
            if value["type"] == "message_delta":
                given.append(self._last_delta(event, value))
            else:
                given.append(event.raw)
        self._end = []
        return given

    def failed(self, status: int, body: bytes) -> list[bytes]:
        """A later round's refusal: the stream ends as the provider ends one that fails half way."""
        try:
            error = _ANY.decode(body)
        except (msgspec.MsgspecError, UnicodeError):
            error = {}
        if error.get("type") != "error":
            message = f"the provider answered {status}"
            error = {"type": "error", "error": {"type": "api_error", "message": message}}
        return [written(_encode(error), b"error")]

    def _beside(self, event: Event) -> list[bytes]:
        """A ping keeps its place behind text that is held back."""
        if self._open is None or (text := self._blocks[self._open].text) is None:
            return [event.raw]
        return self._shown(self._open, text.feed(event))

    def _message_start(self, event: Event, message: _Started) -> list[bytes]:
        self._usage = message.usage
        return [event.raw] if self._spent is None else []

    def _block_start(self, event: Event, index: int, started: dict[str, Any]) -> list[bytes]:
        block = self._blocks[index] = Block(started)
        if block.text is not None:
            self._open = index
            return self._shown(index, block.text.feed(event, started.get("text") or ""))
        return [] if block.is_phantom else [self._placed(event, index)]

    def _in_block(self, event: Event, value: _Value, block: Block) -> list[bytes]:
        ends = value.type == "content_block_stop"
        if value.type == "content_block_delta":
            block.add(value.delta)
        if block.is_phantom:
            return []
        if block.text is None:
            return [self._placed(event, value.index)]
        if ends:
            return self._text_end(event, value.index, block.text)
        text = value.delta.get("text") if value.delta.get("type") == "text_delta" else None
        return self._shown(value.index, block.text.feed(event, text if isinstance(text, str) else ""))

    def _text_end(self, event: Event, index: int, text: Text[Event]) -> list[bytes]:
        given = self._shown(index, text.end())
        self.actions += text.actions
        self._open = None
        return given if text.is_left_out else [*given, self._placed(event, index)]

    def _shown(self, index: int, pieces: Sequence[Piece[Event]]) -> list[bytes]:
        given: list[bytes] = []
        for event, text, kept in pieces:
            if text == kept:
                given.append(self._placed(event, index))
            elif kept or b"content_block_start" in event.raw:
                given.append(self._placed(event, index, kept))
        return given

    def _placed(self, event: Event, index: int, text: str | None = None) -> bytes:
        """The event with the block's place among those that the host sees."""
        if index not in self._places:
            self._places[index] = self._next
            self._next += 1
        place = self._places[index]
        if place == index and text is None:
            return event.raw
        value = _ANY.decode(event.data or b"{}")
        if "index" not in value:
            return event.raw
        value["index"] = place
        if text is not None:
            value["delta" if "delta" in value else "content_block"]["text"] = text
        return with_data(event, _encode(value))

    def _message_end(self, event: Event, value: _Value) -> list[bytes]:
        if value.type == "message_delta":
            self._usage = {**self._usage, **_set(value.usage)}
            self._reason = value.delta.get("stop_reason")
        if self.calls:
            self._end.append(event)
            return []
        if value.type == "message_delta" and self._spent is not None:
            return [self._last_delta(event, _ANY.decode(event.data or b"{}"))]
        return [event.raw]

    def _last_delta(self, event: Event, value: dict[str, Any]) -> bytes:
        alone = bool(self.calls) and not self.is_mixed
        if self._spent is None and not alone:
            return event.raw
        if self._spent is not None:
            value["usage"] = {**value.get("usage", {}), **_counts(total(self._spent, self._usage))}
        if alone:
            value["delta"]["stop_reason"] = _END_TURN
        return with_data(event, _encode(value))


def with_answers(
    body: bytes, said: Sequence[dict[str, Any]], calls: Sequence[PhantomCall], results: Sequence[str]
) -> bytes:
    """The request, the model's turn, and the results. Raises msgspec.MsgspecError."""
    # The provider writes empty texts, and refuses them.
    content = [block for block in said if block.get("type") != "text" or block.get("text")]
    answers = [
        {"type": "tool_result", "tool_use_id": call.id, "content": result}
        for call, result in zip(calls, results, strict=True)
    ]
    added = [{"role": "assistant", "content": content}, {"role": "user", "content": answers}]
    return appended(body, _BODY.decode(body).messages, [_encode(each) for each in added])


def _set(usage: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in usage.items() if value is not None}


def _counts(usage: dict[str, Any]) -> dict[str, Any]:
    """What the last event of a stream may tell of the usage."""
    return {name: value for name, value in usage.items() if name in _COUNTED}
