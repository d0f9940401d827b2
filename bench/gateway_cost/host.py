"""A host that sends a transcript to a model, request by request, in the shape of either API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from bench.paging.events import Event, turns
from services.context.gateway.editing import replace

Api = Literal["anthropic", "openai"]
_MARK = b',"cache_control":{"type":"ephemeral"}'
_CALLS = ("tool_call",)


class Request(NamedTuple):
    body: bytes
    answer: str
    """What the model writes next: its words, and the arguments of its calls."""
    fresh: Sequence[Event]
    """Results that this request shows first."""


def requests(events: Sequence[Event], api: Api, head_tokens: int) -> Iterator[Request]:
    """One for each answer of the model."""
    host = _Anthropic(head_tokens) if api == "anthropic" else _OpenAI(head_tokens)
    host.said("user", "Do what the task says, step by step.")
    fresh: list[Event] = []
    for number, turn in enumerate(turns(events)):
        answered = [event for event in turn if event.kind in ("assistant", "tool_call")]
        if answered:
            yield Request(host.body(), "\n".join(event.text for event in answered), fresh)
            fresh = []
        host.turn(number, turn)
        fresh += [event for event in turn if event.kind == "tool_result"]


class _Host:
    def __init__(self, head_tokens: int) -> None:
        self._messages: list[bytes] = []
        self._system = "You are a careful engineer. " * (head_tokens * 4 // 28)

    def said(self, role: str, text: str) -> None:
        self._add({"role": role, "content": text})

    def turn(self, number: int, turn: Sequence[Event]) -> None:
        words = [event.text for event in turn if event.kind == "assistant"]
        calls = [event for event in turn if event.kind == "tool_call"]
        results = [event for event in turn if event.kind == "tool_result"]
        if words or calls or results:
            self._answered(number, "\n".join(words) or "Next.", calls or _calls_of(results), results)
        for event in turn:
            if event.kind == "user":
                self.said("user", event.text)

    def _add(self, message: Mapping[str, Any]) -> None:
        self._messages.append(msgspec.json.encode(message))

    def _answered(self, number: int, words: str, calls: Sequence[Event], results: Sequence[Event]) -> None:
        raise NotImplementedError


class _Anthropic(_Host):
    def body(self) -> bytes:
        """The host marks its system and its newest block, as coding agents do."""
        last = self._messages[-1]
        end = len(last) - (3 if last.endswith(b"}]}") else 1)
        marked = replace(last, {(end, end): _MARK}) if last.endswith(b"}]}") else last
        messages = b",".join([*self._messages[:-1], marked])
        system = msgspec.json.encode(self._system)
        return (
            b'{"model":"claude-sonnet-4-5","max_tokens":8000,"stream":true,"system":[{"type":"text","text":'
            + system
            + _MARK
            + b'}],"messages":['
            + messages
            + b"]}"
        )

    def said(self, role: str, text: str) -> None:
        self._add({"role": role, "content": [{"type": "text", "text": text or " "}]})

    def _answered(self, number: int, words: str, calls: Sequence[Event], results: Sequence[Event]) -> None:
        uses = [
            {
                "type": "tool_use",
                "id": f"toolu_{number}_{place}",
                "name": call.tool or "Bash",
                "input": _input(call),
            }
            for place, call in enumerate(calls)
        ]
        self._add({"role": "assistant", "content": [{"type": "text", "text": words}, *uses]})
        given = [
            {
                "type": "tool_result",
                "tool_use_id": f"toolu_{number}_{min(place, len(calls) - 1)}",
                "content": each.text,
            }
            for place, each in enumerate(results)
        ]
        if given:
            self._add({"role": "user", "content": given})


class _OpenAI(_Host):
    def body(self) -> bytes:
        system = msgspec.json.encode({"role": "system", "content": self._system})
        return b'{"model":"gpt-5","stream":true,"messages":[' + b",".join([system, *self._messages]) + b"]}"

    def _answered(self, number: int, words: str, calls: Sequence[Event], results: Sequence[Event]) -> None:
        made = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call.tool or "Bash", "arguments": call.text},
            }
            for place, call in enumerate(calls)
        ]
        self._add({"role": "assistant", "content": words, **({"tool_calls": made} if made else {})})
        for place, each in enumerate(results):
            call = f"call_{number}_{min(place, len(calls) - 1)}"
            self._add({"role": "tool", "tool_call_id": call, "content": each.text})


def _calls_of(results: Sequence[Event]) -> Sequence[Event]:
    return [Event("tool_call", "{}", each.tool, each.key) for each in results]


def _input(call: Event) -> Any:
    try:
        given = msgspec.json.decode(call.text)
    except msgspec.DecodeError:
        given = None
    return given if isinstance(given, dict) else {"command": call.text}
