"""Random sessions of a host, request by request, in the shape of each API."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, Literal

Api = Literal["messages", "chat", "responses"]

_WORDS = [
    "def login(user):",
    "return None",
    "Übergröße – €",
    "日本語の行",
    "error: no such file",
    '"quoted" \\ back',
    "\t x = 1",
]
_POOL = "\n".join(_WORDS[n * 7 % len(_WORDS)] + f" {n}" for n in range(4_000))
_SIZES = (0, 3, 200, 900, 1_500, 3_000, 13_000)


class Session:
    """What a host sends only grows at its end."""

    def __init__(self, seed: int, api: Api) -> None:
        self._chance = random.Random(seed)
        self._api = api
        self._separators = self._chance.choice([(",", ":"), (", ", ": ")])
        self._ascii = self._chance.random() < 0.5
        self._marks = api == "messages" and self._chance.random() < 0.7
        self._calls = 0
        self.messages: list[dict[str, Any]] = []

    def requests(self, turns: int) -> Iterator[bytes]:
        self._user()
        for _ in range(turns):
            yield self.body()
            self._turn()

    def body(self) -> bytes:
        named = "input" if self._api == "responses" else "messages"
        given: dict[str, Any] = {"model": "claude-sonnet-4-5" if self._api == "messages" else "gpt-5"}
        if self._api == "messages":
            given["system"] = [{"type": "text", "text": "Be careful. " * 40}]
        given[named] = self._marked() if self._marks else self.messages
        return json.dumps(given, separators=self._separators, ensure_ascii=self._ascii).encode()

    def _marked(self) -> list[dict[str, Any]]:
        last = self.messages[-1]
        parts = [*last["content"][:-1], {**last["content"][-1], "cache_control": {"type": "ephemeral"}}]
        return [*self.messages[:-1], {**last, "content": parts}]

    def _text(self) -> str:
        size = self._chance.choice(_SIZES)
        start = self._chance.randrange(1_000)
        return _POOL[start : start + size]

    def _user(self) -> None:
        text = self._text() or "Go on."
        kind = "input_text" if self._api == "responses" else "text"
        parts: list[dict[str, Any]] = [{"type": kind, "text": text}]
        if self._api == "messages" and self._chance.random() < 0.1:
            parts.insert(0, {"type": "image", "source": {"type": "base64", "data": "AAAA" * 2_000}})
        self.messages.append({"role": "user", "content": parts})

    def _turn(self) -> None:
        calls = [self._call() for _ in range(self._chance.choice((0, 1, 1, 1, 2, 3)))]
        getattr(self, f"_turn_{self._api}")(calls)
        if not calls or self._chance.random() < 0.1:
            self._user()

    def _call(self) -> tuple[str, str, dict[str, str]]:
        self._calls += 1
        name = self._chance.choice(("Read", "Bash", "search"))
        return f"call_{self._calls}", name, {"path": f"src/{self._chance.randrange(9)}.py"}

    def _turn_messages(self, calls: list[tuple[str, str, dict[str, str]]]) -> None:
        parts: list[dict[str, Any]] = []
        if self._chance.random() < 0.3:
            parts.append({"type": "thinking", "thinking": self._text(), "signature": "c2ln" * 400})
        parts.append({"type": "text", "text": self._text() or "Next."})
        parts += [{"type": "tool_use", "id": id_, "name": name, "input": given} for id_, name, given in calls]
        self.messages.append({"role": "assistant", "content": parts})
        if calls:
            self.messages.append({"role": "user", "content": [self._result(id_) for id_, *_ in calls]})

    def _result(self, id_: str) -> dict[str, Any]:
        content: Any = self._text()
        if self._chance.random() < 0.3:
            image = {"type": "image", "source": {"type": "base64", "data": "BBBB" * 500}}
            content = [
                {"type": "text", "text": content or "-"},
                image,
                {"type": "text", "text": self._text() or "-"},
            ]
        return {"type": "tool_result", "tool_use_id": id_, "content": content}

    def _turn_chat(self, calls: list[tuple[str, str, dict[str, str]]]) -> None:
        made = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for id_, name, given in calls
        ]
        tools = {"tool_calls": made} if made else {}
        self.messages.append({"role": "assistant", "content": self._text() or None, **tools})
        for id_, *_ in calls:
            self.messages.append({"role": "tool", "tool_call_id": id_, "content": self._text()})

    def _turn_responses(self, calls: list[tuple[str, str, dict[str, str]]]) -> None:
        self.messages.append({"type": "reasoning", "id": "rs", "encrypted_content": "eHg=" * 300})
        if text := self._text():
            part = {"type": "output_text", "text": text, "annotations": []}
            self.messages.append({"type": "message", "role": "assistant", "content": [part]})
        for id_, name, given in calls:
            self.messages.append(
                {"type": "function_call", "call_id": id_, "name": name, "arguments": json.dumps(given)}
            )
        for id_, *_ in calls:
            self.messages.append({"type": "function_call_output", "call_id": id_, "output": self._text()})
