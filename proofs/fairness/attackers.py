"""What one tenant may try in order to stop the others: `python -m proofs.fairness.attackers NAME`, until it is ended.

It leads a session of its own and has a low priority, so that only the cluster's work for it can slow another tenant.
ATTACK_URL is the context service, ATTACK_WRITE and ATTACK_READ are the tenant's keys.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import aiohttp

from bench.load import Load
from shared.concurrency.priority import lower_process

STREAMS = 256
PER_SECOND = 400.0
QUESTIONS = 20_000
_AT_ONCE = 4
_LONGEST_QUESTION = 8_000
_LARGE_COMMIT = 199_000
_HOSTILE_CODE, _LONG_CODE = "a<", 80_000
_LAST_ID = 2**53 - 1
_PIECE = b"x" * 65_536
_LARGE_HEAD = 32 * 2**20
_HEADS_AT_ONCE = 8
_NICE = 15


class Attacker:
    def __init__(self, url: str, write: str, read: str) -> None:
        self.url, self.write, self.read = url, write, read
        host, _, port = url.removeprefix("http://").partition(":")
        self.host, self.port = host, int(port)

    async def streams(self) -> None:
        """Opens streams with one read key, and leaves them open."""
        headers = {"authorization": f"Bearer {self.read}", "accept": "text/event-stream"}
        connector, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(self.url, connector=connector, timeout=timeout) as session:
            opened = [await session.get("/api/timeline", headers=headers) for _ in range(STREAMS)]
            await asyncio.sleep(3_600)
            del opened

    async def patterns(self) -> None:
        """Texts on which careless patterns take quadratic time."""
        texts = itertools.cycle(
            "".join([unit] * 40_000)[:40_000] for unit in ("-./~", "a-", "can't ", "[1] ", "a_")
        )
        await self._repeat(lambda: ("/api/agent-memory/commit", _memory(f"{time.time_ns()} {next(texts)}")))

    async def questions(self) -> None:
        """Questions that take PostgreSQL's parser as long as possible."""
        questions = itertools.cycle(
            (unit * _LONGEST_QUESTION)[:_LONGEST_QUESTION] for unit in ("e@1", "a_", "./")
        )
        await self._repeat(lambda: ("/api/context/assemble", {"query": next(questions), "caller": "noisy"}))

    async def code(self) -> None:
        """Code for which one step of its parser takes many seconds."""
        made = await self._posted("/api/sessions", {"agent_name": "noisy"})
        path, text = f"/api/sessions/{made['data']['id']}/objects", _HOSTILE_CODE * (_LONG_CODE // 2)
        numbers = itertools.count()

        def body() -> tuple[str, Any]:
            number = next(numbers)
            more = {"object_type": "file_context", "source_key": f"A{number}.java"}
            return path, {"content": f"{text}{number}", **more}

        await self._repeat(body)

    async def queue(self) -> None:
        """Commits whose vectors take long: no two chunks are equal."""
        numbers = itertools.count()

        def body() -> tuple[str, Any]:
            text = " ".join(f"Lesson {next(numbers)} of many." for _ in range(10_000))
            return "/api/agent-memory/commit", _memory(text[:_LARGE_COMMIT])

        await self._repeat(body, at_once=2, pause=0.1)

    async def sequence(self) -> None:
        """An import with the last id that a client can send."""
        when = "2026-01-01T00:00:00Z"
        line: dict[str, Any] = {
            "id": _LAST_ID,
            "agent_name": "noisy",
            "content": "an import from far away",
            "memory_type": "lesson_learned",
            "written_by": "import",
            "source_kind": "agent",
            "created_at": when,
            "updated_at": when,
        }
        numbers = itertools.count()

        def body() -> tuple[str, Any]:
            number = next(numbers)
            each = {**line, "id": _LAST_ID - number, "content": f"an import from far away, {number}"}
            return "/api/agent-memory/import", json.dumps(each).encode()

        await self._repeat(body, at_once=1, pause=0.5)

    async def heads(self) -> None:
        """Heads that never end, from clients that come again when they are refused."""
        start = b"GET /api/timeline HTTP/1.1\r\nhost: x\r\nx-large: "

        async def head() -> None:
            reader, writer = await asyncio.open_connection(self.host, self.port)
            answered = asyncio.create_task(reader.read(1))
            with suppress(OSError):
                writer.write(start)
                for _ in range(_LARGE_HEAD // len(_PIECE)):
                    writer.write(_PIECE)
                    await writer.drain()
                    if answered.done():
                        break
            answered.cancel()
            writer.close()

        async def forever() -> None:
            while True:
                with suppress(OSError):
                    await head()
                await asyncio.sleep(0.05)

        await asyncio.gather(*(forever() for _ in range(_HEADS_AT_ONCE)))

    async def flood(self) -> None:
        """Many times the requests that the cluster can answer. Each question is new, so that each needs a vector."""
        questions = (f"What happened to database {number}?" for number in range(QUESTIONS))
        bodies = [{"query": question, "caller": "noisy"} for question in questions]
        load = Load(self.host, self.port, [self._raw("/api/context/assemble", body) for body in bodies], 7)
        await load.at(PER_SECOND, 3_600)

    def _raw(self, path: str, body: Any) -> bytes:
        content = json.dumps(body).encode()
        lines = (
            f"POST {path} HTTP/1.1",
            "host: noisy",
            f"authorization: Bearer {self.write}",
            "content-type: application/json",
            f"content-length: {len(content)}",
        )
        return "\r\n".join((*lines, "", "")).encode() + content

    async def _posted(self, path: str, body: Any) -> Any:
        headers = {"authorization": f"Bearer {self.write}"}
        async with (
            aiohttp.ClientSession(self.url, headers=headers, raise_for_status=True) as session,
            session.post(path, json=body) as response,
        ):
            return await response.json()

    async def _repeat(
        self, make: Callable[[], tuple[str, Any]], *, at_once: int = _AT_ONCE, pause: float = 0.0
    ) -> None:
        timeout = aiohttp.ClientTimeout(total=30)
        headers = {"authorization": f"Bearer {self.write}"}

        async def forever(session: aiohttp.ClientSession) -> None:
            while True:
                path, body = make()
                sent: dict[str, Any] = {"data": body} if isinstance(body, bytes) else {"json": body}
                if isinstance(body, bytes):
                    sent["headers"] = {"content-type": "application/x-ndjson"}
                with suppress(aiohttp.ClientError, TimeoutError):
                    async with session.post(path, **sent) as response:
                        await response.read()
                await asyncio.sleep(pause)

        async with aiohttp.ClientSession(self.url, headers=headers, timeout=timeout) as session:
            await asyncio.gather(*(forever(session) for _ in range(at_once)))


def _memory(content: str) -> dict[str, Any]:
    return {"agent_name": "noisy", "memory_type": "lesson_learned", "content": content}


ATTACKS: dict[str, Callable[[Attacker], Awaitable[None]]] = {
    "idle streams": Attacker.streams,
    "slow patterns": Attacker.patterns,
    "crafted questions": Attacker.questions,
    "hostile code": Attacker.code,
    "large commits": Attacker.queue,
    "imported ids": Attacker.sequence,
    "large heads": Attacker.heads,
    "flood": Attacker.flood,
}


def main() -> None:
    lower_process(_NICE)
    environment = os.environ
    attacker = Attacker(environment["ATTACK_URL"], environment["ATTACK_WRITE"], environment["ATTACK_READ"])
    asyncio.run(ATTACKS[sys.argv[1]](attacker))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
