"""Converts a file to text in a process of its own, which is bounded in time, memory and output."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path

from services.agent_memory.vault.conversion.formats import NoText, TooSlow
from shared.concurrency.turns import Turns

MEMORY_BYTES = 130_000_000
"""Besides the program itself, which takes some 60 MB."""
CPU_SECONDS = 20
SECONDS = 30.0
MOST_TEXT = 4_000_000
"""Bytes."""
CHILD = Path(__file__).with_name("child.py")
_AT_ONCE = 2
# Its libraries would start a thread for each core.
_ENVIRONMENT = {"RAYON_NUM_THREADS": "1", "TOKIO_WORKER_THREADS": "1", "OMP_NUM_THREADS": "1"}
_NO_TEXT = 3


class Converter:
    def __init__(self) -> None:
        self._turns = Turns(_AT_ONCE)

    async def text(self, tenant: str, data: bytes, mime: str, seconds: float = SECONDS) -> str:
        """Waits for a turn of the tenant, and converts. Raises NoText; TooSlow if both together take longer."""
        try:
            async with asyncio.timeout(seconds), self._turns.turn(tenant):
                return await _converted(data, mime)
        except TimeoutError as error:
            raise TooSlow("takes too long to convert") from error


async def _converted(data: bytes, mime: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(CHILD),
        mime,
        str(MEMORY_BYTES),
        str(CPU_SECONDS),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )
    try:
        output = await _exchange(process, data)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return output.decode()


async def _exchange(process: asyncio.subprocess.Process, data: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    feeding = asyncio.create_task(_feed(process.stdin, data))
    try:
        output = await _read(process.stdout)
    finally:
        feeding.cancel()
    code = await process.wait()
    if code == _NO_TEXT:
        raise NoText("cannot be converted")
    if code != 0:
        raise NoText("takes too much to convert")
    return output


async def _feed(stream: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        stream.write(data)
        await stream.drain()
        stream.close()


async def _read(stream: asyncio.StreamReader) -> bytes:
    pieces, size = [], 0
    while piece := await stream.read(1 << 16):
        size += len(piece)
        if size > MOST_TEXT:
            raise NoText(f"has more than {MOST_TEXT} bytes of text")
        pieces.append(piece)
    return b"".join(pieces)
