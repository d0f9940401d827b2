"""Claude Agent SDK: a store that mirrors transcripts onto the trails of sessions.

`pip install scrubjay[claude-agent-sdk]`
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any
from urllib.parse import quote, unquote

from claude_agent_sdk import fold_session_summary
from claude_agent_sdk.types import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

from scrubjay.adapters.sending import AnyClient
from scrubjay.adapters.trails import Item, Trails

_PROJECT_DIGITS = 16
_SUBPATH = ":"
_AT_ONCE = 8


class ScrubjaySessionStore(SessionStore):
    """A transcript is a session of the agent, whose trail holds its entries.

    An entry with the `uuid` of one before it is passed over. Nothing expires: `delete` erases transcripts, as does a
    purge of the agent, mission or user.
    """

    def __init__(
        self,
        client: AnyClient,
        *,
        agent: str = "claude",
        mission: str | None = None,
        user: str | None = None,
    ) -> None:
        self._trails = Trails(client, "claude", agent=agent, mission=mission, user=user, said=_said)

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        repeats = all("uuid" in entry for entry in entries)
        await self._trails.add(_name(key), entries, repeats=repeats)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        items = await self._trails.items(_name(key))
        return None if items is None else _once(items)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        prefix = _prefix(project_key)
        return [
            {"session_id": unquote(one.name.removeprefix(prefix)), "mtime": one.last_active_ms}
            for one in await self._trails.names(prefix)
            if _SUBPATH not in one.name
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Made of the transcripts when they are asked for: nothing stands beside them that could be out of date."""
        listed = await self.list_sessions(project_key)
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(session: SessionStoreListEntry) -> SessionSummaryEntry:
            key: SessionKey = {"project_key": project_key, "session_id": session["session_id"]}
            async with room:
                summary = fold_session_summary(None, key, await self.load(key) or [])
            return {**summary, "mtime": session["mtime"]}

        return list(await asyncio.gather(*map(one, listed)))

    async def delete(self, key: SessionKey) -> None:
        name = _name(key)
        if not key.get("subpath"):
            for one in await self._trails.names(f"{name}{_SUBPATH}"):
                await self._trails.delete(one.name)
        await self._trails.delete(name)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        prefix = f"{_name(key)}{_SUBPATH}"
        return [unquote(one.name.removeprefix(prefix)) for one in await self._trails.names(prefix)]


def _prefix(project_key: str) -> str:
    """A project's key is a path, which may be longer than a name."""
    return f"{hashlib.sha256(project_key.encode()).hexdigest()[:_PROJECT_DIGITS]} "


def _name(key: Any) -> str:
    name = _prefix(key["project_key"]) + quote(key["session_id"], safe="")
    subpath = key.get("subpath")
    return f"{name}{_SUBPATH}{quote(subpath, safe='')}" if subpath else name


def _once(items: list[dict[str, Any]]) -> list[Any]:
    first: dict[Any, Any] = {}
    for place, item in enumerate(items):
        first.setdefault(item.get("uuid", place), item)
    return list(first.values())


def _said(entry: Item) -> tuple[str, str]:
    message = entry.get("message")
    if entry.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return "assistant", ""
    content = message.get("content")
    blocks = [{"text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = [
        block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    return str(entry["type"]), "\n".join(texts)
