"""The session of OpenAI Agents against the SDK's own SQLite session: random steps, and the same answers."""

from __future__ import annotations

import asyncio
import random
import uuid
from typing import Any

from agents import SQLiteSession
from agents.items import TResponseInputItem
from agents.memory.session import Session

from proofs.adapters.suites.telling import Drops, async_client, tell
from scrubjay.adapters.openai_agents import ScrubjaySession

RUNS, STEPS = 12, 25
SEED = 20_261


class Dropping(ScrubjaySession):
    """The control: it drops every third addition."""

    drops = Drops()

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        if not self.drops.next():
            await super().add_items(items)


def some_items(random_: random.Random) -> list[Any]:
    kinds: list[Any] = [
        {"role": "user", "content": "What is due? \u00e4\U0001f600"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Nothing."}]},
        {"type": "function_call", "call_id": "c", "name": "due", "arguments": '{"of": "ana"}'},
        {"type": "function_call_output", "call_id": "c", "output": "\x00"},
    ]
    return [{**random_.choice(kinds), "id": str(random_.random())} for _ in range(random_.randrange(4))]


async def one_run(number: int) -> str | None:
    """What differs, if anything."""
    random_ = random.Random(SEED + number)
    async with async_client() as first, async_client() as second:
        name = uuid.uuid4().hex
        ours = [Dropping(name, client, agent="a", user="ana") for client in (first, second)]
        reference = SQLiteSession(name)
        assert isinstance(ours[0], Session)
        for _ in range(STEPS):
            session, step = random_.choice(ours), random_.random()
            if step < 0.5:
                items = some_items(random_)
                await session.add_items(items)
                await reference.add_items(items)
            elif step < 0.7 and await session.pop_item() != await reference.pop_item():
                return f"run {number}: another item was popped"
            elif step > 0.95:
                await session.clear_session()
                await reference.clear_session()
            limit = random_.choice([None, 1, 3, 100])
            if await session.get_items(limit) != await reference.get_items(limit):
                return f"run {number}: other items are left"
        reference.close()
    return None


async def popped_at_once() -> str | None:
    async with async_client() as client:
        name = uuid.uuid4().hex
        items: list[Any] = [{"role": "user", "content": str(place)} for place in range(12)]
        session = ScrubjaySession(name, client, agent="a")
        await session.add_items(items)
        popped: list[Any] = await asyncio.gather(*(session.pop_item() for _ in range(8)))
        left: list[Any] = await session.get_items()
        if sorted(int(item["content"]) for item in [*popped, *left]) != [*range(12)] or left != items[:4]:
            return f"eight pops at once took {popped} and left {left}"
    return None


async def main() -> None:
    found = [await one_run(number) for number in range(RUNS)]
    found.append(await popped_at_once())
    failed = [each for each in found if each is not None]
    tell("session, as SQLiteSession", "openai-agents", len(found) - len(failed), failed)


if __name__ == "__main__":
    asyncio.run(main())
