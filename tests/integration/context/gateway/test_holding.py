"""What a request holds of the limits, it holds of the memory, and no longer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.context.gateway.passing.paging import PagingSettings
from services.context.gateway.passing.road import Gateway
from services.context.gateway.passing.settings import GatewaySettings
from shared.auth import Principal
from shared.spending.prices import bundled
from tests.support.gateway.raw import RawProvider, providing

BODY = b'{"tools":[{"name":"run"}],"messages":[{"role":"user","content":"Hm."}]}'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class Keys:
    async def admit(self, *_: Any, **__: Any) -> Principal:
        return Principal("t", "k", frozenset({"write"}))


class Database:
    """Knows no session, and keeps none."""

    async def look(self, *_: Any) -> list[Any]:
        return []


class Body(bytes):
    """Says when it is gone: no weak reference leads to bytes."""

    gone = False

    def __del__(self) -> None:
        Body.gone = True


class Host:
    """Sends a body, and leaves once `leaves` is set."""

    def __init__(self, path: bytes) -> None:
        self.answered, self.leaves = asyncio.Event(), asyncio.Event()
        self._left: list[bytes] = [Body(BODY)]
        self.scope: dict[str, Any] = {
            "method": "POST",
            "raw_path": path,
            "query_string": b"",
            "headers": [(b"x-scrubjay-key", b"k")],
            "state": {},
        }

    async def receive(self) -> Any:
        if self._left:
            return {"type": "http.request", "body": self._left.pop(), "more_body": False}
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            self.answered.set()


@pytest.mark.parametrize(
    ("path", "is_on"),
    [(b"/gateway/anthropic/v1/messages", False), (b"/gateway/anthropic/v1/messages/count_tokens", True)],
)
async def test_a_body_is_gone_while_its_answer_streams(path: bytes, is_on: bool) -> None:
    Body.gone, host = False, Host(path)
    keys: Any = Keys()
    database: Any = Database()
    async with providing(RawProvider([HEAD, b"data: 1\n\n"], stays=True)) as provider:
        paging = PagingSettings(is_on=is_on, control=0.0)
        settings = GatewaySettings(providers={"anthropic": provider.url}, paging=paging)
        gateway = Gateway(keys, settings, database, bundled())
        asked = asyncio.ensure_future(gateway(host.scope, host.receive, host.send))
        async with asyncio.timeout(20):
            await host.answered.wait()
        assert Body.gone
        host.leaves.set()
        await asked
        gateway.close()
    assert (b"memory_fault" in provider.requests[0].body) == is_on
