"""The blocks of a request to Anthropic's messages. Pure.

Untouched: the first words of the user, whatever is not plain text or the result of a tool of the host, texts with
citations, and every answer of the model that holds more than text and calls (its thinking is signed, a server's tools
have results of their own).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from services.context.gateway.paging.blocks import Conversation, Found, ToolCall, is_list, is_string

_PLAIN_ANSWER = frozenset({"text", "tool_use"})
_OPAQUE = frozenset({"image", "document"})


class _Message(msgspec.Struct):
    role: str
    content: msgspec.Raw


class _Body(msgspec.Struct):
    messages: msgspec.Raw


class _Part(msgspec.Struct):
    type: str
    text: msgspec.Raw = msgspec.Raw()
    content: msgspec.Raw = msgspec.Raw()
    source: msgspec.Raw = msgspec.Raw()
    citations: msgspec.Raw = msgspec.Raw()
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw()
    tool_use_id: str = ""


_BODY = msgspec.json.Decoder(_Body)
_MESSAGES = msgspec.json.Decoder(list[msgspec.Raw])
_MESSAGE = msgspec.json.Decoder(_Message)
_PARTS = msgspec.json.Decoder(list[_Part])


def read(body: bytes) -> Conversation:
    """Raises msgspec.MsgspecError for what is no such request."""
    messages = _BODY.decode(body).messages
    reader = _Reader()
    for raw in _MESSAGES.decode(messages):
        reader.add(raw)
    return Conversation(messages, reader.found, reader.turns, reader.last_answer)


class _Reader:
    def __init__(self) -> None:
        self.found: list[Found] = []
        self.turns = 0
        self.last_answer: msgspec.Raw | None = None
        self._calls: dict[str, ToolCall] = {}
        self._of_model = False

    def add(self, raw: msgspec.Raw) -> None:
        message = _MESSAGE.decode(raw)
        of_model = message.role == "assistant"
        if of_model and not self._of_model:
            self.turns += 1
            self.last_answer = raw
        self._of_model = of_model
        if is_list(message.content):
            parts = _PARTS.decode(message.content)
            self.found += self._answer(parts) if of_model else self._given(parts)
        elif is_string(message.content) and self.turns:
            self.found.append(Found(message.content, "text", self.turns, message.role))

    def _answer(self, parts: list[_Part]) -> Iterator[Found]:
        for part in parts:
            if part.type == "tool_use":
                self._calls[part.id] = ToolCall(part.name, part.input)
        if _PLAIN_ANSWER.issuperset(part.type for part in parts):
            yield from (self._text(part, "assistant") for part in parts if _is_text(part))

    def _given(self, parts: list[_Part]) -> Iterator[Found]:
        for part in parts:
            if part.type == "tool_result":
                yield from self._result(part)
            elif part.type in _OPAQUE:
                yield Found(part.source, "opaque", self.turns, "")
            elif self.turns and _is_text(part):
                yield self._text(part, "user")

    def _text(self, part: _Part, role: str) -> Found:
        return Found(part.text, "text", self.turns, role)

    def _result(self, part: _Part) -> Iterator[Found]:
        call = self._calls.get(part.tool_use_id)
        if is_string(part.content):
            yield Found(part.content, "result", self.turns, part.tool_use_id, call)
        elif is_list(part.content):
            for number, inner in enumerate(_PARTS.decode(part.content)):
                if _is_text(inner):
                    yield Found(inner.text, "result", self.turns, f"{part.tool_use_id}\0{number}", call)
                elif inner.type in _OPAQUE:
                    yield Found(inner.source, "opaque", self.turns, "")


def _is_text(part: _Part) -> bool:
    plain = bytes(memoryview(part.citations)) in (b"", b"null")
    return part.type == "text" and plain and is_string(part.text)
