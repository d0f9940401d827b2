"""Conversations of hosts with model providers, in the shapes of recorded ones, and as oddly written as JSON allows.

The seed decides everything: parallel calls, thinking with signatures, images, results that are empty or huge, tools
that run at the provider, citations, every kind of text, whitespace, order of keys, and how the answers come.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tests.support.gateway import said
from tests.support.gateway.raw import chunked, whole
from tests.support.gateway.said import Do, Part, Say, Think
from tests.support.gateway.sessions import Api, Session

PATHS: Mapping[Api, str] = {
    "messages": "/gateway/anthropic/v1/messages",
    "chat": "/gateway/openai/v1/chat/completions",
    "responses": "/gateway/openai/v1/responses",
}
_SAYS: Mapping[Api, said.Api] = {"messages": said.Messages, "chat": said.Chat, "responses": said.Responses}
_ODD = (
    "é e\u0301 日本語 🙂 👩\u200d👩\u200d👧",
    '\u2028\u2029\ufeff\x00\x1f\x7f "\\" / </script>',
    "data: [DONE]\n\nevent: message_stop\ndata: {}\n\n",
    "\r\n\r\n0\r\n\r\n",
    "שלום \u202egnp.exe",
    '{"usage": {"input_tokens": 99999}}',
)
_HUGE = 400_000
_TOOL = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "number", "maximum": 1e3}},
}
_STREAM = "content-type: text/event-stream; charset=utf-8"
_JSON = "content-type: application/json"


class Answer(NamedTuple):
    """`pieces` go over the wire, head included, and carry `body`. An answer that is not `complete` breaks off."""

    pieces: Sequence[bytes]
    status: int
    body: bytes
    complete: bool


class Exchange(NamedTuple):
    path: str
    request: bytes
    answer: Answer


def conversation(seed: int, api: Api, turns: int = 3) -> Iterator[Exchange]:
    """Every request begins with the messages of the one before."""
    chance = random.Random(f"{api} {seed}")
    style = Style(chance)
    for number, body in enumerate(_Shaped(chance, api).requests(turns)):
        asked = json.loads(body) | _besides(api, seed, chance.random() < 0.7)
        counts = api == "messages" and chance.random() < 0.1
        path = PATHS[api] + ("/count_tokens?beta=true" if counts else "")
        answer = _counted(number) if counts else _answer(chance, api, number, streams=asked["stream"])
        yield Exchange(path, style.written(asked).encode(), answer)


class Style:
    """How one host writes JSON. Two styles give other bytes for the same value."""

    def __init__(self, chance: random.Random) -> None:
        self._comma = chance.choice((",", ", ", " ,\n\t", ",\r\n"))
        self._colon = chance.choice((":", ": ", " :", "\n:\t"))
        self._ends = chance.choice((("", ""), (" ", "\n"), ("\n\t", "")))
        self._ascii = chance.random() < 0.5
        self._slashes = chance.random() < 0.3
        self._backwards = chance.random() < 0.3

    def written(self, value: Any) -> str:
        return self._ends[0] + self._value(value) + self._ends[1]

    def _value(self, value: Any) -> str:
        match value:
            case dict():
                pairs = [self._text(name) + self._colon + self._value(each) for name, each in value.items()]
                return "{" + self._comma.join(pairs[::-1] if self._backwards else pairs) + "}"
            case list():
                return "[" + self._comma.join(self._value(each) for each in value) + "]"
            case str():
                return self._text(value)
            case _:
                return json.dumps(value)

    def _text(self, value: str) -> str:
        text = json.dumps(value, ensure_ascii=self._ascii)
        return text.replace("/", "\\/") if self._slashes else text


class _Shaped(Session):
    """A session with what is rare."""

    def __init__(self, chance: random.Random, api: Api) -> None:
        super().__init__(chance.randrange(2**32), api)
        self._rare = chance

    def _text(self) -> str:
        match self._rare.randrange(12):
            case 0:
                return "".join(self._rare.sample(_ODD, 3))
            case 1 if self._rare.random() < 0.2:
                text = self._rare.choice(_ODD) + super()._text()
                return (text * (_HUGE // len(text) + 1))[:_HUGE]
            case _:
                return super()._text()

    def _turn_messages(self, calls: list[tuple[str, str, dict[str, str]]]) -> None:
        super()._turn_messages(calls)
        content = next(each["content"] for each in reversed(self.messages) if each["role"] == "assistant")
        if self._rare.random() < 0.2:
            content[:0] = [
                {"type": "redacted_thinking", "data": "ZW5j" * 300},
                *_searched(len(self.messages)),
            ]


def _searched(number: int) -> list[dict[str, Any]]:
    """A search at the provider, and words with their sources."""
    id_ = f"srvtoolu_{number}"
    source = {"url": "https://example.com/?a=1&b=2", "title": "Ü", "encrypted_index": "aWR4" * 40}
    found = {"type": "web_search_result", **source, "page_age": None}
    cited = {"type": "web_search_result_location", **source, "cited_text": "…"}
    return [
        {"type": "server_tool_use", "id": id_, "name": "web_search", "input": {"query": "ü"}},
        {"type": "web_search_tool_result", "tool_use_id": id_, "content": [found]},
        {"type": "text", "text": "As it says.", "citations": [cited]},
    ]


def _besides(api: Api, seed: int, streams: bool) -> dict[str, Any]:
    """What a request holds beside its messages; numbers in forms that a parser would change."""
    given: dict[str, Any] = {
        "stream": streams,
        "temperature": 1.0,
        "seed": 2**63 + seed,
        "unknown": [None, -0.0, 1e-7],
    }
    if api == "messages":
        user = {"user_id": f"user_a_account_b_session_00000000-0000-4000-8000-{seed:012d}"}
        tool = {"name": "Read", "description": "Reads.", "input_schema": _TOOL}
        return given | {"max_tokens": 32_000, "metadata": user, "tools": [tool]}
    tool = {"name": "Read", "description": "Reads.", "parameters": _TOOL}
    if api == "chat":
        return given | {
            "tools": [{"type": "function", "function": tool}],
            "stream_options": {"include_usage": True},
        }
    return given | {
        "tools": [{"type": "function", **tool}],
        "prompt_cache_key": f"codex-{seed}",
        "store": False,
    }


def _counted(number: int) -> Answer:
    body = b'{"input_tokens": %d}' % (1_000 + number)
    return Answer([whole(200, body, _JSON)], 200, body, True)


def _answer(chance: random.Random, api: Api, number: int, *, streams: bool) -> Answer:
    if chance.random() < 0.1:
        return _refused(chance)
    parts = _parts(chance, number)
    if not streams:
        return _whole(chance, json.dumps(_SAYS[api].whole(parts, number), ensure_ascii=False).encode())
    return _streamed(chance, b"".join(_SAYS[api].stream(parts, number, chance.choice((3, 40)))))


def _parts(chance: random.Random, number: int) -> list[Part]:
    parts: list[Part] = [Think(f"t{number}")] if chance.random() < 0.3 else []
    parts.append(Say("".join(chance.sample(_ODD, 2)) * chance.choice((1, 1, 20))))
    return parts + [Do(f"call_{number}_{n}", "Read", {"path": _ODD[n]}) for n in range(chance.randrange(4))]


def _refused(chance: random.Random) -> Answer:
    status = chance.choice((400, 401, 413, 429, 500, 529))
    body = b'{"type": "error",  "error": {"type": "x", "message": "\\u00fc"}}\n'
    return Answer([whole(status, body, _JSON, "retry-after: 3", "x-should-retry: true")], status, body, True)


def _whole(chance: random.Random, body: bytes) -> Answer:
    fields = [_JSON, "request-id: req_1"]
    if chance.random() < 0.4:
        body, fields = gzip.compress(body, mtime=0), [*fields, "content-encoding: gzip"]
    sent = whole(200, body, *fields)
    if chance.random() < 0.1:
        return Answer([sent[: -len(body) // 2]], 200, body[: len(body) - -(-len(body) // 2)], False)
    return Answer(_cut(chance, sent), 200, body, True)


def _streamed(chance: random.Random, body: bytes) -> Answer:
    """Cut where it happens, in the middle of characters and events."""
    fields = [_STREAM, "connection: close", "transfer-encoding: chunked"]
    if chance.random() < 0.2:
        body, fields = gzip.compress(body, mtime=0), [*fields, "content-encoding: gzip"]
    pieces = _cut(chance, body)
    complete = chance.random() >= 0.1
    if not complete:
        pieces = pieces[: len(pieces) // 2]
    chunks = chunked(*pieces)
    head = "\r\n".join(("HTTP/1.1 200 OK", *fields, "", "")).encode()
    return Answer([head, *(chunks if complete else chunks[:-1])], 200, b"".join(pieces), complete)


def _cut(chance: random.Random, body: bytes) -> list[bytes]:
    places = sorted(
        {0, len(body), *(chance.randrange(1, len(body)) for _ in range(chance.choice((1, 3, 8))))}
    )
    return [body[start:end] for start, end in pairwise(places)]
