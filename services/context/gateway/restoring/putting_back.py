"""Puts calls and results that the host never saw back into its request, by edits of bytes. Pure; in linear time.

What does not find its place is left out: the request is valid without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from services.context.gateway.editing import Span, elements, replace, span
from services.context.gateway.phantom import Endpoint
from services.context.gateway.restoring.hidden import (
    Hidden,
    Step,
    chat_name,
    is_of_model,
    is_thought,
    name_of,
)


class _Body(msgspec.Struct):
    messages: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()


class _Message(msgspec.Struct):
    role: str
    content: msgspec.Raw = msgspec.Raw()
    tool_calls: msgspec.Raw = msgspec.Raw()
    reasoning_content: msgspec.Raw = msgspec.Raw()
    reasoning_details: msgspec.Raw = msgspec.Raw()


class _Part(NamedTuple):
    name: str | None
    span: Span


class _Answer(NamedTuple):
    """Of the model, as the host sends it back."""

    number: int
    """Of its message, or of its first item."""
    parts: list[_Part]


_BODY = msgspec.json.Decoder(_Body)
_MESSAGE = msgspec.json.Decoder(_Message)
_ANY = msgspec.json.Decoder(dict[str, Any])


def put_back(endpoint: Endpoint, body: bytes, kept: Sequence[Hidden]) -> bytes:
    """The request as the provider knows the conversation."""
    if not kept:
        return body
    try:
        restoring = _RESTORING[endpoint](body, _messages(endpoint, body))
        for each in kept:
            restoring.put(each)
    except (msgspec.MsgspecError, UnicodeError, AttributeError, TypeError):
        return body
    return replace(body, restoring.edits)


def count_of(endpoint: Endpoint, body: bytes) -> int:
    """How many messages or items the host has sent."""
    try:
        return len(_messages(endpoint, body))
    except (msgspec.MsgspecError, UnicodeError):
        return 0


def _messages(endpoint: Endpoint, body: bytes) -> list[msgspec.Raw]:
    request = _BODY.decode(body)
    return elements(request.input if endpoint == "responses" else request.messages) or []


class _Restoring:
    def __init__(self, body: bytes, messages: list[msgspec.Raw]) -> None:
        self.edits: dict[Span, bytes] = {}
        self._body, self._messages = body, messages
        self._answers: dict[tuple[str, ...], list[_Answer]] = {}
        for answer in self._read():
            self._answers.setdefault(_key(part.name for part in answer.parts), []).append(answer)

    def put(self, each: Hidden) -> None:
        """At the first such answer where the host had it from, or the only one: hosts shorten conversations."""
        found = self._answers.get(_key(each.names), []) if each.names else []
        later = [answer for answer in found if answer.number >= each.at]
        if later or len(found) == 1:
            self._edit(each, (later or found)[0])

    def _read(self) -> Iterator[_Answer]:
        raise NotImplementedError

    def _edit(self, each: Hidden, answer: _Answer) -> None:
        raise NotImplementedError

    def _insert(self, at: int, text: bytes) -> None:
        self.edits[(at, at)] = self.edits.get((at, at), b"") + text

    def _span(self, raw: msgspec.Raw) -> Span:
        return span(self._body, raw)


class _Messages(_Restoring):
    def _read(self) -> Iterator[_Answer]:
        self._read_messages = [_MESSAGE.decode(raw) for raw in self._messages]
        for number, message in enumerate(self._read_messages):
            blocks = (elements(message.content) if message.role == "assistant" else None) or ()
            yield _Answer(number, [_Part(name_of(_ANY.decode(raw)), self._span(raw)) for raw in blocks])

    def _edit(self, each: Hidden, answer: _Answer) -> None:
        content = self._span(self._read_messages[answer.number].content)
        results = self._results_behind(answer.number)
        for place, steps in _by_place(each, answer.parts).items():
            is_last = place == len(answer.parts)
            kept = [step for step in steps if (results is not None if step.mixed else not is_last)]
            begin = answer.parts[place - 1].span[1] if place else content[0] + 1
            end = begin if is_last else answer.parts[place].span[0]
            text = self._between(answer.number, content, kept, is_first=not place)
            comma = b"," if not is_last and kept and kept[-1].mixed else b""
            if kept:
                self.edits[(begin, end)] = text + comma
            for step in kept:
                if step.mixed and results is not None:
                    self._insert(results, _joined(step.results) + b",")

    def _between(self, number: int, content: Span, steps: Sequence[Step], *, is_first: bool) -> bytes:
        """What stands between two blocks, but for the comma before the second."""
        start, end = self._span(self._messages[number])
        head, tail = self._body[start : content[0] + 1], self._body[content[1] - 1 : end]
        pieces: list[bytes] = []
        is_empty = is_first
        for step in steps:
            pieces += [b"" if is_empty else b",", _joined(step.said)]
            is_empty = not step.mixed
            if not step.mixed:
                pieces += [tail, b",", _given(step.results), b",", head]
        return b"".join(pieces)

    def _results_behind(self, number: int) -> int | None:
        """Where the host's results of an answer begin."""
        following = self._read_messages[number + 1 : number + 2]
        results = elements(following[0].content) if following and following[0].role == "user" else None
        return self._span(results[0])[0] if results else None


class _Chat(_Restoring):
    def _read(self) -> Iterator[_Answer]:
        for number, raw in enumerate(self._messages):
            message = _ANY.decode(raw)
            if message.get("role") == "assistant":
                yield _Answer(number, [_Part(chat_name(message), self._span(raw))])

    def _edit(self, each: Hidden, answer: _Answer) -> None:
        start, end = answer.parts[0].span
        message = _MESSAGE.decode(self._messages[answer.number])
        for step in each.steps:
            if not step.mixed:
                called = _calls(step.said, message)
                self._insert(start, called + b"," + _joined(step.results) + b",")
            elif calls := elements(message.tool_calls):
                self._insert(self._span(calls[-1])[1], b"," + _joined(step.said))
                self._insert(end, b"," + _joined(step.results))


class _Responses(_Restoring):
    def _read(self) -> Iterator[_Answer]:
        """The model's items up to one of the host."""
        parts: list[_Part] = []
        for number, raw in enumerate(self._messages):
            item = _ANY.decode(raw)
            if is_of_model(item):
                parts.append(_Part(name_of(item), self._span(raw)))
            elif parts:
                yield _Answer(number - len(parts), parts)
                parts = []
        if parts:
            yield _Answer(len(self._messages) - len(parts), parts)

    def _edit(self, each: Hidden, answer: _Answer) -> None:
        for place, steps in _by_place(each, answer.parts).items():
            text = b",".join(_joined([*step.said, *step.results]) for step in steps)
            if place:
                self._insert(answer.parts[place - 1].span[1], b"," + text)
            else:
                self._insert(answer.parts[0].span[0], text + b",")


def _key(names: Iterable[str | None]) -> tuple[str, ...]:
    """Hosts may leave out thoughts: what else there is tells answers apart."""
    return tuple(name for name in names if name is not None and not is_thought(name))


def _by_place(each: Hidden, parts: Sequence[_Part]) -> dict[int, list[Step]]:
    """The steps by how many of the host's parts stand before them."""
    places = {0: 0}
    known = 0
    for place, part in enumerate(parts, 1):
        if part.name in each.names[known:]:
            known = each.names.index(part.name, known) + 1
            places[known] = place
    found: dict[int, list[Step]] = {}
    for step in each.steps:
        nearest = max(position for position in places if position <= step.position)
        found.setdefault(places[nearest], []).append(step)
    return found


_RESTORING: dict[str, type[_Restoring]] = {"messages": _Messages, "chat": _Chat, "responses": _Responses}


def _given(blocks: Sequence[msgspec.Raw]) -> bytes:
    return b'{"role":"user","content":[' + _joined(blocks) + b"]}"


def _calls(calls: Sequence[msgspec.Raw], answer: _Message) -> bytes:
    """With what the model thought in that answer, as the host has it: some providers refuse a call without."""
    thoughts = (answer.reasoning_content, answer.reasoning_details)
    fields = [b'"role":"assistant"', b'"content":null']
    fields += [
        b'"%s":%s' % (name, bytes(memoryview(value)))
        for name, value in zip((b"reasoning_content", b"reasoning_details"), thoughts, strict=True)
        if memoryview(value).nbytes
    ]
    return b"{" + b",".join([*fields, b'"tool_calls":[' + _joined(calls) + b"]"]) + b"}"


def _joined(values: Sequence[msgspec.Raw]) -> bytes:
    return b",".join(bytes(memoryview(value)) for value in values)
