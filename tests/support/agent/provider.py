"""A model behind Anthropic's and OpenAI's APIs that follows orders in what the user says, and keeps a ledger.

An order is `q7 KIND`. Each answer takes other tokens than every one before, so that a row of costs names its call.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from aiohttp import web

from tests.support.agent.server import FakeServer

Json = dict[str, Any]
_ORDER = re.compile(r"\bq(\d+) (\w+)(?: (\{.*\}))?")
_DELAYS = (0.02, 0.25)


class Call(NamedTuple):
    """As a row of costs names it."""

    input: int
    output: int


class Wish(NamedTuple):
    """What the model says next: a text, or calls of tools."""

    text: str = ""
    calls: Sequence[tuple[str, Json]] = ()


Script = Callable[[int, str, int], Wish]


def scripted(number: int, kind: str, step: int) -> Wish:
    """`step` counts the results of tools that the turn has seen."""
    steps = _STEPS.get(kind, ())
    if step < len(steps):
        name, arguments = steps[step]
        return Wish(calls=[(name, json.loads(json.dumps(arguments).replace("NUMBER", str(number))))])
    return Wish("NO_REPLY" if kind == "silent" else f"a{number}.")


_STEPS: Mapping[str, Sequence[tuple[str, Json]]] = {
    "fact": [("memory_write", {"entity": "item NUMBER", "attribute": "state", "value": "done NUMBER"})],
    "send": [("message", {"text": "aside NUMBER."})],
    "sub": [("sessions_spawn", {"task": "q9NUMBER fact"})],
    "later": [("schedule_message", {"text": "q8NUMBER say", "minutes": 0.03})],
    "file": [
        ("write", {"path": "notes/NUMBER.txt", "content": "note NUMBER"}),
        ("read", {"path": "notes/NUMBER.txt"}),
    ],
}


class FakeProvider(FakeServer):
    def __init__(self, script: Script = scripted, seed: int = 0) -> None:
        super().__init__()
        self._script = script
        self._random = random.Random(seed)
        self.ledger: list[Call] = []
        """What was billed: every answer, whether or not somebody was left to read it."""
        self.requests: list[Json] = []

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/messages", self._messages),
            web.post("/v1/chat/completions", self._completions),
        ]

    async def _messages(self, request: web.Request) -> web.Response:
        body = await request.json()
        wish, number, used = await self._decided(body, body["messages"])
        content: list[Json] = [{"type": "text", "text": wish.text}] if wish.text else []
        for place, (name, given) in enumerate(wish.calls):
            content.append(
                {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": given}
            )
        usage = {"input_tokens": used.input, "output_tokens": used.output}
        return web.json_response(
            {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": content,
                "stop_reason": "tool_use" if wish.calls else "end_turn",
                "stop_sequence": None,
                "usage": usage,
            }
        )

    async def _completions(self, request: web.Request) -> web.Response:
        body = await request.json()
        wish, number, used = await self._decided(body, body["messages"])
        calls = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for place, (name, given) in enumerate(wish.calls)
        ]
        said = {"role": "assistant", "content": wish.text or None} | ({"tool_calls": calls} if calls else {})
        finish = "tool_calls" if calls else "stop"
        total = used.input + used.output
        return web.json_response(
            {
                "id": f"chatcmpl-{number}",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": said, "finish_reason": finish}],
                "usage": {
                    "prompt_tokens": used.input,
                    "completion_tokens": used.output,
                    "total_tokens": total,
                },
            }
        )

    async def _decided(self, body: Json, messages: list[Json]) -> tuple[Wish, int, Call]:
        await asyncio.sleep(self._random.uniform(*_DELAYS))
        self.requests.append(body)
        number = len(self.requests)
        used = Call(1_000 + number, 10 + number % 7)
        self.ledger.append(used)
        return self._wish(messages), number, used

    def _wish(self, messages: list[Json]) -> Wish:
        """Orders that were sent together are carried out one after the other, and answered together."""
        place = max(at for at, message in enumerate(messages) if _says(message))
        orders = _ORDER.findall(_text(messages[place]))
        step = sum(_results(message) for message in messages[place + 1 :])
        said = []
        for number, kind, _ in orders:
            wish = self._script(int(number), kind, step)
            if wish.calls:
                return wish
            step -= len(_STEPS.get(kind, ()))
            said.append(wish.text)
        return Wish(" ".join(said) or "what?")


def _says(message: Json) -> bool:
    return message["role"] == "user" and bool(_text(message))


def _text(message: Json) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return " ".join(block["text"] for block in content or [] if block["type"] == "text")


def _results(message: Json) -> int:
    if message["role"] == "tool":
        return 1
    content = message["content"]
    return sum(block["type"] == "tool_result" for block in content) if isinstance(content, list) else 0
