"""An answer's head and body leave together, and nothing stays behind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import uvloop

from shared.web.serving.joining import Joining


class Transport(asyncio.Transport):
    """Notes each write, and that it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes | str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.sent.append(b"".join(list_of_data))

    def write_eof(self) -> None:
        self.sent.append("end")

    def close(self) -> None:
        self.sent.append("closed")

    def abort(self) -> None:
        self.sent.append("aborted")

    def is_closing(self) -> bool:
        return "closed" in self.sent or "aborted" in self.sent

    def get_write_buffer_size(self) -> int:
        return 100


async def joined() -> tuple[Transport, Joining]:
    transport = Transport()
    return transport, Joining(transport, asyncio.get_running_loop())


async def test_the_head_leaves_with_the_body() -> None:
    transport, joining = await joined()
    joining.write(b"head ")
    joining.write(b"body")
    await asyncio.sleep(0)
    assert transport.sent == [b"head body"]


async def test_what_stands_alone_leaves_in_the_next_turn() -> None:
    transport, joining = await joined()
    joining.write(b"piece")
    assert joining.get_write_buffer_size() == 105
    await asyncio.sleep(0)
    assert transport.sent == [b"piece"]
    assert joining.get_write_buffer_size() == 100


async def test_the_order_stays_over_several_turns() -> None:
    transport, joining = await joined()
    for piece in (b"1", b"2", b"3"):
        joining.write(piece)
    await asyncio.sleep(0)
    joining.write(b"4")
    await asyncio.sleep(0)
    assert transport.sent == [b"12", b"3", b"4"]


async def test_what_is_kept_leaves_before_the_end() -> None:
    for close, mark in ((Joining.close, "closed"), (Joining.write_eof, "end")):
        transport, joining = await joined()
        joining.write(b"last")
        close(joining)
        await asyncio.sleep(0)
        assert transport.sent == [b"last", mark]


async def test_an_aborted_connection_sends_nothing_more() -> None:
    transport, joining = await joined()
    joining.write(b"last")
    joining.abort()
    await asyncio.sleep(0)
    assert transport.sent == ["aborted"]


def test_a_reader_gets_all_of_an_answer() -> None:
    """Through real sockets on uvloop, whose transport sends each write at once."""

    class Answering(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            joining = Joining(transport, asyncio.get_running_loop())  # type: ignore[arg-type]
            joining.write(b"head ")
            joining.write(b"body")
            joining.close()

    async def read() -> bytes:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Answering, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        answer = await reader.read()
        writer.close()
        server.close()
        return answer

    assert uvloop.run(read()) == b"head body"
