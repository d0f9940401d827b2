"""The official MCP client against an address, with a key, in either era."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

LEGACY = "legacy"
MODERN = "2026-07-28"
ERAS = (LEGACY, MODERN)


@asynccontextmanager
async def connect(url: str, token: str, era: str, query: str = "") -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{url}/mcp{query}", http_client=http), mode=era) as client,
    ):
        yield client
