"""What a broken or hostile owner sends: an error within the deadline, and never what another request asked for."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest

from services.context.forwarding import wire as wires
from services.context.forwarding.owners import Owner
from services.context.forwarding.wire import CutOff
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import Unavailable
from shared.identity import Signer
from tests.support.fakes.raw_server import FIVE, OK, Serve, answering, served

SECONDS = 0.4
# Of the deadline, for a busy machine: no answer may take until the next one.
PATIENCE = 20 * SECONDS
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
WHO = Principal(tenant="t", key="k", access=frozenset({"read", "write"}))


def trickling(start: bytes, piece: bytes) -> Serve:
    """A start, and then a piece again and again."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0 if len(piece) > 100 else 0.01)

    return serve


def hanging(start: bytes) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(start)
        await reader.read()

    return serve


def resetting(start: bytes) -> Serve:
    """It ends the connection with a reset, and not in order."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(start)
        await asyncio.sleep(0.1)
        own = writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return serve


BROKEN = {
    "nothing": hanging(b""),
    "half a head": hanging(OK + b"content-le"),
    "a slow head": trickling(OK + b"x: ", b"y"),
    "a head without an end": trickling(OK + b"x: ", b"y" * 4_096),
    "headers without an end": trickling(OK, b"x: y\r\n" * 500),
    "early answers without an end": trickling(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100),
    "half a body": hanging(OK + b"content-length: 9\r\n\r\nhello"),
    "a slow body": trickling(OK + b"content-length: 99999999\r\n\r\n", b"[1,"),
    "a body without an end": trickling(OK + b"\r\n[", b"1," * 4_096),
    "a slow chunk": trickling(CHUNKED + b"ffffff\r\n", b"[1,"),
    "a trailer without an end": trickling(CHUNKED + b"2\r\n{}\r\n0\r\nx: ", b"y" * 4_096),
    "a chunk's extension without an end": trickling(CHUNKED + b"2;x=", b"y" * 4_096),
    "a length that is none": answering(OK + b"content-length: -5\r\n\r\nhello"),
    "two lengths": answering(OK + b"content-length: 2\r\ncontent-length: 5\r\n\r\nhello"),
    "a length and chunks": answering(OK + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}"),
    "a chunk's size that is none": answering(CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n"),
    "another protocol": answering(
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"
    ),
    "no status": answering(b"HTTP/1.1 000 None\r\ncontent-length: 2\r\n\r\n{}"),
    "a status of none": answering(b"HTTP/1.1 700 None\r\ncontent-length: 2\r\n\r\n{}"),
    "no JSON": answering(FIVE),
    "a reset in the head": resetting(OK),
    "a reset in a body until the end": resetting(OK + b"\r\n{}"),
    "an end in the body": answering(OK + b"content-length: 9\r\n\r\n{}", then_close=True),
    "an end in a chunk": answering(CHUNKED + b"9\r\n{}", then_close=True),
}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
async def test_an_error_within_the_deadline(broken: Serve, method: str) -> None:
    async with served(broken) as (wire, _):
        owner = Owner("cache", f"http://{wire.host}:{wire.port}", Signer("cache", ["s" * 32]))
        began = time.monotonic()
        try:
            with pytest.raises(Unavailable):
                await owner.ask(method, "/x", WHO, Deadline(SECONDS), "r", body=b"{}")
        finally:
            await owner.close()
        assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    "start",
    [
        OK + b"x: ",
        OK,
        b"",
        CHUNKED + b"2\r\n{}\r\n0\r\nx: ",
        CHUNKED + b"2;x=",
    ],
    ids=["a header", "headers", "early answers", "a trailer", "a chunk's extension"],
)
async def test_what_is_no_body_is_not_held_without_end(start: bytes) -> None:
    """It ends long before the deadline of any caller."""
    many = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100 if not start else b"x: y\r\n" * 500
    async with served(trickling(start, many if start in (b"", OK) else b"y" * 4_096)) as (wire, _):
        with pytest.raises(CutOff):
            async with asyncio.timeout(PATIENCE), wire.request("GET", "/", []) as answer:
                await answer.read()


async def test_a_whole_answer_has_a_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wires, "_MOST_WHOLE", 1_000)
    async with served(trickling(OK + b"content-length: 99999999999\r\n\r\n", b"1," * 400)) as (wire, _):
        with pytest.raises(CutOff, match="long"):
            async with asyncio.timeout(PATIENCE), wire.request("GET", "/", []) as answer:
                await answer.read()


def unasked(at_once: bytes, later: bytes) -> Serve:
    """What nobody asked for comes with the first answer or after it, and the rest as if it answered the second."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(FIVE + at_once)
        await asyncio.sleep(0.05)
        writer.write(later)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\r\nwrong" + FIVE)

    return serve


HALF = OK + b"content-length: 5\r\n"


@pytest.mark.parametrize(
    ("at_once", "later"),
    [(HALF, b""), (b"", HALF), (b"H", b""), (b"", b"H"), (OK, b"content-length: 5")],
    ids=["at once", "later", "a letter at once", "a letter later", "in two parts"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_half_an_answer_ahead_answers_nobody(at_once: bytes, later: bytes, method: str) -> None:
    async with served(unasked(at_once, later)) as (wire, opened):
        for _ in range(2):
            async with wire.request(method, "/", []) as answer:
                assert await answer.read() == b"hello"
            await asyncio.sleep(0.15)
        assert len(opened) == 2


async def test_a_late_answer_is_not_the_next_ones() -> None:
    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            target = (await reader.readuntil(b"\r\n\r\n")).split()[1]
            await asyncio.sleep(0.3 if target == b"/slow" else 0)
            writer.write(OK + b"content-length: %d\r\n\r\n%s" % (len(target), target))

    async with served(late) as (wire, _):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1), wire.request("GET", "/slow", []):
                pass
        for _ in range(3):
            async with wire.request("GET", "/next", []) as answer:
                assert await answer.read() == b"/next"
            await asyncio.sleep(0.15)


async def test_a_paused_connection_reads_the_next_answer() -> None:
    long = OK + b"content-length: 300000\r\n\r\n" + bytes(300_000)
    async with served(answering(long)) as (wire, opened):
        for _ in range(3):
            async with asyncio.timeout(PATIENCE), wire.request("GET", "/", []):
                # The answer comes in whole, and nobody takes it.
                await asyncio.sleep(0.1)
        async with asyncio.timeout(PATIENCE), wire.request("GET", "/", []) as answer:
            assert len(await answer.read()) == 300_000
        assert len(opened) <= 4


async def test_a_write_goes_to_no_connection_that_its_server_has_ended() -> None:
    asked: list[bytes] = []

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split()[0])
        writer.write(FIVE)

    async with served(once) as (wire, _):
        for _ in range(3):
            async with wire.request("POST", "/", []) as answer:
                assert await answer.read() == b"hello"
            await asyncio.sleep(0.05)
    assert asked == [b"POST"] * 3


async def test_a_write_is_sent_once_when_the_end_comes_with_it() -> None:
    """Nobody can tell whether it was read: it fails, and does not happen twice."""
    asked: list[bytes] = []

    async def reading(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            asked.append((await reader.readuntil(b"\r\n\r\n")).split()[0])
            if len(asked) % 2:
                writer.write(FIVE)

    async with served(reading) as (wire, opened):
        async with wire.request("POST", "/", []) as answer:
            await answer.read()
        with pytest.raises(CutOff):
            async with wire.request("POST", "/", []):
                pass
        assert (asked, len(opened)) == ([b"POST"] * 2, 1)


@pytest.mark.parametrize("target", ["/a b", "/a\r\nx: y", "/a\nb", "/a\tb", "/\x00"])
async def test_a_path_cannot_hold_another_request(target: str) -> None:
    async with served(answering(FIVE)) as (wire, opened):
        with pytest.raises(ValueError, match="path"):
            async with wire.request("GET", target, []):
                pass
        assert opened == []


@pytest.fixture
def deaf() -> Iterator[int]:
    """The port of an address that answers no attempt to connect."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        yield port
        for each in waiting:
            each.close()


async def test_an_address_that_is_deaf_leaves_time_for_the_others(
    deaf: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(answering(FIVE)) as (wire, _):
        addresses = [("127.0.0.1", deaf), (wire.host, wire.port)]

        async def found(*_: Any, **__: Any) -> list[Any]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", found)
        monkeypatch.setattr("random.shuffle", list)
        async with asyncio.timeout(PATIENCE), wire.request("GET", "/", []) as answer:
            assert await answer.read() == b"hello"
