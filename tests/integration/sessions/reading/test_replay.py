"""A transcript through the API: what it looks at again comes back with the bytes that it showed."""

from __future__ import annotations

import random
from typing import Any, cast

import pytest

from bench.client import Client as BenchClient
from bench.paging.events import Event, turns
from bench.paging.through_api import ApiSession
from tests.integration.sessions.calls import ok
from tests.integration.sessions.reading.test_partial import numbered
from tests.integration.sessions.test_paging import module
from tests.support.cluster import Client


class _Caller:
    """The client of a bench, over that of the tests."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, method: str, path: str) -> Any:
        return await ok(self._client, method, path)

    async def post(self, path: str, body: Any) -> Any:
        return await ok(self._client, "POST", path, body)


def transcript() -> list[Event]:
    """Five files, and parts of them again: more than the context can hold."""
    chance = random.Random(11)
    names = ("ledger", "worker", "report", "events", "orders")
    files = {f"src/{name}.py": numbered(module(name)) for name in names}
    made = [Event("tool_result", "".join(lines), "Read", path) for path, lines in files.items()]
    for _ in range(8):
        path, lines = chance.choice([*files.items()])
        start = chance.randrange(len(lines))
        made.append(Event("tool_result", "".join(lines[start : start + 30]), "Read", path))
    return [event for read in made for event in (Event("assistant", f"I read {read.key}."), read)]


@pytest.mark.parametrize("by_faults", [True, False])
async def test_every_fault_gives_back_the_exact_bytes(client: Client, by_faults: bool) -> None:
    name = f"replay-{by_faults}"
    session = ApiSession(cast(BenchClient, _Caller(client)), name, "", by_faults=by_faults)
    await session.begin(4_000)
    for turn in turns(transcript()):
        for event in turn:
            await session.admit(event)
        await session.prompt()
        assert {known.level for known in session.objects.values() if known.text in turn[-1].text} <= {0}
        await session.end_turn()
    assert session.batches > 0
    assert session.faults > 0
    assert session.exact == (session.faults if by_faults else 0)
