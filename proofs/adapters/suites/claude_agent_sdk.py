"""The Claude Agent SDK's own conformance suite over the session store, and what the suite does not ask."""

from __future__ import annotations

import asyncio
import traceback
import uuid
from typing import Any

from claude_agent_sdk.testing import run_session_store_conformance
from claude_agent_sdk.types import SessionKey, SessionStoreEntry

from proofs.adapters.suites.telling import Drops, async_client, tell
from scrubjay.adapters.claude_agent_sdk import ScrubjaySessionStore

CONTRACTS = 14
"""Those of the suite, the optional ones among them."""


class Dropping(ScrubjaySessionStore):
    """The control: it drops every third append."""

    drops = Drops()

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        if not self.drops.next():
            await super().append(key, entries)


async def own() -> None:
    async with async_client() as client:
        agent = uuid.uuid4().hex
        store = Dropping(client, agent=agent)
        key: SessionKey = {"project_key": "/home/ana/" + "deep/" * 60, "session_id": str(uuid.uuid4())}
        entries: list[Any] = [
            {"type": "user", "uuid": str(place), "message": {"role": "user", "content": f"question {place}"}}
            for place in range(230)
        ]
        entries[7]["toolUseResult"] = {"stdout": "\x00binary", "ratio": 0.1, "deep": [[[{}]]]}
        await store.append(key, entries[:200])
        await store.append(key, entries[:200])
        await store.append(key, entries[150:])
        assert await store.load(key) == entries
        assert await Dropping(client, agent="another").list_sessions(key["project_key"]) == []
        titled: list[Any] = [{"type": "title", "title": "A"}]
        await store.append(key, titled)
        await store.append(key, titled)
        assert await store.load(key) == [*entries, *titled, *titled]
        (listed,) = await store.list_sessions(key["project_key"])
        assert listed["session_id"] == key["session_id"]


async def main() -> None:
    failed = []
    async with async_client() as client:
        try:
            await run_session_store_conformance(lambda: Dropping(client, agent=uuid.uuid4().hex, user="ana"))
        except AssertionError:
            failed.append(traceback.format_exc(limit=3))
    tell("session store", "claude-agent-sdk", 0 if failed else CONTRACTS, failed)
    failed = []
    try:
        await own()
    except AssertionError:
        failed.append(traceback.format_exc(limit=3))
    tell("long transcripts, twice", "claude-agent-sdk", 1 - len(failed), failed)


if __name__ == "__main__":
    asyncio.run(main())
