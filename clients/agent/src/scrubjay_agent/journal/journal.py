"""The journal in Scrubjay: entries are appended to the trail of a session, and compactions hold its state.

Two agents of one name would answer everything twice. An entry's number tells: where it is not the next one, somebody
else wrote, and if that was an agent that started later, this one ends.
"""

from __future__ import annotations

import asyncio
import logging
import uuid

import msgspec

from scrubjay.client import AsyncClient
from scrubjay.models import Conversation, MessageInput, TextBlock, TrailEvent
from scrubjay_agent.journal.entries import Entry, Started, State, apply, digest

_COMPACT_EVERY = 400
_log = logging.getLogger(__name__)


class SupersededError(Exception):
    """An agent of this name has started elsewhere."""


class Journal:
    def __init__(self, jay: AsyncClient, agent: str) -> None:
        self._jay = jay
        self._agent = agent
        self.session = f"{agent}.journal"
        self.instance = uuid.uuid4().hex
        self.state = State()
        self._last = 0
        self._compacted = 0
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Reads what is open, and ends any other agent of this name."""
        await self._jay.sessions.session_create(external_id=self.session, agent_name=self._agent)
        await self._reload()
        await self.append(Started(self.instance))

    async def append(self, entry: Entry) -> None:
        """Returns when the entry is kept. Raises SupersededError."""
        async with self._lock:
            text = msgspec.json.encode(entry).decode()
            message = MessageInput(role="system", content=[TextBlock(text=text)])
            key = digest(self.instance, self._last, text)
            appended = await self._jay.sessions.session_append(
                self.session, messages=[message], idempotency_key=key
            )
            if appended.first_seq == self._last + 1:
                self._last = appended.last_seq
                apply(self.state, entry)
            else:
                await self._reload()
                self._require_own()
            if self._last - self._compacted >= _COMPACT_EVERY:
                await self._compact()

    def _require_own(self) -> None:
        if self.state.instance not in ("", self.instance):
            raise SupersededError(self._agent)

    async def _reload(self) -> None:
        conversation = await self._jay.sessions.session_conversation(self.session)
        self.state = await self._folded(conversation)
        self._last = conversation.through
        self._compacted = conversation.through - len(conversation.messages)

    async def _folded(self, conversation: Conversation) -> State:
        summary = conversation.summary
        state = State() if summary is None else msgspec.json.decode(summary, type=State)
        for event in conversation.messages:
            if (entry := _read(event)) is not None:
                apply(state, entry)
        return state

    async def _compact(self) -> None:
        await self._jay.sessions.session_compact(
            self.session,
            summary=msgspec.json.encode(self.state).decode(),
            through=self._last,
            force=True,
            idempotency_key=digest(self.session, "compact", self._last),
        )
        await self._reload()


def _read(event: TrailEvent) -> Entry | None:
    text = "".join(block.text for block in event.content if isinstance(block, TextBlock))
    try:
        entry: Entry = msgspec.json.decode(text, type=Entry)
    except msgspec.DecodeError:
        # What an operator or a later release wrote.
        _log.warning("event %s of the journal is not an entry", event.seq)
        return None
    return entry
