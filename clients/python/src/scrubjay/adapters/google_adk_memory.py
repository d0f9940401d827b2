"""Google ADK: what was said in sessions, as files of the vault. `pip install scrubjay[google-adk]`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session

from scrubjay.adapters.files import Files
from scrubjay.adapters.sending import AnyClient, Sender

_MOST_FOUND = 10


class ScrubjayMemoryService(BaseMemoryService):
    """A memory is a file in the user's folder, for each app. What was deleted does not come back with its session."""

    def __init__(self, client: AnyClient) -> None:
        self._sender = Sender(client)

    async def add_session_to_memory(self, session: Session) -> None:
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        texts = {
            _path(event.id): _text(
                MemoryEntry(id=event.id, content=event.content, author=event.author), event.timestamp
            )
            for event in events
            if event.content and event.content.parts
        }
        files, paths = _files(app_name, user_id), list(texts)
        stored = await self._sender.arun(files.read(paths))
        new = {path: texts[path] for path, text in zip(paths, stored, strict=True) if text is None}
        await self._sender.arun(files.write(new))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        now = datetime.now(UTC).timestamp()
        named = [entry.model_copy(update={"id": entry.id or uuid.uuid4().hex}) for entry in memories]
        texts = {_path(str(entry.id)): _text(entry, now) for entry in named}
        await self._sender.arun(_files(app_name, user_id).write(texts))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The ten that are most relevant, at most."""
        if not query.strip():
            return SearchMemoryResponse()
        files = _files(app_name, user_id)
        found = await self._sender.arun(files.search(query))
        paths = [files.below(each.path) for each in found]
        texts = [json.loads(text) for text in await self._sender.arun(files.read(paths)) if text is not None]
        memories = [MemoryEntry.model_validate(told) for told in texts if told]
        return SearchMemoryResponse(memories=memories[:_MOST_FOUND])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """What is left says only that it was deleted."""
        if memory_id is not None:
            await self._sender.arun(_files(app_name, user_id).write({_path(memory_id): "{}"}))


def _files(app_name: str, user_id: str) -> Files:
    return Files(f"adk/{quote(app_name, safe='')}", user=user_id)


def _path(memory_id: str) -> str:
    return f"{quote(memory_id, safe='')}.json"


def _text(entry: MemoryEntry, timestamp: float) -> str:
    told: dict[str, Any] = entry.model_dump(mode="json", exclude_none=True)
    told.setdefault("timestamp", datetime.fromtimestamp(timestamp, UTC).isoformat())
    return json.dumps(told, ensure_ascii=False, indent=1)
