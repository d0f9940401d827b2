"""Google ADK: sessions on the trails of sessions, and memory in the vault. `pip install scrubjay[google-adk]`."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.sessions import Session, State
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)

from scrubjay.adapters.sending import AnyClient
from scrubjay.adapters.trails import Item, Trails

_SESSION, _STATE = "session ", "state"
_AT_ONCE = 8


class Deltas(NamedTuple):
    """What changes of the state of the app, of the user, and of the session."""

    app: dict[str, Any]
    user: dict[str, Any]
    session: dict[str, Any]


class ScrubjaySessionService(BaseSessionService):
    """A session is one of the agent that is called as the app, with the user. Nothing expires.

    `delete_session` erases one, and a purge of the agent or the user all of theirs.
    """

    def __init__(self, client: AnyClient) -> None:
        self._client = client

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        trails = self._trails(app_name, user_id)
        name = (session_id or "").strip() or str(uuid.uuid4())
        if await trails.items(_name(name)) is not None:
            raise AlreadyExistsError(f"Session with id {name} already exists.")
        deltas = _deltas(state or {})
        await self._keep(app_name, user_id, deltas)
        await trails.add(_name(name), [{"state": deltas.session, "time": time.time()}])
        session = await self.get_session(app_name=app_name, user_id=user_id, session_id=name)
        assert session is not None
        return session

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        items, shared = await asyncio.gather(
            self._trails(app_name, user_id).items(_name(session_id)), self._shared(app_name, user_id)
        )
        if items is None:
            return None
        session = _session(app_name, user_id, session_id.strip(), items)
        session.state.update(shared)
        if config is not None:
            session.events = _wanted(session.events, config)
        return session

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        users = [user_id] if user_id is not None else await self._trails(app_name, None).users()
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(user: str, session_id: str) -> Session | None:
            async with room:
                return await self.get_session(app_name=app_name, user_id=user, session_id=session_id)

        wanted = [
            one(user, unquote(listed.name.removeprefix(_SESSION)))
            for user in users
            for listed in await self._trails(app_name, user).names(_SESSION)
        ]
        sessions = [session for session in await asyncio.gather(*wanted) if session is not None]
        for session in sessions:
            session.events = []
        sessions.sort(key=lambda each: (each.last_update_time, each.user_id, each.id))
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        await self._trails(app_name, user_id).delete(_name(session_id))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        return _merged(await self._trails(app_name, user_id).items(_STATE) or [])

    async def append_event(self, session: Session, event: Event) -> Event:
        """Raises SessionNotFoundError. The same event again changes nothing."""
        if event.partial:
            return event
        trails = self._trails(session.app_name, session.user_id)
        items = await trails.items(_name(session.id))
        if items is None:
            raise SessionNotFoundError(f"Session {session.id} not found.")
        if any(stored == event for stored in _events(items) if stored.id == event.id):
            return event
        await super().append_event(session=session, event=event)
        session.last_update_time = event.timestamp
        deltas = _deltas(event.actions.state_delta if event.actions else {})
        await self._keep(session.app_name, session.user_id, deltas)
        told = event.model_dump(mode="json", by_alias=True, exclude_none=True)
        await trails.add(_name(session.id), [{"event": told}])
        return event

    def _trails(self, app_name: str, user_id: str | None) -> Trails:
        return Trails(self._client, "adk", agent=app_name, user=user_id, said=_said)

    async def _keep(self, app_name: str, user_id: str, deltas: Deltas) -> None:
        if deltas.app:
            await self._trails(app_name, None).add(_STATE, [deltas.app])
        if deltas.user:
            await self._trails(app_name, user_id).add(_STATE, [deltas.user])

    async def _shared(self, app_name: str, user_id: str) -> dict[str, Any]:
        """The states of the app and of the user, under the names that a session has for them."""
        app, user = await asyncio.gather(
            self._trails(app_name, None).items(_STATE), self._trails(app_name, user_id).items(_STATE)
        )
        of_app = {State.APP_PREFIX + name: value for name, value in _merged(app or []).items()}
        return of_app | {State.USER_PREFIX + name: value for name, value in _merged(user or []).items()}


def _name(session_id: str) -> str:
    return _SESSION + quote(session_id.strip(), safe="")


def _deltas(state: Mapping[str, Any]) -> Deltas:
    deltas = Deltas({}, {}, {})
    for name, value in state.items():
        if name.startswith(State.APP_PREFIX):
            deltas.app[name.removeprefix(State.APP_PREFIX)] = value
        elif name.startswith(State.USER_PREFIX):
            deltas.user[name.removeprefix(State.USER_PREFIX)] = value
        elif not name.startswith(State.TEMP_PREFIX):
            deltas.session[name] = value
    return deltas


def _merged(items: Sequence[Item]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for item in items:
        merged.update(item)
    return merged


def _events(items: Sequence[Item]) -> list[Event]:
    return [Event.model_validate(item["event"]) for item in items if "event" in item]


def _session(app_name: str, user_id: str, session_id: str, items: Sequence[Item]) -> Session:
    """The first item made it; the others are its events."""
    events = _events(items)
    state = dict(items[0]["state"])
    for event in events:
        state.update(_deltas(event.actions.state_delta if event.actions else {}).session)
    updated = events[-1].timestamp if events else items[0]["time"]
    return Session(
        id=session_id,
        app_name=app_name,
        user_id=user_id,
        state=state,
        events=events,
        last_update_time=updated,
    )


def _wanted(events: list[Event], config: GetSessionConfig) -> list[Event]:
    if config.num_recent_events is not None:
        events = events[-config.num_recent_events :] if config.num_recent_events else []
    if config.after_timestamp is not None:
        older = [place for place, event in enumerate(events) if event.timestamp < config.after_timestamp]
        events = events[older[-1] + 1 :] if older else events
    return events


def _said(item: Item) -> tuple[str, str]:
    event = item.get("event", {})
    parts = event.get("content", {}).get("parts", [])
    role = "user" if event.get("author") == "user" else "assistant"
    return role, "\n".join(part["text"] for part in parts if part.get("text"))
