"""An answer of OpenAI's chat completions: one for the host, however many requests it took. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from services.context.gateway.cleanup import Action, Cutter, Piece
from services.context.gateway.editing import appended
from services.context.gateway.events import Event, with_data, written
from services.context.gateway.phantom import NAMES, PhantomCall, call_of
from services.context.gateway.turns.thoughts import Thoughts
from services.context.gateway.turns.usage import total

_TOOL_CALLS, _STOP = "tool_calls", "stop"
_DONE = b"[DONE]"
_OF_CALL = frozenset({"index", "id", "type", "function"})


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Fragment(msgspec.Struct):
    """A piece of a call."""

    index: int
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Fragment] | None = None


class _Choice(msgspec.Struct):
    delta: dict[str, Any] = {}
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    id: str | None = None
    created: Any = None
    choices: list[_Choice] = []
    usage: dict[str, Any] | None = None


class _Body(msgspec.Struct):
    messages: msgspec.Raw


class _Calling:
    """A call, made of its fragments."""

    def __init__(self) -> None:
        self.id = self.name = ""
        self._arguments: list[str] = []
        self._others: dict[str, Any] = {}

    def add(self, fragment: _Fragment, given: Mapping[str, Any]) -> None:
        """`given` is the fragment with all its fields: some providers sign calls, and want that back."""
        self.id = self.id or fragment.id or ""
        self.name += fragment.function.name or ""
        self._arguments.append(fragment.function.arguments or "")
        self._others |= {
            name: value for name, value in given.items() if name not in _OF_CALL and value is not None
        }

    @property
    def is_phantom(self) -> bool:
        return self.name in NAMES

    def call(self) -> PhantomCall:
        return call_of(self.id, self.name, "".join(self._arguments))

    def value(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": "".join(self._arguments)}
        return {"id": self.id, "type": "function", "function": function, **self._others}


_CHUNK = msgspec.json.Decoder(_Chunk)
_ANY = msgspec.json.Decoder(dict[str, Any])
_BODY = msgspec.json.Decoder(_Body)
_encode = msgspec.json.Encoder().encode


class ChatStream:
    """Events of the provider in, bytes for the host out. What needs no change keeps its bytes."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self._first: _Chunk | None = None
        self._spent: dict[str, Any] | None = None
        self._rounds = self._next = 0
        self._begin()

    def _begin(self) -> None:
        self._rounds += 1
        self._calling: dict[int, _Calling] = {}
        self._places: dict[int, int] = {}
        self._said: list[str] = []
        self._thoughts = Thoughts()
        self._cutter: Cutter[Event] = Cutter()
        self._usage: dict[str, Any] = {}
        self._reason: str | None = None
        self._end: list[Event] = []

    @property
    def calls(self) -> list[PhantomCall]:
        """The gateway's, once the round has ended with them; none if the model was cut short."""
        if self._reason not in (_TOOL_CALLS, _STOP):
            return []
        return [calling.call() for calling in self._calling.values() if calling.is_phantom]

    @property
    def is_mixed(self) -> bool:
        """The host has calls to answer in the same round, so that it goes on."""
        return any(not calling.is_phantom for calling in self._calling.values())

    @property
    def has_ended(self) -> bool:
        return self._reason is not None

    def said(self) -> list[dict[str, Any]]:
        calls = [calling.value() for calling in self._calling.values()]
        text = "".join(self._said) or None
        made = {"tool_calls": calls} if calls else {}
        return [{"role": "assistant", "content": text, **self._thoughts.fields(), **made}]

    def feed(self, event: Event) -> list[bytes]:
        try:
            chunk = _CHUNK.decode(event.data or b"")
            delta = msgspec.convert(chunk.choices[0].delta if chunk.choices else {}, _Delta)
        except (msgspec.MsgspecError, UnicodeError):
            return self._beside(event)
        self._first = self._first or chunk
        self._usage = chunk.usage or self._usage
        if not chunk.choices:
            return self._last(event)
        choice = chunk.choices[0]
        for fragment, given in zip(delta.tool_calls or (), choice.delta.get("tool_calls") or (), strict=True):
            self._calling.setdefault(fragment.index, _Calling()).add(fragment, given)
        self._said.append(delta.content or "")
        self._thoughts.add(choice.delta)
        pieces = self._cutter.feed(event, delta.content or "")
        if choice.finish_reason is None:
            return self._shown(pieces)
        self._reason = choice.finish_reason
        pieces += self._cutter.end()
        self.actions += self._cutter.actions
        return [*self._shown(pieces[:-1]), *self._last(event, pieces[-1].kept)]

    def goes_on(self, body: bytes, results: Sequence[str]) -> bytes | None:
        """The request of the next round."""
        try:
            request = with_answers(body, self.said()[0], self.calls, results)
        except (msgspec.MsgspecError, UnicodeError):
            return None
        self._spent = total(self._spent or {}, self._usage)
        self._begin()
        return request

    def finish(self) -> list[bytes]:
        """The end that was held back, when no round follows. Without a call of the host, the turn has ended."""
        end, self._end = self._end, []
        given = [self._changed(event, "", ends=True) for event in end]
        return [each for each in given if each is not None]

    def held(self) -> list[bytes]:
        """What waits to become a tag, when the stream ends before its time."""
        return self._shown(self._cutter.end())

    def failed(self, status: int, body: bytes) -> list[bytes]:
        """A later round's refusal: the stream ends as the provider ends one that fails half way."""
        try:
            error = _ANY.decode(body)
        except (msgspec.MsgspecError, UnicodeError):
            error = {}
        if not isinstance(error.get("error"), dict):
            message = f"the provider answered {status}"
            error = {"error": {"message": message, "type": "server_error", "param": None, "code": None}}
        return [written(_encode(error))]

    def _beside(self, event: Event) -> list[bytes]:
        if event.data == _DONE:
            return self._last(event)
        return self._shown(self._cutter.feed(event, ""))

    def _last(self, event: Event, kept: str = "") -> list[bytes]:
        if not self.calls:
            changed = self._changed(event, kept)
            return [] if changed is None else [changed]
        # Text that comes with the end is shown before it.
        shown = self._changed(event, kept, without_end=True) if kept else None
        self._end.append(event)
        return [] if shown is None else [shown]

    def _shown(self, pieces: Sequence[Piece[Event]]) -> list[bytes]:
        given = [self._changed(piece.carrier, piece.kept) for piece in pieces]
        return [each for each in given if each is not None]

    def _changed(
        self, event: Event, kept: str, *, ends: bool = False, without_end: bool = False
    ) -> bytes | None:
        """The event as the host gets it; None when nothing is left of it."""
        try:
            value = _ANY.decode(event.data or b"")
        except (msgspec.MsgspecError, UnicodeError):
            return event.raw
        before = _encode(value)
        if value.get("choices"):
            self._change_choice(value["choices"][0], kept, ends, without_end)
        if self._rounds > 1 and self._first is not None and "id" in value:
            value["id"], value["created"] = self._first.id, self._first.created
        if self._spent is not None and isinstance(value.get("usage"), dict):
            value["usage"] = total(self._spent, value["usage"])
        if value.get("choices") and _is_empty(value) and before != _encode(value):
            return None
        return event.raw if before == _encode(value) else with_data(event, _encode(value))

    def _change_choice(self, choice: dict[str, Any], kept: str, ends: bool, without_end: bool) -> None:
        delta = choice.get("delta") or {}
        if ends or (delta.get("content") or "") != kept:
            delta["content"] = kept
        if self._rounds > 1:
            delta.pop("role", None)
        if delta.get("tool_calls"):
            delta["tool_calls"] = self._hosts_own(delta["tool_calls"])
        for name in ("content", "tool_calls"):
            if name in delta and not delta[name] and (self._rounds > 1 or ends or name == "tool_calls"):
                del delta[name]
        if without_end:
            choice["finish_reason"] = None
        elif ends and not self.is_mixed:
            choice["finish_reason"] = _STOP

    def _hosts_own(self, fragments: list[dict[str, Any]]) -> list[dict[str, Any]]:
        own = [each for each in fragments if not self._calling[each["index"]].is_phantom]
        return [{**each, "index": self._place(each["index"])} for each in own]

    def _place(self, index: int) -> int:
        if index not in self._places:
            self._places[index] = self._next
            self._next += 1
        return self._places[index]


def with_answers(
    body: bytes, said: Mapping[str, Any], calls: Sequence[PhantomCall], results: Sequence[str]
) -> bytes:
    """The request, the model's turn, and the results. Raises msgspec.MsgspecError."""
    answers = [
        {"role": "tool", "tool_call_id": call.id, "content": result}
        for call, result in zip(calls, results, strict=True)
    ]
    return appended(body, _BODY.decode(body).messages, [_encode(each) for each in (said, *answers)])


def _is_empty(value: Mapping[str, Any]) -> bool:
    """A chunk that tells the host nothing."""
    choice = value["choices"][0]
    told = any(choice.get("delta", {}).values()) or choice.get("finish_reason") is not None
    return not told and value.get("usage") is None
