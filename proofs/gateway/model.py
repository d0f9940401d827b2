"""A model of two APIs that works through a list of commands, and asks for one text back when it sees it shorter.

It answers as a stream in pieces. `before` is told the number of each command before its answer begins, so that
something can break in the middle.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from proofs.plugin.model import (
    anthropic_call,
    anthropic_text,
    anthropic_tool,
    commands_run,
    openai_call,
    openai_function,
    openai_item,
    openai_text,
    outputs_since_prompt,
)

ANSWER = "All commands were run."
_HANDLE = re.compile(r"\[memory (m-[0-9a-f]{12})\]")
_FAULT = "fault_of_the_model"
_PIECE_SECONDS = 0.01
Events = Iterator[tuple[str, dict[str, Any]]]


class Model:
    def __init__(self, commands: Sequence[str]) -> None:
        self.commands = commands
        self.before: Callable[[int], None] = lambda _: None
        self.forget()
        model = self

        class Answers(_Answers):
            model_ = model

        self._server = _Server(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def forget(self) -> None:
        self.requests: list[bytes] = []
        self.faulted = self.given_back = 0
        self._calls = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next_id(self) -> str:
        with self._lock:
            self._calls += 1
            return f"{self._calls:08d}"

    def handle(self, body: str) -> str | None:
        """What to ask for, once in a session. Later it must be told, in this request and those that follow."""
        if self.faulted:
            self.given_back += _FAULT in body
            return None
        found = _HANDLE.search(body)
        if found is None or "memory_fault" not in body:
            return None
        self.faulted = 1
        return found[1]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Whoever asked was killed."""


def _told(request: bytes) -> int:
    """How many results of its own tools it holds."""
    return int(_FAULT.encode() in request)


class _Answers(BaseHTTPRequestHandler):
    model_: ClassVar[Model]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}"
        body = json.loads(raw)
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._whole({"input_tokens": 1_000})
        elif path.endswith("/messages"):
            self._stream(self._messages(body, raw))
        elif path.endswith("/responses"):
            self._stream(self._responses(body, raw))
        else:
            self._whole({})

    def do_GET(self) -> None:
        self._whole({"data": [], "models": []})

    def _messages(self, body: dict[str, Any], raw: bytes) -> Events:
        model = self.model_
        if not any(tool.get("name") == "Bash" for tool in body.get("tools", [])):
            return anthropic_text("Commands", model.next_id())
        model.requests.append(raw)
        done = commands_run(body["messages"]) - _told(raw)
        model.before(done)
        if (handle := model.handle(raw.decode())) is not None:
            return anthropic_tool("memory_fault", {"handle": handle}, _FAULT)
        if done < len(model.commands):
            return anthropic_call(model.commands[done], model.next_id())
        return anthropic_text(ANSWER, model.next_id())

    def _responses(self, body: dict[str, Any], raw: bytes) -> Events:
        model = self.model_
        tools = {tool.get("name") for tool in body.get("tools", [])}
        shell = next((name for name in ("exec_command", "shell_command", "shell") if name in tools), None)
        if shell is None:
            return openai_item(openai_text("Commands"), model.next_id())
        model.requests.append(raw)
        done = outputs_since_prompt(body["input"]) - _told(raw)
        model.before(done)
        if (handle := model.handle(raw.decode())) is not None:
            call = openai_function("memory_fault", {"handle": handle}, _FAULT)
            return openai_item(call, "fault")
        if done < len(model.commands):
            id_ = model.next_id()
            return openai_item(openai_call(shell, model.commands[done], id_), id_)
        return openai_item(openai_text(ANSWER), model.next_id())

    def _whole(self, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, events: Events) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in events:
            piece = f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
            time.sleep(_PIECE_SECONDS)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        """Says nothing."""
