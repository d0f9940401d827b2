"""The tools that the gateway adds to a request and answers itself: the host never learns of them. Pure.

They stand behind the host's own, in bytes that never change: tools come first in what a provider caches. Therefore they
stay when the host's `tool_choice` is `none`, which forbids their use anyway. A host without tools gets none, as does
one that has a tool of the same name or too many, wants several answers (`n`), or has begun the answer itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from services.context.gateway.cleanup import CLOSE, OPEN
from services.context.gateway.editing import appended, elements

Endpoint = Literal["messages", "chat", "responses"]

_HANDLE = "The handle, such as m-0123456789ab, as it stands in the text's [memory …] line."
_FAULT = (
    "Bring back in full a text of this conversation that is shown shorter, with a line [memory <handle>]. Use it when "
    "you need the exact words; to learn one thing, memory_query takes less room."
)
_QUERY = (
    "Ask a question of all that this conversation has held, texts that are shown shorter too. The lines that answer "
    "come back. Names as they are written in the text help most: of functions, files, errors."
)
_RELEASE = (
    "Say that a text of this conversation is no longer needed, so that a line of it is enough. You can also write it "
    f"into an answer, where nobody sees it: {OPEN}\nrelease: <handle>\n{CLOSE} with one line for each text; release, "
    "summarize, drop or anchor (keep in full)."
)
_TOOLS = (
    ("memory_fault", _FAULT, "handle", _HANDLE),
    ("memory_query", _QUERY, "question", "The question."),
    ("memory_release", _RELEASE, "handle", _HANDLE),
)
# OpenAI refuses a request with more.
_MOST_TOOLS = 128
NAMES = frozenset(name for name, *_ in _TOOLS)
_ARGUMENT = {name: argument for name, _, argument, _ in _TOOLS}


class PhantomCall(NamedTuple):
    id: str
    name: str
    given: str | None
    """Its one argument, a handle or a question; None for arguments that the model got wrong."""


def call_of(id: str, name: str, arguments: str | bytes) -> PhantomCall:
    """`arguments` is JSON, as the model wrote it."""
    try:
        read: Any = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeError):
        read = None
    given = read.get(_ARGUMENT[name]) if isinstance(read, dict) else None
    return PhantomCall(id, name, given if isinstance(given, str) and given.strip() else None)


def is_phantom_in_chat(call: Mapping[str, Any]) -> bool:
    """A call of a host's custom tool has no function."""
    return (call.get("function") or {}).get("name") in NAMES


class _Function(msgspec.Struct):
    name: Any = None


class _Named(msgspec.Struct):
    name: Any = None
    function: _Function | None = None


class _Message(msgspec.Struct):
    role: Any = None


class _Request(msgspec.Struct):
    tools: msgspec.Raw = msgspec.Raw()
    messages: msgspec.Raw = msgspec.Raw()
    n: Any = None


_REQUEST = msgspec.json.Decoder(_Request)
_NAMED = msgspec.json.Decoder(list[_Named])
_MESSAGE = msgspec.json.Decoder(_Message)


def with_tools(endpoint: Endpoint, body: bytes) -> bytes | None:
    """The request with the tools; None if it is to have none."""
    try:
        request = _REQUEST.decode(body)
        tools = elements(request.tools)
        if not tools or not _is_one_whole(endpoint, request) or not _has_room(endpoint, tools):
            return None
        names = {name for tool in _NAMED.decode(request.tools) for name in _names(tool)}
    except (msgspec.MsgspecError, UnicodeError):
        return None
    return None if names & NAMES else appended(body, request.tools, DEFINITIONS[endpoint])


def _has_room(endpoint: Endpoint, tools: Sequence[msgspec.Raw]) -> bool:
    return endpoint == "messages" or len(tools) + len(_TOOLS) <= _MOST_TOOLS


def lacks_tools(endpoint: Endpoint, body: bytes) -> bool:
    """Whether the request is to have none only because its host sent none."""
    try:
        request = _REQUEST.decode(body)
        return not elements(request.tools) and _is_one_whole(endpoint, request)
    except (msgspec.MsgspecError, UnicodeError):
        return False


def _is_one_whole(endpoint: Endpoint, request: _Request) -> bool:
    """Whether one answer is wanted, from its beginning."""
    return request.n in (None, 1) and not _is_begun(endpoint, request)


def _is_begun(endpoint: Endpoint, request: _Request) -> bool:
    """Anthropic's models go on with an answer that the request ends with."""
    messages = elements(request.messages) if endpoint == "messages" else None
    return messages is not None and messages != [] and _MESSAGE.decode(messages[-1]).role == "assistant"


def _names(tool: _Named) -> list[str]:
    names = (tool.name, tool.function.name if tool.function is not None else None)
    return [name for name in names if isinstance(name, str)]


def _definition(endpoint: Endpoint, name: str, description: str, argument: str, meaning: str) -> bytes:
    schema = {
        "type": "object",
        "properties": {argument: {"type": "string", "description": meaning}},
        "required": [argument],
    }
    named = {"name": name, "description": description}
    if endpoint == "messages":
        return msgspec.json.encode({**named, "input_schema": schema})
    function = {**named, "parameters": schema}
    wrapped = {"function": function} if endpoint == "chat" else function
    return msgspec.json.encode({"type": "function", **wrapped})


_ENDPOINTS: tuple[Endpoint, ...] = ("messages", "chat", "responses")
DEFINITIONS = {endpoint: [_definition(endpoint, *tool) for tool in _TOOLS] for endpoint in _ENDPOINTS}
