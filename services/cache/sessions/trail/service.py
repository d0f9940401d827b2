"""The rules of trails: what is added to one, how it is read, and what stands for its past."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg
import msgspec

from services.cache.sessions.access import Reach
from services.cache.sessions.queries import want_consolidation
from services.cache.sessions.trail import queries
from services.cache.sessions.trail.compaction import as_message, extract
from services.cache.sessions.trail.cutting import Message, oldest, places
from services.cache.sessions.trail.messages import Kind, MessageInput, brief, kind_of, read_blocks, tokens_of
from services.cache.sessions.trail.queries import NewEvent
from services.cache.sessions.trail.schemas import (
    Appended,
    AppendInput,
    CompactInput,
    Compaction,
    Conversation,
    History,
    HistoryCursor,
    Rebuilt,
    Reset,
    ResetInput,
    TrailEvent,
)
from services.cache.sessions.trail.state import Compacted, Event, State
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database.idempotency import Key
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Conflict, Invalid
from shared.paging.pages import page_of
from shared.provenance import utc
from shared.tokens import estimate_tokens


class Trail:
    def __init__(self, transactions: SessionTransactions) -> None:
        self._transactions = transactions

    async def append(
        self, principal: Principal, session: str, wanted: AppendInput, key: Key | None, deadline: Deadline
    ) -> Appended:
        drafts = [_draft(message) for message in wanted.messages]

        async def work(c: Connection, held: Held) -> Appended:
            before = await state_of(c, held)
            rows = [_numbered(draft, held, place) for place, draft in enumerate(drafts, 1)]
            state = await _add(c, held, before, rows)
            return Appended(
                rows[0].seq, rows[-1].seq, _tokens(state), _tokens(state) > held.config.compaction_tokens
            )

        return await self._transactions.write(principal, session, Appended, work, key, deadline, status=201)

    async def history(
        self,
        principal: Principal,
        session: str,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
        *,
        full: bool,
    ) -> History:
        position = HistoryCursor.read(cursor)
        after = 0 if position is None else position.seq

        async def work(c: Connection, held: Held) -> tuple[int, list[asyncpg.Record]]:
            rows = await queries.history(
                c, held.tenant, held.id, after=after, limit=limit + 1, is_brief=not full
            )
            return held.last_seq, rows

        last, rows = await self._transactions.read(principal, session, work, deadline)
        page = page_of(rows, limit, lambda row: HistoryCursor(seq=row["seq"]))
        following = page.next
        if following is None and rows and rows[-1]["before"] + rows[-1]["tokens"] >= queries.MOST_TOKENS:
            following = HistoryCursor(seq=rows[-1]["seq"]).text() if rows[-1]["seq"] < last else None
        return History([_event(row, full=full) for row in page.rows], following)

    async def conversation(self, principal: Principal, session: str, deadline: Deadline) -> Conversation:
        async def work(c: Connection, held: Held) -> tuple[State, list[asyncpg.Record], int]:
            state = await state_of(c, held)
            rows = await queries.messages(c, held.tenant, held.id, state.since, state.through)
            return state, rows, held.config.compaction_tokens

        state, rows, most = await self._transactions.read(principal, session, work, deadline)
        return Conversation(
            through=state.through,
            since=state.since,
            summary=state.summary,
            messages=await _events(rows),
            tokens=_tokens(state),
            truncated=len(rows) < state.messages,
            compaction_due=_tokens(state) > most,
        )

    async def compact(
        self, principal: Principal, session: str, wanted: CompactInput, key: Key | None, deadline: Deadline
    ) -> Compaction:
        async def work(c: Connection, held: Held) -> Compaction:
            state = await state_of(c, held)
            is_due = _tokens(state) > held.config.compaction_tokens
            taken = await _taken(c, held, state, wanted) if is_due or wanted.force else []
            if not taken:
                return Compaction(compacted=False, messages=0, tokens=_tokens(state))
            compacted = Compacted(
                since=taken[-1].seq,
                summary=wanted.summary or await _extracted(state, taken),
                messages=len(taken),
                tokens=sum(event.tokens for event in taken),
            )
            row = _own_event(held, "compaction", compacted)
            after = await _add(c, held, state, [row])
            return Compaction(compacted=True, messages=len(taken), tokens=_tokens(after), seq=row.seq)

        return await self._transactions.write(principal, session, Compaction, work, key, deadline)

    async def rebuild(self, principal: Principal, session: str, deadline: Deadline) -> Rebuilt:
        async def work(c: Connection, held: Held) -> Rebuilt:
            kept = await queries.snapshot(c, held.tenant, held.id)
            events = await queries.events(c, held.tenant, held.id)
            state = State().after(events)
            if state != kept:
                await queries.put_snapshot(c, held.tenant, held.id, state)
            return Rebuilt(state.through, len(events), changed=state != kept)

        return await self._transactions.write(principal, session, Rebuilt, work, None, deadline, closed=True)

    async def reset(
        self, principal: Principal, wanted: ResetInput, key: Key | None, deadline: Deadline
    ) -> Reset:
        """Raises NotFound, Conflict for a single session."""
        principal.require_agent(wanted.agent_name)
        if wanted.session_id is not None:
            return await self._transactions.write(
                principal, wanted.session_id, Reset, _reset_one(wanted), key, deadline
            )

        async def work(c: Connection) -> Reset:
            rows = await queries.hold_these(
                c,
                principal.tenant,
                Reach.of(principal),
                agent_name=wanted.agent_name,
                key=principal.key,
            )
            chosen = rows[: queries.MOST_AT_ONCE]
            for row in chosen:
                await _reset(c, principal, row)
            if wanted.consolidate:
                await want_consolidation(c, principal.tenant, [row["id"] for row in chosen])
            return Reset([row["id"] for row in chosen], more=len(rows) > len(chosen))

        scope = "shared" if wanted.agent_name is None else f"agent:{wanted.agent_name}"
        if key is not None:
            key = key.about([wanted.agent_name])
        return await self._transactions.once(principal.tenant, scope, Reset, work, key, deadline, status=200)


async def state_of(c: Connection, held: Held) -> State:
    """From the snapshot, or from the trail if that does not hold."""
    state = await queries.snapshot(c, held.tenant, held.id)
    if state is None:
        state = State().after(await queries.events(c, held.tenant, held.id))
    return state


async def _add(c: Connection, held: Held, before: State, rows: Sequence[NewEvent]) -> State:
    state = before.after(_as_event(row) for row in rows)
    await queries.append(c, held.tenant, held.id, rows)
    await queries.put_snapshot(c, held.tenant, held.id, state)
    return state


async def _taken(c: Connection, held: Held, state: State, wanted: CompactInput) -> list[TrailEvent]:
    """The messages that the summary is to stand for. Raises Conflict if `through` parts a call from its result."""
    rows = await queries.oldest(c, held.tenant, held.id, state.since, state.messages)
    events = await _events(rows)
    messages = [as_message(event) for event in events]
    later = await _answered_later(c, held, messages) if len(rows) < state.messages else frozenset()
    if wanted.through is None:
        return events[: oldest(messages, later)]
    count = sum(event.seq <= wanted.through for event in events)
    if wanted.through > state.through or not count:
        raise Invalid.field("through", "is no event of the conversation")
    if not places(messages, later)[count]:
        raise Conflict("a call of a tool stands before `through`, and its result behind it")
    return events[:count]


async def _extracted(state: State, taken: Sequence[TrailEvent]) -> str:
    return await beside(_width(taken), extract, state.summary, taken)


async def _answered_later(c: Connection, held: Held, messages: Sequence[Message]) -> frozenset[str]:
    """Calls whose results stand behind these messages."""
    calls = sorted(frozenset[str]().union(*(message.calls for message in messages)))
    return await queries.answered(c, held.tenant, held.id, messages[-1].seq, calls)


def _reset_one(wanted: ResetInput) -> Callable[[Connection, Held], Awaitable[Reset]]:
    async def work(c: Connection, held: Held) -> Reset:
        await _add(c, held, State(), [_own_event(held, "reset")])
        if wanted.consolidate:
            await want_consolidation(c, held.tenant, [held.id])
        return Reset([held.id], more=False)

    return work


async def _reset(c: Connection, principal: Principal, row: asyncpg.Record) -> None:
    event = NewEvent(
        seq=row["last_seq"] + 1,
        kind="reset",
        role="system",
        content=[],
        token_count=0,
        turn=row["total_turns"],
        written_by=principal.key,
    )
    await queries.append(c, principal.tenant, row["id"], [event])
    await queries.put_snapshot(c, principal.tenant, row["id"], State().after([_as_event(event)]))


def _own_event(held: Held, kind: Kind, compacted: Compacted | None = None) -> NewEvent:
    """An event of the service."""
    return NewEvent(
        seq=held.last_seq + 1,
        kind=kind,
        role="system",
        content=[] if compacted is None else [compacted],
        token_count=0 if compacted is None else estimate_tokens(compacted.summary),
        turn=held.turn,
        written_by=held.key,
    )


def _draft(message: MessageInput) -> NewEvent:
    blocks = message.blocks
    return NewEvent(
        seq=0,
        kind=kind_of(blocks),
        role=message.role,
        content=blocks,
        token_count=tokens_of(blocks),
        turn=0,
        written_by="",
        occurred_at=utc(message.occurred_at),
    )


def _numbered(draft: NewEvent, held: Held, place: int) -> NewEvent:
    return msgspec.structs.replace(draft, seq=held.last_seq + place, turn=held.turn, written_by=held.key)


def _as_event(row: NewEvent) -> Event:
    compacted = next((each for each in row.content if isinstance(each, Compacted)), None)
    return Event(row.seq, row.kind, row.token_count, compacted)


def _tokens(state: State) -> int:
    return state.tokens + (0 if state.summary is None else estimate_tokens(state.summary))


async def _events(rows: Sequence[asyncpg.Record]) -> list[TrailEvent]:
    return await beside(_width(rows), lambda: [_event(row) for row in rows])


def _width(events: Sequence[Any]) -> int:
    """The characters of so many events, roughly: a short one takes as long as some hundred."""
    return 100 * len(events)


_AS_STORED = ("seq", "kind", "role", "tokens", "turn", "written_by", "created_at", "occurred_at")


def _event(row: asyncpg.Record, *, full: bool = True) -> TrailEvent:
    content = row["content"]
    if row["kind"] == "compaction":
        content = [{"type": "text", "text": content[0]["summary"]}]
    blocks = read_blocks(content)
    own = {name: row[name] for name in _AS_STORED}
    return TrailEvent(**own, content=blocks if full else brief(blocks))
