"""Hosts with a session each, at the provider itself and through the gateway in turns."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np

from bench.gateway.provider import IDLE

PATH = "/v1/messages"
_BODY_BYTES = 150_000
"""About 40,000 tokens, as in the middle of a session."""
_RESULT_BYTES = 15_000
_THINKS_SECONDS = 1.0
_TOOL = {"name": "run", "description": "Run a command.", "input_schema": {"type": "object"}}


class Door(NamedTuple):
    """Where a host sends its requests. `fields` are lines of the head."""

    port: int
    prefix: bytes = b""
    fields: bytes = b""


@dataclass
class Seconds:
    whole: list[float] = field(default_factory=list)
    """To the end of an answer that is no stream."""
    first: list[float] = field(default_factory=list)
    """To the first event of a stream."""
    stream: list[float] = field(default_factory=list)
    """To the end of a stream."""


async def rounds(doors: dict[str, Door], sessions: int, each: float, count: int) -> dict[str, Seconds]:
    """Every door in turns, `each` seconds long; the first round is not counted."""
    seconds = {name: Seconds() for name in doors}
    for turn in range(count + 1):
        for name, door in doors.items():
            into = seconds[name] if turn else Seconds()
            end = time.perf_counter() + each
            await asyncio.gather(*(_session(door, number, into, end) for number in range(sessions)))
    return seconds


def differences(direct: Seconds, through: Seconds) -> dict[str, Any]:
    """Milliseconds that the gateway adds to the medians and to the 95th percentiles."""
    figures: dict[str, Any] = {}
    for name in ("whole", "first", "stream"):
        before, after = (np.percentile(getattr(each, name), [50, 95]) * 1_000 for each in (direct, through))
        figures[name] = {
            "requests": len(getattr(through, name)),
            "direct_p50_ms": round(float(before[0]), 2),
            "added_p50_ms": round(float(after[0] - before[0]), 2),
            "added_p95_ms": round(float(after[1] - before[1]), 2),
        }
    return figures


async def _session(door: Door, number: int, seconds: Seconds, end: float) -> None:
    chance = random.Random(number)
    await asyncio.sleep(chance.random() * _THINKS_SECONDS)
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    try:
        streams = bool(number % 2)
        while time.perf_counter() < end:
            await _exchange(door, number, reader, writer, seconds, streams=streams)
            streams = not streams
            await asyncio.sleep(chance.uniform(0.5, 1.5) * _THINKS_SECONDS)
    finally:
        writer.close()


async def _exchange(
    door: Door,
    number: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    seconds: Seconds,
    *,
    streams: bool,
) -> None:
    request = asked(door, number, _BODY_BYTES, streams=streams)
    begun = time.perf_counter()
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if not head.startswith(b"http/1.1 200 "):
        raise OSError(f"answered {head[:40]!r}")
    if not streams:
        if b"transfer-encoding: chunked" in head:
            await reader.readuntil(b"0\r\n\r\n")
        else:
            await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
        seconds.whole.append(time.perf_counter() - begun)
        return
    await reader.readuntil(b"\n\n")
    seconds.first.append(time.perf_counter() - begun)
    await reader.readuntil(b"\r\n0\r\n\r\n")
    seconds.stream.append(time.perf_counter() - begun)


def asked(door: Door, number: int, size: int, *, streams: bool, fields: bytes = b"") -> bytes:
    user = f"user_a_account_b_session_00000000-0000-4000-8000-{number:012d}"
    given = {"model": "m", "metadata": {"user_id": user}, "tools": [_TOOL], "messages": _messages(size)}
    body = msgspec.json.encode({**given, "stream": streams})
    lines = b"POST %b%b HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n" % (
        door.prefix,
        PATH.encode(),
    )
    return lines + door.fields + fields + b"content-length: %d\r\n\r\n" % len(body) + body


@cache
def _messages(size: int) -> list[dict[str, Any]]:
    """Results of a tool of 15,000 bytes each."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go on."}]
    for number in range(size // _RESULT_BYTES):
        use = {"type": "tool_use", "id": f"t{number}", "name": "run", "input": {"command": f"step {number}"}}
        text = f"What the tool said in step {number}.\n" * (_RESULT_BYTES // 32)
        messages += [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": text}]},
        ]
    return messages


class Idle:
    """Streams that have begun, and say nothing."""

    def __init__(self) -> None:
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self, door: Door, count: int) -> None:
        for number in range(count):
            reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
            self._writers.append(writer)
            writer.write(asked(door, number, 2_000, streams=True, fields=IDLE + b"\r\n"))
            await reader.readuntil(b"\n\n")

    def close(self) -> None:
        for writer in self._writers:
            writer.close()
