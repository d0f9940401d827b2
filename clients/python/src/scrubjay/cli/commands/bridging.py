"""The service's MCP server for hosts that start one as a process: the key stays in the user's file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import click
import httpx

from scrubjay.cli.session import access, connect
from scrubjay.cli.settings import Settings

_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_FAILED = -32_000
_SESSION = "mcp-session-id"


@click.command()
@access
def mcp(found: Settings) -> None:
    """Serve the service's MCP tools on standard input and output, for hosts that start it."""
    connect(found).close()  # says what is missing
    headers = {"authorization": f"Bearer {found.token}", "accept": "application/json, text/event-stream"}
    with httpx.Client(headers=headers, timeout=_TIMEOUT) as http:
        for line in sys.stdin:
            if line.strip():
                for answer in _answers(http, f"{str(found.url).rstrip('/')}/mcp", line):
                    sys.stdout.write(f"{answer}\n")
                    sys.stdout.flush()


def _answers(http: httpx.Client, url: str, line: str) -> Iterator[str]:
    """One line for each message of the service. A request that fails is answered, so that the host does not wait."""
    try:
        response = http.post(url, content=line, headers={"content-type": "application/json"})
    except httpx.HTTPError as error:
        yield from _failed(line, f"Scrubjay cannot be reached: {error}")
        return
    if _SESSION in response.headers:
        http.headers[_SESSION] = response.headers[_SESSION]
    messages = list(_messages(response))
    if response.is_error and not messages:
        messages = list(_failed(line, f"Scrubjay answered {response.status_code}"))
    for message in messages:
        _agree(http, message)
        yield message


def _messages(response: httpx.Response) -> Iterator[str]:
    """Each as one line of JSON."""
    streamed = response.headers.get("content-type", "").startswith("text/event-stream")
    # JSON may hold the other characters that end lines in Python.
    lines = response.text.split("\n") if streamed else [f"data: {response.text}"]
    for line in lines:
        message = _read(line.removeprefix("data:")) if line.startswith("data:") else None
        if isinstance(message, dict) and "jsonrpc" in message:
            yield json.dumps(message)


def _agree(http: httpx.Client, message: str) -> None:
    """Every request after the first names the version that both speak."""
    result = json.loads(message).get("result")
    if isinstance(result, dict) and "protocolVersion" in result:
        http.headers["mcp-protocol-version"] = str(result["protocolVersion"])


def _failed(line: str, why: str) -> Iterator[str]:
    request = _read(line)
    if isinstance(request, dict) and request.get("id") is not None:
        yield json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": _FAILED, "message": why}})


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


COMMANDS = (mcp,)
