"""Heads that are too large, bytes that are no request, and requests that come too early: none of them takes memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from shared.body import MAX_BODY
from shared.web.door.refusals import MAX_HEAD
from shared.web.serving.http_protocol import MOST_AHEAD
from tests.integration.shared.web.served import head, held, make, opened, read, serving

START = b"GET /livez HTTP/1.1\r\nhost: x\r\n"
END = b"\r\n"
WITHOUT_END = 4 * MAX_HEAD
"""More than arrives in one piece."""


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving(make(in_flight=1)) as chosen:
        yield chosen


def one_header(size: int) -> bytes:
    return START + b"x-large: " + b"x" * (size - len(START) - 11) + b"\r\n"


def many_headers(size: int) -> bytes:
    line = b"x-small: " + b"x" * 53 + b"\r\n"
    return START + line * (size // len(line))


def long_address(size: int) -> bytes:
    return b"GET /livez?" + b"x" * (size - 40) + b" HTTP/1.1\r\nhost: x\r\n"


SHAPES = pytest.mark.parametrize("shape", [one_header, many_headers, long_address])


async def _answer_of(port: int, sent: bytes) -> tuple[int, dict[str, str], bytes]:
    async with opened(port, sent) as (reader, _):
        answer = await read(reader)
        assert await asyncio.wait_for(reader.read(), 20) == b""
    return answer


def _assert_431(answer: tuple[int, dict[str, str], bytes]) -> None:
    status, headers, body = answer
    assert status == 431
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert json.loads(body)["type"] == "/problems/head-too-large"


@SHAPES
async def test_a_head_beyond_the_limit_is_answered_with_431(port: int, shape: object) -> None:
    assert callable(shape)
    _assert_431(await _answer_of(port, shape(MAX_HEAD + 1_000) + END))


@SHAPES
async def test_a_head_within_the_limit_is_read(port: int, shape: object) -> None:
    assert callable(shape)
    async with opened(port, shape(MAX_HEAD - 1_000) + END) as (reader, _):
        assert (await read(reader))[0] == 200


@pytest.mark.parametrize("shape", [one_header, long_address])
async def test_a_head_without_an_end_is_answered_before_it_ends(port: int, shape: object) -> None:
    assert callable(shape)
    sent = shape(WITHOUT_END).removesuffix(b"\r\n")
    async with opened(port, sent) as (reader, writer):
        for _ in range(64):
            writer.write(b"x" * 65_536)
        _assert_431(await read(reader))


async def test_a_head_beyond_the_limit_after_other_requests_is_answered_with_431(port: int) -> None:
    async with opened(port, START + END) as (reader, writer):
        assert (await read(reader))[0] == 200
        writer.write(head("content-length: 100000") + bytes(100_000))
        assert (await read(reader))[0] == 200
        writer.write(one_header(MAX_HEAD + 1_000) + END)
        _assert_431(await read(reader))


async def test_a_large_body_is_not_taken_for_a_head(port: int) -> None:
    async with opened(port, head(f"content-length: {MAX_BODY}")) as (reader, writer):
        for _ in range(MAX_BODY // 65_536):
            writer.write(bytes(65_536))
        assert json.loads((await read(reader))[2]) == {"bytes": MAX_BODY}


async def test_a_request_in_progress_is_answered_before_a_large_head_ends_the_connection(port: int) -> None:
    wait = b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n"
    async with opened(port, wait + one_header(MAX_HEAD + 1_000) + END) as (reader, _):
        await held.working.wait()
        await asyncio.sleep(0.5)  # until the rest is there, too
        held.go_on.set()
        assert (await read(reader))[0] == 200
        assert await asyncio.wait_for(reader.read(), 20) == b""


@pytest.mark.parametrize("framing", [b"0\r\nx-trailer: ", b"1;extension="])
async def test_framing_without_an_end_is_cut_off(port: int, framing: bytes) -> None:
    async with opened(port, head("transfer-encoding: chunked") + framing) as (reader, writer):
        answer = b""
        with contextlib.suppress(ConnectionError):
            for _ in range(64):
                writer.write(b"x" * 65_536)
                await writer.drain()
            answer = await asyncio.wait_for(reader.read(), 20)
        assert b" 200 " not in answer


async def test_too_many_requests_at_once_end_the_connection(port: int) -> None:
    requests = (MOST_AHEAD + 1) * (b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
    async with opened(port, requests) as (reader, _):
        with contextlib.suppress(ConnectionError):
            assert (await asyncio.wait_for(reader.read(), 20)).count(b" 200 OK") <= MOST_AHEAD


async def test_a_full_service_says_that_a_body_is_too_large(port: int) -> None:
    """It is for ever, so sending it again would be no use."""
    async with opened(port, b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n"):
        await held.working.wait()
        for _ in range(3):
            async with opened(port, head(f"content-length: {MAX_BODY + 1}")) as (reader, _):
                assert (await read(reader))[0] == 413
        async with opened(port, head("content-length: 1")) as (reader, _):
            assert (await read(reader))[0] == 429
