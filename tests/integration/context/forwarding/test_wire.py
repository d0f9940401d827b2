"""The calls of owners: connections that are kept, answers of every form, and servers that break off."""

from __future__ import annotations

import asyncio

import pytest

from services.context.forwarding.wire import CutOff, Wire
from tests.support.fakes.raw_server import FIVE, OK, answering, served


async def body_of(wire: Wire, method: str = "GET") -> bytes:
    async with wire.request(method, "/", []) as answer:
        assert answer.status == 200
        return await answer.read()


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (FIVE, b"hello"),
        (OK + b"transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", b"hello"),
        (OK + b"content-length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + FIVE, b"hello"),
    ],
)
async def test_a_connection_is_kept_after_a_whole_answer(answer: bytes, body: bytes) -> None:
    async with served(answering(answer)) as (wire, opened):
        assert [await body_of(wire) for _ in range(3)] == [body] * 3
        assert len(opened) == 1


@pytest.mark.parametrize(
    ("answer", "method"),
    [
        (OK + b"\r\nhello", "GET"),
        (OK + b"connection: close\r\ncontent-length: 5\r\n\r\nhello", "GET"),
        (OK + b"content-length: 5\r\n\r\n", "HEAD"),
    ],
)
async def test_a_connection_is_not_kept_when_its_end_ends_the_answer(answer: bytes, method: str) -> None:
    async with served(answering(answer, then_close=True)) as (wire, opened):
        for _ in range(2):
            assert await body_of(wire, method) == (b"" if method == "HEAD" else b"hello")
        assert len(opened) == 2


async def test_at_once_and_left_early() -> None:
    async with served(answering(FIVE)) as (wire, opened):
        assert await asyncio.gather(*(body_of(wire) for _ in range(5))) == [b"hello"] * 5
        assert len(opened) == 5
        # What was asked together leaves connections for those who ask later.
        await asyncio.gather(*(body_of(wire) for _ in range(5)))
        assert len(opened) == 5
    async with served(answering(OK + b"content-length: 9\r\n\r\nhello")) as (wire, opened):
        for _ in range(2):
            async with wire.request("GET", "/", []):
                pass
        assert len(opened) == 2


async def test_only_what_may_be_repeated_is_sent_again() -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(FIVE)
        # It reads the next request, and ends without an answer.
        await reader.readuntil(b"\r\n\r\n")

    async with served(once) as (wire, opened):
        assert [await body_of(wire), await body_of(wire)] == [b"hello"] * 2
        assert len(opened) == 2
        with pytest.raises(CutOff):
            await body_of(wire, "POST")
        assert len(opened) == 2


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200", b"SSH-2.0-OpenSSH\r\n", OK + b"content-length: 9\r\n\r\nhello", OK + b"transfer-"],
)
async def test_a_broken_answer_is_cut_off(answer: bytes) -> None:
    async with served(answering(answer, then_close=True)) as (wire, opened):
        with pytest.raises(CutOff):
            await body_of(wire)
        assert len(opened) == 1


async def test_an_answer_that_nobody_asked_for_ends_its_connection() -> None:
    async with served(answering(FIVE + FIVE)) as (wire, opened):
        assert [await body_of(wire), await body_of(wire)] == [b"hello"] * 2
        assert len(opened) == 2


async def test_nobody_there() -> None:
    async with served(answering(FIVE)) as (wire, _):
        pass
    with pytest.raises(CutOff):
        await body_of(wire)


async def test_a_header_cannot_hold_another() -> None:
    async with served(answering(FIVE)) as (wire, opened):
        for value in ("a\r\nb: c", "a\nb: c", "a\rb"):
            with pytest.raises(ValueError, match="line"):
                async with wire.request("GET", "/", [("x", value)]):
                    pass
        assert opened == []


async def test_a_body_that_nobody_takes_waits_at_the_server() -> None:
    sent = [0]

    async def long(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"content-length: 64000000\r\n\r\n")
        for _ in range(1_000):
            writer.write(bytes(64_000))
            await writer.drain()
            sent[0] += 64_000

    async with served(long) as (wire, _), wire.request("GET", "/", []) as answer:
        before = -1
        while before < sent[0]:
            before = sent[0]
            await asyncio.sleep(0.3)
        assert sent[0] < 32_000_000
        assert len(await answer.read()) == 64_000_000
