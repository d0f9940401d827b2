"""A tenant with ten requests a second, which reads, writes, stores code, calls a tool over MCP and opens a stream.

A request fails when it is not answered with success, when the answer names something that failed, or when it got an id
that only an import can have used up.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass, field
from typing import Any

import aiohttp

PER_SECOND = 10.0
_PATIENCE = 10.0
_LARGEST_FAIR_ID = 2**40
_MCP = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


# So long that a service does not parse it itself.
_CODE = "RUN = %d\n" + "".join(
    f"\n\ndef step_{step}(run):\n    for item in run.items:\n        item.move({step})\n"
    for step in range(40)
)


@dataclass
class Seen:
    """What a victim saw of its requests."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __add__(self, other: Seen) -> Seen:
        return Seen(self.seconds + other.seconds, self.failures + other.failures)


class Victim:
    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._numbers = itertools.count()
        self._objects = ""

    async def begin_session(self) -> None:
        async with self._session.post("/api/sessions", json={"agent_name": "agent-0"}) as response:
            response.raise_for_status()
            self._objects = f"/api/sessions/{(await response.json())['data']['id']}/objects"

    async def run(self, seconds: float) -> Seen:
        """Ten requests a second, whatever their answers do."""
        seen, loop = Seen(), asyncio.get_running_loop()
        begun = loop.time()
        tasks = []
        for number in range(int(seconds * PER_SECOND)):
            await asyncio.sleep(max(0.0, begun + number / PER_SECOND - loop.time()))
            tasks.append(asyncio.create_task(self._request(next(self._numbers), seen)))
        await asyncio.gather(*tasks)
        return seen

    async def _request(self, number: int, seen: Seen) -> None:
        kinds = (
            self._ask,
            self._write,
            self._ask,
            self._call,
            self._ask,
            self._stream,
            self._ask,
            self._commit,
            self._code,
        )
        kind = kinds[number % len(kinds)]
        started = time.perf_counter()
        try:
            async with asyncio.timeout(_PATIENCE):
                failure = await kind(number)
        except (aiohttp.ClientError, TimeoutError) as error:
            failure = type(error).__name__
        seen.seconds.append(time.perf_counter() - started)
        if failure:
            seen.failures.append(f"{kind.__name__.strip('_')}: {failure}")

    async def _ask(self, number: int) -> str:
        question = f"What happened to the orders database in run {number % 50}?"
        body = {"query": question, "caller": "agent-0", "mission_namespace": "orders"}
        return await self._post("/api/context/assemble", body)

    async def _write(self, number: int) -> str:
        body = {"context_type": "intel", "mission_id": "orders", "intel_source": "proof"}
        return await self._post("/api/psychic-cache/write", {**body, "content": f"Run {number} failed over."})

    async def _commit(self, number: int) -> str:
        body = {"agent_name": "agent-0", "memory_type": "lesson_learned"}
        return await self._post(
            "/api/agent-memory/commit", {**body, "content": f"Run {number} lost its lease."}
        )

    async def commit_long(self) -> int:
        """The id of a memory of several chunks."""
        text = f"Run {next(self._numbers)} was long. " * 100
        body = {"agent_name": "agent-0", "memory_type": "lesson_learned", "content": text}
        async with self._session.post("/api/agent-memory/commit", json=body) as response:
            response.raise_for_status()
            return int((await response.json())["memory_id"])

    async def _code(self, number: int) -> str:
        body = {"object_type": "file_context", "source_key": f"run_{number}.py", "content": _CODE % number}
        return await self._post(self._objects, body)

    async def _call(self, number: int) -> str:
        arguments = {"query": f"What did run {number % 50} lose?", "caller": "agent-0"}
        params = {"name": "assemble_context", "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return await self._post("/mcp", body, headers=_MCP)

    async def _stream(self, _: int) -> str:
        headers = {"accept": "text/event-stream"}
        async with self._session.get("/api/timeline", headers=headers) as response:
            if response.status == 200:
                await response.content.readline()
            return "" if response.status == 200 else str(response.status)

    async def _post(self, path: str, body: Any, **options: Any) -> str:
        async with self._session.post(path, json=body, **options) as response:
            answer = await response.json(content_type=None)
        if response.status >= 300:
            return str(response.status)
        answer = answer.get("result", answer)
        if answer.get("isError") or answer.get("degraded"):
            return f"degraded: {answer.get('degraded', answer.get('content'))}"
        if int(answer.get("memory_id", 0)) > _LARGEST_FAIR_ID:
            return f"id {answer['memory_id']}"
        return ""
