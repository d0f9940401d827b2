"""Requests that alternate between two servers: nothing is kept between them. The control keeps sessions."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import cycle
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from services.context.document import as_json
from services.context.mcp.server import manager
from tests.support.mcp.client import ERAS, LEGACY

ADDRESS = "http://127.0.0.1:8080/mcp"


class Turns:
    """As a proxy before two replicas; the way in answers what is no POST, as the service's does."""

    def __init__(self, managers: list[StreamableHTTPSessionManager], toolset: str = "default") -> None:
        self._turns = cycle(managers)
        self._toolset = toolset

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            await send({"type": "http.response.start", "status": 405, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        scope["state"] = {"toolsets": (self._toolset,)}
        await next(self._turns).handle_request(scope, receive, send)


def made(stateless: bool) -> StreamableHTTPSessionManager:
    one = manager(json.loads(as_json()), "1", ["127.0.0.1"])
    one.stateless = stateless
    return one


async def listed(stateless: bool, era: str) -> int:
    """How many lists a client got of ten, each of which it asked for twice at most."""
    pair = [made(stateless), made(stateless)]
    async with pair[0].run(), pair[1].run():
        transport = httpx2.ASGITransport(app=Turns(pair))
        got = 0
        for _ in range(5):
            try:
                async with (
                    httpx2.AsyncClient(transport=transport) as http,
                    Client(streamable_http_client(ADDRESS, http_client=http), mode=era, cache=None) as client,
                ):
                    for _ in range(2):
                        got += len((await client.list_tools()).tools) > 0
            except Exception:
                continue
        return got


@pytest.mark.parametrize("era", ERAS)
async def test_any_server_answers(era: str) -> None:
    assert await listed(True, era) == 10


async def test_sessions_would_lose_calls() -> None:
    assert await listed(False, LEGACY) < 10


def test_the_service_starts_without_the_sdk() -> None:
    """It takes some 30 MB, which only those pay who use it."""
    program = "import sys, services.context.app; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program]).returncode == 0


async def asked_for_tools(host: str = "127.0.0.1", toolset: str = "default") -> httpx2.Response:
    server = made(True)
    async with server.run():
        transport = httpx2.ASGITransport(app=Turns([server], toolset))
        async with httpx2.AsyncClient(transport=transport) as http:
            headers = {"host": host, "accept": "application/json, text/event-stream"}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            return await http.post(ADDRESS, json=message, headers=headers)


@pytest.mark.parametrize(
    ("host", "status"), [("127.0.0.1:1", 200), ("127.0.0.1", 200), ("evil.example:1", 421)]
)
async def test_only_by_its_own_names(host: str, status: int) -> None:
    assert (await asked_for_tools(host)).status_code == status


@pytest.mark.parametrize(("toolset", "most"), [("default", 3_500), ("full", 14_000)])
async def test_a_list_of_tools_costs_few_tokens(toolset: str, most: int) -> None:
    """A client sends the list to its model with every question; a token is four characters."""
    answer = await asked_for_tools(toolset=toolset)
    assert len(answer.json()["result"]["tools"]) >= 6
    assert len(answer.text) / 4 <= most
