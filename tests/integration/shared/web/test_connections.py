"""Clients that take their time, or go: what a service does about them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest

from local.process import free_port
from shared.body import MAX_BODY
from shared.telemetry import metrics
from shared.web.door import exchange
from shared.web.serving import http_protocol
from shared.web.serving.listener import Listener
from tests.integration.shared.web.served import LARGE, head, held, make, opened, read, serving


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """An app that lets one request pile up, and is quick to lose patience."""
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(http_protocol, "READ_SECONDS", 0.5)
    monkeypatch.setattr(exchange, "BODY_SECONDS", 0.5)
    async with serving(make(in_flight=1)) as chosen:
        yield chosen


async def counted(port: int) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{port}/count", data=b"quick") as response,
    ):
        return response.status


async def test_a_slow_body_is_given_up_and_hinders_nobody_meanwhile(port: int) -> None:
    async with opened(port, head("content-length: 10") + b"slow") as (reader, _):
        assert [await counted(port) for _ in range(3)] == [200, 200, 200]
        answer = await asyncio.wait_for(reader.read(), 20)
    start, _, body = answer.partition(b"\r\n\r\n")
    assert start.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in start
    assert json.loads(body)["status"] == 408


@pytest.mark.parametrize("sent", [b"", b"POST /count HT", b"POST /count HTTP/1.1\r\nhost: x\r\nx-slow: "])
async def test_a_head_that_does_not_come_is_not_waited_for(port: int, sent: bytes) -> None:
    async with opened(port, sent) as (reader, _):
        with contextlib.suppress(ConnectionError):
            assert await asyncio.wait_for(reader.read(), 20) == b""


async def test_a_second_head_that_does_not_come_is_not_waited_for(port: int) -> None:
    async with opened(port, head("content-length: 0") + b"POST /cou") as (reader, _):
        with contextlib.suppress(ConnectionError):
            answer = await asyncio.wait_for(reader.read(), 20)
            assert answer.count(b"HTTP/1.1 200 ") == 1


async def test_an_idle_connection_after_a_request_is_kept(port: int) -> None:
    async with opened(port, head("content-length: 0")) as (reader, writer):
        assert b" 200 " in await reader.readline()
        await asyncio.sleep(1.0)
        await reader.read(65_536)
        writer.write(head("content-length: 0"))
        assert b" 200 " in await reader.readline()


async def test_who_does_not_read_is_let_go(port: int) -> None:
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect(("127.0.0.1", port))
        client.sendall(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n")
        await asyncio.sleep(0.2)
        assert await counted(port) == 200
        await asyncio.sleep(1.0)
        received = await asyncio.to_thread(_all_of, client)
    assert received < LARGE


async def test_who_reads_slowly_has_all_of_it_in_the_end(port: int) -> None:
    async with opened(port, b"GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n") as (reader, _):
        received = 0
        started = time.monotonic()
        while piece := await reader.read(2**21):
            received += len(piece)
            if time.monotonic() - started < 2:
                await asyncio.sleep(0.02)
    assert received > LARGE


def _all_of(client: socket.socket) -> int:
    received = 0
    with contextlib.suppress(ConnectionError):
        while piece := client.recv(65_536):
            received += len(piece)
    return received


async def test_a_client_that_goes_is_no_error_of_ours(port: int) -> None:
    before = _answered("500")
    late = _answered("408")
    async with opened(port, head("content-length: 10") + b"gone"):
        await asyncio.sleep(0.1)
    async with asyncio.timeout(20):
        while _answered("408") == late:
            await asyncio.sleep(0.02)
    assert _answered("500") == before


def _answered(status: str) -> float:
    return float(metrics.REQUESTS.labels("/count", "POST", status)._value.get())


@pytest.mark.parametrize(
    "length", [f"content-length: {MAX_BODY + 1}", f"content-length: {MAX_BODY + 1}\r\nexpect: 100-continue"]
)
async def test_a_long_body_is_refused_by_its_length(port: int, length: str) -> None:
    async with opened(port, head(length)) as (reader, _):
        assert b" 413 " in await asyncio.wait_for(reader.readline(), 20)


async def test_a_body_without_a_length_is_cut_off(port: int) -> None:
    async with opened(port, head("transfer-encoding: chunked")) as (reader, writer):
        for _ in range(MAX_BODY // 65_536 + 1):
            writer.write(b"10000\r\n" + bytes(65_536) + b"\r\n")
        assert b" 413 " in await asyncio.wait_for(reader.readline(), 20)


async def test_a_full_service_turns_away_and_keeps_the_connection(port: int) -> None:
    body = b'{"any": "body"}'
    post = head(f"content-length: {len(body)}\r\nx-request-id: mine") + body
    async with opened(port, b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n") as (first, _):
        await held.working.wait()
        async with opened(port, post) as (reader, writer):
            for _ in range(3):
                status, headers, answer = await read(reader)
                assert status == 429
                assert headers["content-type"] == "application/problem+json"
                assert headers["retry-after"] in ("1", "2", "3")
                assert headers["x-request-id"] == "mine"
                assert json.loads(answer)["status"] == 429
                writer.write(post)
            assert (await read(reader))[0] == 429
            writer.write(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
            assert (await read(reader))[0] == 200
            # A body that comes in pieces is nobody's.
            writer.write(post[:-5])
            assert (await read(reader))[0] == 429
            writer.write(post[-5:] + b"HEAD /wait HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            rest = await reader.read()
            assert rest.startswith(b"HTTP/1.1 429 ")
            assert rest.endswith(b"connection: close\r\n\r\n")
        held.go_on.set()
        assert (await read(first))[0] == 200
    assert await counted(port) == 200


async def test_pipelined_requests_are_answered_in_order(port: int) -> None:
    async with opened(port, b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n" + 2 * head("content-length: 0")) as (
        r,
        _,
    ):
        await held.working.wait()
        held.go_on.set()
        assert [(await read(r))[0] for _ in range(3)] == [200, 200, 200]


async def test_all_who_wait_are_taken_at_once() -> None:
    """A busy loop takes them in one turn, and not one in each."""
    taken: list[asyncio.Protocol] = []

    def protocol() -> asyncio.Protocol:
        taken.append(asyncio.Protocol())
        return taken[-1]

    port = free_port()
    listener = Listener("127.0.0.1", port, protocol)
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(taken) == len(clients)
    listener.close()
    await listener.wait_closed()
    for client in clients:
        client.close()
