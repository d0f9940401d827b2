"""ADK's services of sessions and memory against its own in memory: random steps, and the same answers."""

from __future__ import annotations

import asyncio
import random
import uuid
from typing import Any

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.memory import InMemoryMemoryService
from google.adk.sessions import BaseSessionService, InMemorySessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from proofs.adapters.suites.telling import Drops, async_client, tell
from scrubjay.adapters.google_adk import ScrubjaySessionService
from scrubjay.adapters.google_adk_memory import ScrubjayMemoryService

RUNS, STEPS = 4, 24
SEED = 20_261
USERS, NAMES = ("ana", "ben"), ("one", "two/ä ")
TEXTS = ("the deploy on Friday failed", "coffee is in the kitchen", "rotate the tokens in May", "\x00 ä 😀")


class Dropping(ScrubjaySessionService):
    """The control: it drops every third event."""

    drops = Drops()

    async def append_event(self, session: Session, event: Event) -> Event:
        return event if self.drops.next() else await super().append_event(session, event)


class DroppingMemory(ScrubjayMemoryService):
    drops = Drops()

    async def add_session_to_memory(self, session: Session) -> None:
        if not self.drops.next():
            await super().add_session_to_memory(session)


def some_event(random_: random.Random, number: int) -> Event:
    scopes = ("app:", "user:", "temp:", "")
    delta: dict[str, Any] = {
        f"{random_.choice(scopes)}{random_.choice('xy')}": random_.choice([1, 0.5, "ä", None, {"deep": [1]}])
        for _ in range(random_.randrange(3))
    }
    data = types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png"))
    parts = [types.Part(text=random_.choice(TEXTS)), *([data] if random_.random() < 0.2 else [])]
    return Event(
        id=f"e{number}",
        invocation_id="i",
        author=random_.choice(["user", "agent"]),
        timestamp=1_700_000_000.0 + number,
        content=types.Content(role="user", parts=parts),
        actions=EventActions(state_delta=delta),
    )


def shown(session: Session | None) -> Any:
    """Sessions without events have times of their own."""
    if session is None:
        return None
    told = session.model_dump(mode="json", exclude_none=True)
    if not session.events:
        told.pop("last_update_time")
    return told


async def step(service: BaseSessionService, app: str, seed: int, number: int) -> Any:
    """What the service answers to a step that the seed chooses: the same for both."""
    random_ = random.Random(seed * 1_000 + number)
    key: Any = {"app_name": app, "user_id": random_.choice(USERS), "session_id": random_.choice(NAMES)}
    chosen = random_.random()
    if chosen < 0.3:
        state = {"app:a": number, "user:b": "u", "c": [number]} if random_.random() < 0.5 else None
        try:
            return shown(await service.create_session(**key, state=state))
        except AlreadyExistsError:
            return "there already"
    if chosen < 0.7:
        session = await service.get_session(**key) or Session(id="none", app_name=app, user_id=key["user_id"])
        event = some_event(random_, number)
        try:
            await service.append_event(session, event)
            if random_.random() < 0.3:
                await service.append_event(session, event.model_copy(deep=True))
        except SessionNotFoundError:
            return "not there"
        return shown(session)
    if chosen < 0.85:
        configs: list[Any] = [None, {"num_recent_events": 2}, {"num_recent_events": 0}]
        configs += [{"after_timestamp": 1_700_000_000.0 + number - 4}]
        config = random_.choice(configs)
        return shown(await service.get_session(**key, config=config and GetSessionConfig(**config)))
    if chosen < 0.93:
        user = random_.choice([key["user_id"], None])
        listed = await service.list_sessions(app_name=app, user_id=user)
        of_user = await service.get_user_state(app_name=app, user_id=key["user_id"])
        names = sorted((each.user_id, each.id, repr(sorted(each.state.items()))) for each in listed.sessions)
        return names, of_user
    return await service.delete_session(**key)


async def one_run(number: int) -> str | None:
    """What differs, if anything."""
    app = f"app-{uuid.uuid4().hex}"
    reference = InMemorySessionService()
    async with async_client() as first, async_client() as second:
        ours = [Dropping(first), Dropping(second)]
        for place in range(STEPS):
            expected = await step(reference, app, SEED + number, place)
            answer = await step(ours[place % 2], app, SEED + number, place)
            if answer != expected:
                return f"run {number}, step {place}: {answer} instead of {expected}"
    return None


async def memories() -> str | None:
    app = f"app-{uuid.uuid4().hex}"
    reference = InMemoryMemoryService()
    async with async_client() as client:
        ours = DroppingMemory(client)
        for number, text in enumerate(TEXTS):
            content = types.Content(role="user", parts=[types.Part(text=text)])
            event = Event(id=f"e{number}", author="user", content=content, timestamp=1_700_000_000.0)
            session = Session(id=f"s{number}", app_name=app, user_id="ana", events=[event])
            for service in (ours, reference):
                await service.add_session_to_memory(session)
                if number == 0:
                    await service.add_session_to_memory(session)
        for query in ("Friday deploy", "coffee", "tokens in May"):
            for user in USERS:
                asked: Any = {"app_name": app, "user_id": user, "query": query}
                found, expected = await ours.search_memory(**asked), await reference.search_memory(**asked)
                best = [[each.id for each in some.memories[:1]] for some in (found, expected)]
                if best[0] != best[1]:
                    return f"{query!r} of {user}: {best[0]} instead of {best[1]}"
        await ours.delete_memory(app_name=app, user_id="ana", memory_id="e3")
        await ours.add_session_to_memory(session)
        if any(
            each.id == "e3"
            for each in (await ours.search_memory(app_name=app, user_id="ana", query="ä")).memories
        ):
            return "a deleted memory came back"
    return None


async def main() -> None:
    found = [await one_run(number) for number in range(RUNS)]
    failed = [each for each in found if each is not None]
    tell("session service, as in memory", "google-adk", len(found) - len(failed), failed)
    failure = await memories()
    tell("memory service", "google-adk", int(failure is None), [] if failure is None else [failure])


if __name__ == "__main__":
    asyncio.run(main())
