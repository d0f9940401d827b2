"""An answer of OpenAI's responses: one for the host, however many requests it took. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from services.context.gateway.cleanup import Action, Piece, cut
from services.context.gateway.editing import appended, elements, replace, span
from services.context.gateway.events import Event, with_data, written
from services.context.gateway.phantom import NAMES, PhantomCall, call_of
from services.context.gateway.turns.text import Text
from services.context.gateway.turns.usage import total

_BEGINS = ("response.created", "response.in_progress", "response.queued")
_ENDS = ("response.completed", "response.incomplete", "response.failed")
HOST_CALLS = frozenset(
    (
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
    )
)
_DELTA, _TEXT_DONE = "response.output_text.delta", "response.output_text.done"
_ADDED, _ITEM_DONE = "response.output_item.added", "response.output_item.done"


class _Item(msgspec.Struct):
    type: str = ""
    name: str | None = None


class _Value(msgspec.Struct):
    type: str
    output_index: int = -1
    content_index: int = 0
    item: _Item | None = None
    delta: Any = None


class _Body(msgspec.Struct):
    input: msgspec.Raw
    store: bool | None = None


_VALUE = msgspec.json.Decoder(_Value)
_ANY = msgspec.json.Decoder(dict[str, Any])
_BODY = msgspec.json.Decoder(_Body)
_encode = msgspec.json.Encoder().encode


class ResponsesStream:
    """Events of the provider in, bytes for the host out. What needs no change keeps its bytes."""

    def __init__(self, *, stored: bool = True) -> None:
        """`stored`: the provider keeps its answers, and the host may go on from the id of one."""
        self.actions: list[Action] = []
        self._stored = stored
        self._id: Any = None
        self._spent: dict[str, Any] | None = None
        self._next = self._sequence = self._rounds = 0
        self._shown_items: dict[int, dict[str, Any]] = {}
        self._changes = False
        self._begin()

    def _begin(self) -> None:
        self._rounds += 1
        self._items: dict[int, dict[str, Any]] = {}
        self._texts: dict[int, Text[Event]] = {}
        self._phantom: set[int] = set()
        self._places: dict[int, int] = {}
        self._usage: dict[str, Any] = {}
        self._end: list[Event] = []
        self._is_complete = self._has_ended = False

    @property
    def calls(self) -> list[PhantomCall]:
        """The gateway's, once the round has ended with them; none if the model was cut short."""
        items = [self._items.get(index) for index in sorted(self._phantom)] if self._is_complete else []
        return [
            call_of(str(item.get("call_id")), str(item.get("name")), str(item.get("arguments")))
            for item in items
            if item is not None
        ]

    @property
    def is_mixed(self) -> bool:
        """The host has calls to answer in the same round, so that it goes on."""
        own = self._items.keys() - self._phantom
        return any(self._items[index].get("type") in HOST_CALLS for index in own)

    @property
    def has_ended(self) -> bool:
        return self._has_ended

    def said(self) -> list[dict[str, Any]]:
        return [self._items[index] for index in sorted(self._items)]

    def feed(self, event: Event) -> list[bytes]:
        try:
            value = _VALUE.decode(event.data or b"")
        except (msgspec.MsgspecError, UnicodeError):
            return [event.raw]
        if value.type in _BEGINS:
            return self._beginning(event)
        if value.type in _ENDS:
            return self._ending(event, value)
        if value.type == _ADDED and value.item is not None:
            self._added(value.output_index, value.item)
        if value.type == _ITEM_DONE:
            self._items[value.output_index] = _ANY.decode(event.data or b"")["item"]
        if value.output_index in self._phantom:
            self._changes = True
            return []
        text = self._texts.get(value.output_index)
        if text is not None and value.content_index == 0:
            return self._in_text(event, value, text)
        return [self._placed(event, value.output_index)]

    def goes_on(self, body: bytes, results: Sequence[str]) -> bytes | None:
        """The request of the next round."""
        try:
            request = with_answers(body, self.said(), self.calls, results)
        except (msgspec.MsgspecError, UnicodeError):
            return None
        self._spent = total(self._spent or {}, self._usage)
        self._begin()
        return request

    def finish(self) -> list[bytes]:
        """The end that was held back, when no round follows."""
        end, self._end = self._end, []
        return [self._last(event) for event in end]

    def held(self) -> list[bytes]:
        """What waits to become a tag, when the stream ends before its time."""
        return [each for index, text in self._texts.items() for each in self._shown(index, text.end())]

    def failed(self, status: int, body: bytes) -> list[bytes]:
        """A later round's refusal: the stream ends as the provider ends one that fails half way."""
        try:
            error: Any = _ANY.decode(body).get("error")
        except (msgspec.MsgspecError, UnicodeError):
            error = None
        told = error if isinstance(error, dict) else {"message": f"the provider answered {status}"}
        value = {
            "type": "error",
            "code": told.get("code") or "server_error",
            "message": str(told.get("message")),
            "param": told.get("param"),
            "sequence_number": self._sequence,
        }
        return [written(_encode(value), b"error")]

    def _added(self, index: int, item: _Item) -> None:
        if item.type == "function_call" and item.name in NAMES:
            self._phantom.add(index)
        elif item.type == "message":
            self._texts[index] = Text()

    def _beginning(self, event: Event) -> list[bytes]:
        value = _ANY.decode(event.data or b"")
        response = value.get("response")
        if self._rounds > 1 or not isinstance(response, dict):
            return []
        self._id = response.get("id")
        return [self._numbered(event)]

    def _in_text(self, event: Event, value: _Value, text: Text[Event]) -> list[bytes]:
        index = value.output_index
        if value.type == _DELTA and isinstance(value.delta, str):
            return self._shown(index, text.feed(event, value.delta))
        given = self._shown(index, text.feed(event))
        if value.type in (_TEXT_DONE, _ITEM_DONE):
            given += self._shown(index, text.end())
        if value.type == _ITEM_DONE:
            self.actions += text.actions
            self._changes |= bool(text.actions)
        return given

    def _shown(self, index: int, pieces: Sequence[Piece[Event]]) -> list[bytes]:
        is_cut = bool(self._texts[index].actions)
        whole = [piece for piece in pieces if piece.kept or not piece.text]
        return [
            self._placed(event, index, kept if text else None, is_cut=is_cut) for event, text, kept in whole
        ]

    def _placed(self, event: Event, index: int, delta: str | None = None, *, is_cut: bool = False) -> bytes:
        """The event with the item's place among those that the host sees."""
        value = _ANY.decode(event.data or b"")
        before = _encode(value)
        if index >= 0:
            if index not in self._places:
                self._places[index] = self._next
                self._next += 1
            value["output_index"] = self._places[index]
        if delta is not None:
            value["delta"] = delta
        if is_cut:
            _cut_texts(value)
        if value["type"] == _ITEM_DONE:
            self._shown_items[self._places[index]] = value["item"]
        return self._numbered(event, value, changed=before != _encode(value))

    def _numbered(self, event: Event, value: dict[str, Any] | None = None, *, changed: bool = False) -> bytes:
        """Events are counted, so those behind a hidden one have other numbers."""
        told = _ANY.decode(event.data or b"") if value is None else value
        number, self._sequence = self._sequence, self._sequence + 1
        if "sequence_number" in told and told["sequence_number"] != number:
            if self._changes or self._rounds > 1:
                told["sequence_number"], changed = number, True
            else:
                self._sequence = told["sequence_number"] + 1
        return with_data(event, _encode(told)) if changed else event.raw

    def _ending(self, event: Event, value: _Value) -> list[bytes]:
        response = _ANY.decode(event.data or b"").get("response") or {}
        self._usage = response.get("usage") or {}
        self._is_complete, self._has_ended = value.type == "response.completed", True
        if self.calls:
            self._end.append(event)
            return []
        return [self._last(event)]

    def _last(self, event: Event) -> bytes:
        value = _ANY.decode(event.data or b"")
        if not self._changes and self._rounds == 1:
            return self._numbered(event, value)
        response = value["response"]
        if response.get("output") is not None:
            response["output"] = [self._shown_items[place] for place in sorted(self._shown_items)]
        if self._spent is not None and isinstance(response.get("usage"), dict):
            response["usage"] = total(self._spent, response["usage"])
        if not self._stored:
            response["id"] = self._id
        return self._numbered(event, value, changed=True)


def is_stored(body: bytes) -> bool:
    try:
        return _BODY.decode(body).store is not False
    except (msgspec.MsgspecError, UnicodeError):
        return True


def with_answers(
    body: bytes, said: Sequence[dict[str, Any]], calls: Sequence[PhantomCall], results: Sequence[str]
) -> bytes:
    """The request, what the model said, and the results. Raises msgspec.MsgspecError."""
    request = _BODY.decode(body)
    answers = [
        {"type": "function_call_output", "call_id": call.id, "output": result}
        for call, result in zip(calls, results, strict=True)
    ]
    kept = [item for item in said if request.store is not False or _can_be_sent(item)]
    added = [_encode(each) for each in (*kept, *answers)]
    if elements(request.input) is not None:
        return appended(body, request.input, added)
    first = b'{"role":"user","content":' + bytes(memoryview(request.input)) + b"}"
    return replace(body, {span(body, request.input): b"[" + b",".join([first, *added]) + b"]"})


def _can_be_sent(item: dict[str, Any]) -> bool:
    """A provider that keeps nothing knows reasoning only by its encrypted content."""
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content"))


def _cut_texts(value: dict[str, Any]) -> None:
    """The whole texts that an event repeats, without tags."""
    holders = [value, value.get("part"), *((value.get("item") or {}).get("content") or ())[:1]]
    for holder in holders:
        if isinstance(holder, dict) and isinstance(holder.get("text"), str):
            holder["text"] = cut(holder["text"])[0]
