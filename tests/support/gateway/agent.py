"""An agent's host with tools, whose conversation only grows, in the bytes of each API."""

from __future__ import annotations

import random
from typing import Any, Literal

import msgspec

Api = Literal["messages", "chat", "responses"]
PATHS: dict[Api, str] = {
    "messages": "/gateway/anthropic/v1/messages",
    "chat": "/gateway/openai/v1/chat/completions",
    "responses": "/gateway/openai/v1/responses",
}
_SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}


class Host:
    """Runs one command a turn, with results of `size` characters."""

    def __init__(self, api: Api, *, size: int = 12_000, seed: int = 0) -> None:
        self.api = api
        self._size, self._chance = size, random.Random(seed)
        self.results: list[str] = []
        self._items: list[dict[str, Any]] = [{"role": "user", "content": "Do what the task says."}]

    def body(self, **more: Any) -> bytes:
        return msgspec.json.encode({**self._head(), **self._tools(), **self._conversation(), **more})

    def turn(self, said: str = "Next.") -> None:
        number = len(self.results)
        text = f"RESULT-{number} of command {number}\n" + "".join(
            f"line {row} of {number}: {self._chance.getrandbits(64):x} value\n"
            for row in range(self._size // 40)
        )
        self.results.append(text)
        getattr(self, f"_turn_{self.api}")(f"call_{number}", f"run {number}", said, text)

    def _head(self) -> dict[str, Any]:
        if self.api == "messages":
            system = [{"type": "text", "text": "Be careful.", "cache_control": {"type": "ephemeral"}}]
            return {"model": "claude-sonnet-4-5", "max_tokens": 100, "system": system}
        return {"model": "gpt-5"}

    def _tools(self) -> dict[str, Any]:
        named = {"name": "run", "description": "Run a command."}
        match self.api:
            case "messages":
                return {"tools": [{**named, "input_schema": _SCHEMA}]}
            case "chat":
                return {"tools": [{"type": "function", "function": {**named, "parameters": _SCHEMA}}]}
            case "responses":
                return {"tools": [{"type": "function", **named, "parameters": _SCHEMA}]}

    def _conversation(self) -> dict[str, Any]:
        return {"input" if self.api == "responses" else "messages": self._items}

    def _turn_messages(self, id: str, command: str, said: str, text: str) -> None:
        use = {"type": "tool_use", "id": id, "name": "run", "input": {"command": command}}
        self._items.append({"role": "assistant", "content": [{"type": "text", "text": said}, use]})
        result = {"type": "tool_result", "tool_use_id": id, "content": text}
        self._items.append({"role": "user", "content": [result]})

    def _turn_chat(self, id: str, command: str, said: str, text: str) -> None:
        arguments = msgspec.json.encode({"command": command}).decode()
        call = {"id": id, "type": "function", "function": {"name": "run", "arguments": arguments}}
        self._items.append({"role": "assistant", "content": said, "tool_calls": [call]})
        self._items.append({"role": "tool", "tool_call_id": id, "content": text})

    def _turn_responses(self, id: str, command: str, said: str, text: str) -> None:
        arguments = msgspec.json.encode({"command": command}).decode()
        told = {"type": "output_text", "text": said, "annotations": []}
        self._items += [
            {"type": "message", "role": "assistant", "content": [told]},
            {"type": "function_call", "call_id": id, "name": "run", "arguments": arguments},
            {"type": "function_call_output", "call_id": id, "output": text},
        ]
