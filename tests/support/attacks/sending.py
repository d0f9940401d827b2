"""Attempts: the attacks of the table as requests over REST and MCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby, islice
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from aiohttp import ClientTimeout

from services.context.mcp.resources import RESOURCES
from services.context.mcp.tool import Tool
from services.context.mcp.toolbox import Bound, toolbox
from tests.support.attacks.table import ATTACKS, LINES, STREAM, Arguments, resource_uris
from tests.support.attacks.victim import LATE, TRIES, Victim
from tests.support.cluster import Client
from tests.support.openapi import DOCUMENT, Operation, operations

OPERATIONS: Mapping[str, Operation] = {operation.id: operation for operation in operations()}
TOOLS: Mapping[str, Bound] = toolbox(DOCUMENT)
REACH = {"read": {"read"}, "write": {"read", "write"}, "admin": {"read", "write", "admin"}}
_ORDER = ("read", "write", "admin")
_STREAM_SECONDS = 0.7
_READS_AT_ONCE = 8
_MCP = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}


class Attempt(NamedTuple):
    """One request. `tool` and `uri` say that it goes through MCP."""

    operation: str
    arguments: Arguments
    tool: str | None = None
    uri: str | None = None

    @property
    def access(self) -> str:
        return str(OPERATIONS[self.operation].told["x-access"])

    def __str__(self) -> str:
        return f"{self.tool or self.uri or self.operation} {self.arguments}"


class Reply(NamedTuple):
    status: int
    text: str

    @property
    def refused(self) -> bool:
        return self.status >= 400


def attempts(victim: Victim) -> list[Attempt]:
    """Every attack over REST, and through the tools and resources that reach the same operations; reads first."""
    return reads_first(_attempts(victim))


def reads_first(attempts: Iterable[Attempt]) -> list[Attempt]:
    """Otherwise in their order. What an attempt writes may name the victim's, and a later read would show that."""
    return sorted(attempts, key=lambda attempt: _ORDER.index(attempt.access))


def _attempts(victim: Victim) -> Iterator[Attempt]:
    for operation, attack in ATTACKS.items():
        yield from (Attempt(operation, arguments) for arguments in attack(victim))
    for name, bound in TOOLS.items():
        operation = bound.tool.operation
        for arguments in ATTACKS[operation](victim):
            if STREAM not in arguments:
                given = {"payload": arguments} if bound.kind == "raw" else _of_tool(bound.tool, arguments)
                yield Attempt(operation, given, tool=name)
    for uri in resource_uris(victim):
        yield Attempt(_operation_of(uri), {}, uri=uri)


def _of_tool(tool: Tool, arguments: Arguments) -> Arguments:
    """A tool's fields are flat."""
    flat: Arguments = {}
    for name, value in arguments.items():
        if not tool.only or name in tool.only:
            flat |= value if isinstance(value, dict) else {name: value}
    return flat


def _operation_of(uri: str) -> str:
    starts = {resource.uri.partition("{")[0]: resource.operation for resource in RESOURCES}
    return starts[max((start for start in starts if uri.startswith(start)), key=len)]


async def send(client: Client, attempt: Attempt) -> Reply:
    if attempt.tool is not None:
        return await _call(client, "tools/call", {"name": attempt.tool, "arguments": attempt.arguments})
    if attempt.uri is not None:
        return await _call(client, "resources/read", {"uri": attempt.uri})
    return await _request(client, OPERATIONS[attempt.operation], dict(attempt.arguments))


async def replies_to_all(
    client: Client, attempts: Iterable[Attempt]
) -> AsyncIterator[tuple[Attempt, list[Reply]]]:
    """Sends reads a few at a time, since many of them wait; all else alone and in order."""
    for access, group in groupby(attempts, key=lambda attempt: attempt.access):
        while several := list(islice(group, _READS_AT_ONCE if access == "read" else 1)):
            found = await asyncio.gather(*(replies(client, attempt) for attempt in several))
            for pair in zip(several, found, strict=True):
                yield pair


async def replies(client: Client, attempt: Attempt) -> list[Reply]:
    """Several while a busy machine answers too late or not at all; the last is the one that counts."""
    sent = [await send(client, attempt)]
    while sent[-1].status in LATE and len(sent) < TRIES:
        await asyncio.sleep(1)
        sent.append(await send(client, attempt))
    return sent


async def _call(client: Client, method: str, params: Any) -> Reply:
    """An error that a tool or a resource answers counts as 400."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with client.session.post("/mcp", data=json.dumps(message), headers=_MCP) as response:
        text = await response.text()
    if response.status != 200:
        return Reply(response.status, text)
    answer = json.loads(text)
    failed = "error" in answer or answer["result"].get("isError", False)
    return Reply(400 if failed else 200, text)


async def _request(client: Client, operation: Operation, arguments: Arguments) -> Reply:
    places = {parameter["name"]: parameter["in"] for parameter in operation.parameters}
    streams = arguments.pop(STREAM, False)
    lines = arguments.pop(LINES, None)
    path = operation.path
    for name, value in arguments.items():
        if places.get(name) == "path":
            path = path.replace("{" + name + "}", quote(str(value), safe=""))
    query = {name: value for name, value in arguments.items() if places.get(name) == "query"}
    body = {name: value for name, value in arguments.items() if name not in places}
    target = path + ("?" + urlencode(query, doseq=True) if query else "")
    if streams:
        return await _read_stream(client, target)
    if lines is not None:
        kind = {"content-type": "application/x-ndjson"}
        return await _read(client, operation.method, target, data=lines, headers=kind)
    return await _read(client, operation.method, target, **({"json": body} if operation.bodies else {}))


async def _read(client: Client, method: str, target: str, **options: Any) -> Reply:
    async with client.session.request(method, target, timeout=ClientTimeout(30), **options) as response:
        return Reply(response.status, await response.text())


async def _read_stream(client: Client, target: str) -> Reply:
    """What a stream sends at once."""
    told = bytearray()
    headers = {"accept": "text/event-stream"}
    async with client.session.get(target, headers=headers) as response:
        with suppress(TimeoutError):
            async with asyncio.timeout(_STREAM_SECONDS):
                async for piece in response.content.iter_any():
                    told += piece
    return Reply(response.status, told.decode())
