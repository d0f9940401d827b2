"""The examples of the client, with a model that repeats what it is told: a second run knows what the first was told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from proofs.adapters.suites.telling import CONTROL, tell
from proofs.plugin.model import anthropic_text

EXAMPLES = Path(__file__).parents[3] / "clients/python/examples"
TOLD, ASKED = "The code word of the lantern is heliotrope.", "What is the code word of the lantern?"
WORD = "heliotrope"
_SECONDS = 60.0


class Model(BaseHTTPRequestHandler):
    """Messages, streamed or not, and Responses."""

    requests: ClassVar[list[str]] = []
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        self.requests.append(json.dumps(body))
        if self.path.endswith("/responses"):
            self._send("application/json", json.dumps(_response(body)))
        elif "count_tokens" in self.path:
            self._send("application/json", '{"input_tokens": 9}')
        elif body.get("stream"):
            events = anthropic_text(_said(body), uuid.uuid4().hex)
            lines = (
                f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events
            )
            self._send("text/event-stream", "".join(lines))
        else:
            self._send("application/json", json.dumps(_message(body)))

    def do_GET(self) -> None:
        self._send("application/json", '{"data": []}')

    def _send(self, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def _said(body: dict[str, Any]) -> str:
    return f"I heard: {TOLD}" if TOLD in json.dumps(body["messages"]) else "I heard a question."


def _message(body: dict[str, Any]) -> dict[str, Any]:
    ((_, first),) = [event for event in anthropic_text("", "1") if event[0] == "message_start"]
    content = [{"type": "text", "text": _said(body)}]
    return {**first["message"], "content": content, "stop_reason": "end_turn"}


def _response(body: dict[str, Any]) -> dict[str, Any]:
    """It hands over where it can."""
    id_ = uuid.uuid4().hex
    text = {"type": "output_text", "text": "I am the expert.", "annotations": []}
    item: dict[str, Any] = {"type": "message", "role": "assistant", "content": [text]}
    for tool in body.get("tools", []):
        item = {"type": "function_call", "call_id": id_, "name": tool["name"], "arguments": "{}"}
    usage = {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}
    details = {
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": f"resp_{id_}",
        "object": "response",
        "created_at": 1,
        "model": body["model"],
        "status": "completed",
        "output": [{**item, "id": f"item_{id_}", "status": "completed"}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {**usage, **details},
    }


def run(example: str, settings: dict[str, str], *arguments: str) -> str:
    """What it prints. Raises CalledProcessError, TimeoutExpired."""
    command = [sys.executable, str(EXAMPLES / example), *arguments]
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, **settings, "HOME": home, "CLAUDE_CONFIG_DIR": home}
        done = subprocess.run(
            command, env=environment, cwd=home, capture_output=True, text=True, check=True, timeout=_SECONDS
        )
    return done.stdout


def tried(example: str, settings: dict[str, str]) -> str | None:
    """What is wrong, if anything. The control asks under another name, where only what peers learned is known."""
    name = f"lantern-{uuid.uuid4().hex}"
    Model.requests.clear()
    try:
        if example == "claude_pair.py":
            said = run(example, settings, name, TOLD, ASKED)
        else:
            run(example, settings, name, TOLD)
            Model.requests.clear()
            said = run(example, settings, f"{name}-other" if CONTROL else name, ASKED)
    except subprocess.CalledProcessError as error:
        return f"{example}: {error.stderr[-1_500:]}"
    asking = [request for request in Model.requests if ASKED in request]
    known = asking and all(WORD in request for request in asking)
    return (
        None
        if known and said.strip()
        else f"{example}: nothing was known of {WORD}; it said {said!r}, {len(asking)} asked"
    )


def _settings(url: str) -> Iterator[tuple[str, str]]:
    yield "ANTHROPIC_BASE_URL", url
    yield "OPENAI_BASE_URL", f"{url}/v1"
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        yield name, "none"
    for name in ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"):
        yield name, "1"


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = dict(_settings(f"http://127.0.0.1:{server.server_port}"))
    names = sorted(path.name for path in EXAMPLES.glob("*.py") if not (CONTROL and "claude" in path.name))
    found = [tried(name, settings) for name in names]
    failed = [each for each in found if each is not None]
    tell("examples, twice", "scrubjay", len(found) - len(failed), failed)
    server.shutdown()


if __name__ == "__main__":
    main()
