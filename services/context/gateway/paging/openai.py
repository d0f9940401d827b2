"""The blocks of a request to OpenAI's chat completions or responses. Pure.

Untouched: what stands before the model's first answer, images, files, reasoning, and whatever has a type that is not
named here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from services.context.gateway.paging.blocks import (
    Conversation,
    Found,
    Kind,
    ToolCall,
    is_list,
    is_string,
)

_TEXTS = frozenset({"text", "input_text", "output_text"})
_OPAQUE = frozenset({"image_url", "input_image", "input_audio", "file", "input_file"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
_OF_MODEL = _CALLS | {"reasoning", "local_shell_call", "web_search_call", "file_search_call", "mcp_call"}


class _Function(msgspec.Struct):
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw()


class _Call(msgspec.Struct):
    id: str = ""
    function: _Function = msgspec.field(default_factory=_Function)


class _Message(msgspec.Struct):
    """A message of a chat, or an item of a response's input."""

    role: str = ""
    type: str = ""
    content: msgspec.Raw = msgspec.Raw()
    tool_calls: list[_Call] | None = None
    tool_call_id: str = ""
    call_id: str = ""
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()
    output: msgspec.Raw = msgspec.Raw()


class _Part(msgspec.Struct):
    type: str = ""
    text: msgspec.Raw = msgspec.Raw()
    annotations: msgspec.Raw = msgspec.Raw()


class _Chat(msgspec.Struct):
    messages: msgspec.Raw


class _Responses(msgspec.Struct):
    input: msgspec.Raw


_CHAT = msgspec.json.Decoder(_Chat)
_RESPONSES = msgspec.json.Decoder(_Responses)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_MESSAGE = msgspec.json.Decoder(_Message)
_PARTS = msgspec.json.Decoder(list[msgspec.Raw])
_PART = msgspec.json.Decoder(_Part)


def read_chat(body: bytes) -> Conversation:
    """Raises msgspec.MsgspecError for what is no such request."""
    return _read(_CHAT.decode(body).messages)


def read_responses(body: bytes) -> Conversation:
    """Raises msgspec.MsgspecError for what is no such request. An input that is one string holds no block."""
    return _read(_RESPONSES.decode(body).input)


def _read(messages: msgspec.Raw) -> Conversation:
    reader = _Reader()
    for raw in _LIST.decode(messages) if is_list(messages) else ():
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
        of_model = message.role == "assistant" or message.type in _OF_MODEL
        if of_model and not self._of_model:
            self.turns += 1
            self.last_answer = raw
        self._of_model = of_model
        self._note_calls(message)
        if message.type in _OUTPUTS:
            self.found += self._strings(message.output, "result", message.call_id)
        elif message.role == "tool":
            self.found += self._strings(message.content, "result", message.tool_call_id)
        elif message.role in ("user", "assistant") and self.turns:
            self.found += self._strings(message.content, "text", message.role)

    def _note_calls(self, message: _Message) -> None:
        for call in message.tool_calls or ():
            self._calls[call.id] = ToolCall(call.function.name, call.function.arguments)
        if message.type in _CALLS:
            given = message.arguments or message.input
            self._calls[message.call_id] = ToolCall(message.name or "", given)

    def _strings(self, content: msgspec.Raw, kind: Kind, place: str) -> Iterator[Found]:
        call = self._calls.get(place) if kind == "result" else None
        if is_string(content):
            yield Found(content, kind, self.turns, place, call)
        elif is_list(content):
            yield from self._parts(_PARTS.decode(content), kind, place, call)

    def _parts(
        self, parts: Sequence[msgspec.Raw], kind: Kind, place: str, call: ToolCall | None
    ) -> Iterator[Found]:
        for number, raw in enumerate(parts):
            part = _PART.decode(raw)
            if part.type in _OPAQUE:
                yield Found(raw, "opaque", self.turns, "")
            elif part.type in _TEXTS and is_string(part.text) and _is_plain(part.annotations):
                where = f"{place}\0{number}" if kind == "result" else place
                yield Found(part.text, kind, self.turns, where, call)


def _is_plain(annotations: msgspec.Raw) -> bool:
    return bytes(memoryview(annotations)) in (b"", b"null", b"[]")
