"""The journal in Scrubjay: entries are appended to the trail of a session, and compactions hold its state.

Two agents of one name would answer everything twice. An entry's number tells: where it is not the next one, somebody
else wrote, and if that was an agent that started later, this one ends.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Iterable

import msgspec

from scrubjay.client import AsyncClient
from scrubjay.errors import ScrubjayError
from scrubjay.models import Conversation, MessageInput, TextBlock, TrailEvent
from scrubjay_agent.journal.entries import Entry, Started, State, apply, digest
from scrubjay_agent.refusals import persistently

# A compaction is due after so many entries, or tokens: one answer holds 500,000 tokens of a conversation.
_COMPACT_EVERY = 400
_COMPACT_TOKENS = 250_000
# One that failed is tried again after so many entries.
_TRY_AGAIN = 20
# What Scrubjay takes as a summary.
_MOST_CHARACTERS = 200_000
_PAGE = 1_000
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
        self._since = 0
        self._tried = 0
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Reads what is open, and ends any other agent of this name. Waits for Scrubjay."""
        create = self._jay.sessions.session_create
        await persistently(create, external_id=self.session, agent_name=self._agent)
        await persistently(self._reload)
        await persistently(self.append, Started(self.instance))

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
            if self._is_due(appended.tokens):
                await self._compact()
                self._require_own()

    def _is_due(self, tokens: int) -> bool:
        is_long = self._last - self._since >= _COMPACT_EVERY or tokens >= _COMPACT_TOKENS
        return is_long and self._last - self._tried >= _TRY_AGAIN

    def _require_own(self) -> None:
        if self.state.instance not in ("", self.instance):
            raise SupersededError(self._agent)

    async def _reload(self) -> None:
        conversation = await self._jay.sessions.session_conversation(self.session)
        earlier = await self._left_out(conversation) if conversation.truncated else []
        self.state = _folded(conversation.summary, [*earlier, *conversation.messages])
        self._last, self._since = conversation.through, conversation.since

    async def _left_out(self, conversation: Conversation) -> list[TrailEvent]:
        """The entries since the summary that the answer has no room for."""
        first = conversation.messages[0].seq
        found = []
        async for event in self._jay.sessions.session_history(self.session, full=True, limit=_PAGE):
            if event.seq >= first:
                break
            if event.seq > conversation.since and event.kind == "message":
                found.append(event)
        return found

    async def _compact(self) -> None:
        """The entry that made it due is kept, so no failure here is its append's: a later entry tries again.

        A state that no summary can hold stays in its entries, which a start then reads one and all.
        """
        self._tried = self._last
        summary = msgspec.json.encode(self.state).decode()
        if len(summary) > _MOST_CHARACTERS:
            _log.warning("the journal is not compacted: its state has %s characters", len(summary))
            return
        try:
            await self._jay.sessions.session_compact(
                self.session,
                summary=summary,
                through=self._last,
                force=True,
                idempotency_key=digest(self.session, "compact", self._last),
            )
            await self._reload()
        except ScrubjayError as error:
            _log.warning("the journal is not compacted: %s", error)


def _folded(summary: str | None, events: Iterable[TrailEvent]) -> State:
    state = State() if summary is None else msgspec.json.decode(summary, type=State)
    for event in events:
        if (entry := _read(event)) is not None:
            apply(state, entry)
    return state


def _read(event: TrailEvent) -> Entry | None:
    text = "".join(block.text for block in event.content if isinstance(block, TextBlock))
    try:
        entry: Entry = msgspec.json.decode(text, type=Entry)
    except msgspec.DecodeError:
        # What an operator or a later release wrote.
        _log.warning("event %s of the journal is not an entry", event.seq)
        return None
    return entry
