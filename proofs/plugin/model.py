"""A model of two APIs that follows a script: each prompt leads to calls of the shell, and then to an answer.

It speaks Anthropic's Messages and OpenAI's Responses, as server-sent events, and keeps the bytes of each request.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

COMMANDS = ("echo first-step-of-the-lantern", "echo second-step; cat missing-lantern-file")
"""What the model runs for each prompt, one after the other."""
_SUMMARY = "detailed summary of the conversation"
"""How Claude Code asks for one when it compacts."""
_SUMMARY_SECONDS = 3.0
"""A real model takes longer."""
ANSWER = "The lantern is lit: both steps were run."


class Model:
    """Keeps requests of the conversation; those for titles and the like are answered and forgotten."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._calls = 0
        keeper = self

        class Answers(_Answers):
            model = keeper

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def forget(self) -> None:
        self.requests = []

    def keep(self, request: dict[str, Any]) -> None:
        with self._lock:
            self.requests.append(request)

    def next_id(self) -> str:
        with self._lock:
            self._calls += 1
            return f"{self._calls:08d}"


class _Answers(BaseHTTPRequestHandler):
    model: ClassVar[Model]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        if self.path.startswith("/v1/messages/count_tokens"):
            self._json({"input_tokens": 1_000})
        elif self.path.startswith("/v1/messages"):
            self._stream(self._messages(body), body)
        elif self.path.endswith("/responses"):
            self._stream(self._responses(body), body)
        else:
            self._json({})

    def do_GET(self) -> None:
        self._json({"data": [], "models": []})

    def _messages(self, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        if not any(tool.get("name") == "Bash" for tool in body.get("tools", [])):
            yield from anthropic_text("Lantern", self.model.next_id())
            return
        if _SUMMARY in json.dumps(body["messages"][-1]):
            time.sleep(_SUMMARY_SECONDS)
            yield from anthropic_text("<summary>The lantern was lit twice.</summary>", self.model.next_id())
            return
        self.model.keep(body)
        done = commands_run(body["messages"])
        if done < len(COMMANDS):
            yield from anthropic_call(COMMANDS[done], self.model.next_id())
        else:
            yield from anthropic_text(ANSWER, self.model.next_id())

    def _responses(self, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        tools = {tool.get("name") for tool in body.get("tools", [])}
        shell = next((name for name in ("exec_command", "shell_command", "shell") if name in tools), None)
        if shell is None:
            yield from openai_item(openai_text("Lantern"), self.model.next_id())
            return
        self.model.keep(body)
        done = outputs_since_prompt(body["input"])
        item = (
            openai_call(shell, COMMANDS[done], self.model.next_id())
            if done < len(COMMANDS)
            else openai_text(ANSWER)
        )
        yield from openai_item(item, self.model.next_id())

    def _json(self, answer: dict[str, Any]) -> None:
        self._send("application/json", json.dumps(answer).encode())

    def _stream(self, events: Iterator[tuple[str, dict[str, Any]]], body: dict[str, Any]) -> None:
        text = "".join(
            f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events
        )
        self._send("text/event-stream", text.encode())

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def commands_run(messages: list[dict[str, Any]]) -> int:
    """How many results of tools stand after the last prompt."""
    count = 0
    for message in reversed(messages):
        content = message["content"]
        results = [b for b in content if b.get("type") == "tool_result"] if isinstance(content, list) else []
        if message["role"] == "user" and not results:
            break
        count += len(results)
    return count


def outputs_since_prompt(items: list[dict[str, Any]]) -> int:
    count = 0
    for item in reversed(items):
        if item.get("type") == "message" and item.get("role") == "user":
            break
        count += item.get("type", "").endswith("_output")
    return count


def anthropic_call(command: str, id_: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from anthropic_tool("Bash", {"command": command, "description": "A step"}, id_)


def anthropic_tool(name: str, given: dict[str, Any], id_: str) -> Iterator[tuple[str, dict[str, Any]]]:
    block = {"type": "tool_use", "id": f"toolu_{id_}", "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
    yield from _anthropic(block, delta, "tool_use", id_)


def anthropic_text(text: str, id_: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _anthropic({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn", id_)


def _anthropic(
    block: dict[str, Any], delta: dict[str, Any], reason: str, id_: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    message: dict[str, Any] = {
        "id": f"msg_{id_}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    yield "message_start", {"message": message}
    yield "content_block_start", {"index": 0, "content_block": block}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    yield (
        "message_delta",
        {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 9}},
    )
    yield "message_stop", {}


def openai_text(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def openai_call(shell: str, command: str, id_: str) -> dict[str, Any]:
    given = {"exec_command": {"cmd": command}, "shell_command": {"command": command}}
    return openai_function(shell, given.get(shell, {"command": ["bash", "-lc", command]}), id_)


def openai_function(name: str, given: dict[str, Any], id_: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": f"call_{id_}",
        "name": name,
        "arguments": json.dumps(given),
    }


def openai_item(item: dict[str, Any], id_: str) -> Iterator[tuple[str, dict[str, Any]]]:
    response: dict[str, Any] = {
        "id": f"resp_{id_}",
        "object": "response",
        "status": "in_progress",
        "output": [],
    }
    whole = {**item, "id": f"item_{id_}", "status": "completed"}
    usage = {"input_tokens": 10, "output_tokens": 9, "total_tokens": 19}
    yield "response.created", {"response": response}
    yield "response.output_item.added", {"output_index": 0, "item": whole}
    yield "response.output_item.done", {"output_index": 0, "item": whole}
    yield (
        "response.completed",
        {"response": {**response, "status": "completed", "output": [whole], "usage": usage}},
    )
