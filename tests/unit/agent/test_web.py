"""A page that was made to keep the agent busy delays nothing but its own call."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import repeat

import pytest

from scrubjay.models import ToolResult, ToolUse
from scrubjay_agent.journal.entries import Address, Received
from scrubjay_agent.settings import Tools
from scrubjay_agent.tools import web
from scrubjay_agent.tools.registry import Calling, Registry

MOST = 2_000_000
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_KEY", "k")


async def test_a_page_is_read_as_text() -> None:
    page = "<head><title>t</title></head><p>Caf&eacute;  <b>au</b> lait<script>x()</script><p>\u00fc"
    async with serving([HEAD, b"\r\n", page.encode()]) as url:
        assert (await called("web_fetch", url)).content == f"[200 {url}]\nCafé au lait\n\u00fc"


@pytest.mark.parametrize("piece", ["<!--", "<a "])
async def test_a_hostile_page_stops_nobody(monkeypatch: pytest.MonkeyPatch, piece: str) -> None:
    monkeypatch.setattr(web, "_PARSING_SECONDS", 1)
    # For the end of each, Python's parser looks through the rest of the page.
    page = piece.encode() * (MOST // len(piece))
    async with serving([HEAD, b"\r\n", page]) as url:
        task = asyncio.create_task(called("web_fetch", url))
        assert await longest_stop(task) < 0.5
        answer = await task
    assert answer.content


@pytest.mark.parametrize("name", ["web_fetch", "web_search"])
async def test_a_page_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    async with serving([HEAD, b"\r\n"], forever=b"x") as url:
        # Each read is well within it.
        monkeypatch.setattr(web, "_SECONDS", 0.5)
        answer = await called(name, url)
    assert answer.is_error
    assert "takes more than" in str(answer.content)


async def test_a_page_in_small_pieces_lets_others_go_on() -> None:
    pieces = 10_000
    page = [HEAD, b"transfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * pieces, b"0\r\n\r\n"]
    async with serving(page) as url:
        task = asyncio.create_task(called("web_fetch", url))
        # Of this process's own work, since nothing is waited for.
        assert await longest_stop(task, time.process_time) < 0.5
    assert str((await task).content).endswith("x" * pieces)


async def test_a_small_page_unpacks_to_no_more_than_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_MOST_BYTES", 1_000)
    packed = gzip.compress(b"x" * 20_000)
    async with serving([HEAD, b"content-encoding: gzip\r\n\r\n", packed]) as url:
        assert (await called("web_fetch", url)).content == f"[200 {url}]\n" + "x" * 1_000


@pytest.mark.parametrize("encoding", [b"gzip, gzip", b"deflate", b"gzip"])
async def test_what_cannot_be_unpacked_is_said(encoding: bytes) -> None:
    async with serving([HEAD, b"content-encoding: " + encoding + b"\r\n\r\n", b"plain"]) as url:
        assert "the page is" in str((await called("web_fetch", url)).content)


async def longest_stop(task: asyncio.Task[ToolResult], clock: Callable[[], float] = time.monotonic) -> float:
    """The longest time in which nothing else went on, as a share of the task's."""
    longest = 0.0
    first = last = clock()
    while not task.done():
        await asyncio.sleep(0.001)
        now = clock()
        longest, last = max(longest, now - last), now
    return longest / (last - first)


async def called(name: str, url: str) -> ToolResult:
    settings = Tools(web_private=True, search_url=url, search_key_env="SEARCH_KEY")
    reached = web.Web(settings)
    registry = Registry(web.tools(reached, settings), 30_000)
    message = Received(
        key="k",
        session="s",
        user="u",
        source="http",
        address=Address("http", "u"),
        text="t",
        at=datetime.now(UTC),
    )
    given = {"url": url} if name == "web_fetch" else {"query": "q"}
    use = ToolUse(id="c", name=name, input=given)
    (result,) = await registry.answers([use], Calling("k", "s", message, registry), 1, again=False)
    await reached.close()
    return result


@asynccontextmanager
async def serving(pieces: Iterable[bytes], forever: bytes | None = None) -> AsyncIterator[str]:
    """The address of a server that answers with these pieces, and then with one again and again."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.writelines(pieces)
            await writer.drain()
            for piece in () if forever is None else repeat(forever):
                await asyncio.sleep(0.05)
                writer.write(piece)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/"
