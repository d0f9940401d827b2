"""Lists of a framework's items on the trails of sessions: what is added stays in its order, and so does a removal."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay import models
from scrubjay._call import PagedCall
from scrubjay.adapters.sending import AnyClient, Sender
from scrubjay.calls import sessions as calls
from scrubjay.errors import ApiError

Item = Mapping[str, Any]
Said = Callable[[Item], tuple[str, str]]
"""Who speaks in an item, and what is said; an empty text where nothing is."""

_TOOL, _POP = "item", "pop"
# Of a request: 100 messages and 2 MiB.
_AT_ONCE, _MOST_BYTES = 50, 1_500_000
_LEVELS = 80
_PAGE = 1_000
_ROLES = ("system", "user", "assistant", "tool")
_DIGITS = 16
_NOT_FOUND = 404


class Kept(NamedTuple):
    seq: int
    item: dict[str, Any]


class Listed(NamedTuple):
    name: str
    last_active_ms: int


class Trails:
    """Lists by their names. Each framework and each set of parties has names of its own."""

    def __init__(
        self,
        client: AnyClient,
        framework: str,
        *,
        agent: str | None,
        mission: str | None = None,
        user: str | None = None,
        said: Said = lambda _: ("assistant", ""),
    ) -> None:
        self._sender = Sender(client)
        self._parties: dict[str, Any] = {"agent_name": agent, "mission_id": mission, "user_id": user}
        self._framework = framework
        self._prefix = f"{framework} {_digest(self._parties)[:_DIGITS]} "
        self._said = said

    async def add(self, name: str, items: Sequence[Item], *, repeats: bool = False) -> None:
        """`repeats`: the same items may come again, and are then there already. The session begins with the first."""
        for some in _batches(items):
            key = _digest([await self._begun(name), some]) if repeats else None
            await self._append(name, [self._message(item) for item in some], key)

    async def items(self, name: str) -> list[dict[str, Any]] | None:
        """None for a session that is not there, or that never held one."""
        events = await self._events(name)
        if events is None or not any(map(_item_of, events)):
            return None
        return [kept.item for kept in _replayed(events)[0]]

    async def pop(self, name: str) -> dict[str, Any] | None:
        """The last item, which is taken out. Of several at once, each gets another one."""
        if not await self.items(name):
            return None
        note = models.ToolUse(id=_POP, name=_POP, input={})
        appended = await self._append(name, [models.MessageInput(role="assistant", content=[note])], None)
        events = await self._events(name) or []
        return _replayed(events)[1].get(appended.last_seq)

    async def clear(self, name: str) -> None:
        """The trail keeps everything; the list begins anew."""
        try:
            await self._sender.asend(calls.session_reset(session_id=self._prefix + name))
        except ApiError as error:
            _raise_unless_absent(error)

    async def delete(self, name: str) -> None:
        """Nothing of it is left."""
        try:
            await self._sender.asend(calls.session_delete(self._prefix + name))
        except ApiError as error:
            _raise_unless_absent(error)

    async def names(self, prefix: str) -> list[Listed]:
        """Those that begin so."""
        return [
            Listed(one.external_id.removeprefix(self._prefix), int(one.last_active_at.timestamp() * 1_000))
            for one in await self._sessions()
            if one.external_id.startswith(self._prefix + prefix)
        ]

    async def users(self) -> list[str]:
        """With whom the parties have sessions of the framework: where they name no user, all of them."""
        of_framework = [
            one.user_id
            for one in await self._sessions()
            if one.user_id is not None and one.external_id.startswith(f"{self._framework} ")
        ]
        return list(dict.fromkeys(of_framework))

    async def _sessions(self) -> list[models.Session]:
        found: list[models.Session] = []
        call: PagedCall[models.Sessions, models.Session] | None = calls.session_list(
            **self._parties, limit=_PAGE
        )
        while call is not None:
            page = await self._sender.asend(call)
            found += page.data
            call = self._sender.next_page(call, page)
        return found

    async def _append(
        self, name: str, messages: list[models.MessageInput], key: str | None
    ) -> models.Appended:
        call = calls.session_append(self._prefix + name, messages=messages, idempotency_key=key)
        try:
            return await self._sender.asend(call)
        except ApiError as error:
            _raise_unless_absent(error)
        await self._begun(name)
        return await self._sender.asend(call)

    async def _begun(self, name: str) -> str:
        """The id of the session, which begins unless it is there: after it was deleted, with another id."""
        begin = calls.session_create(**self._parties, external_id=self._prefix + name)
        return (await self._sender.asend(begin)).data.id

    async def _events(self, name: str) -> list[models.TrailEvent] | None:
        events: list[models.TrailEvent] = []
        call: PagedCall[models.History, models.TrailEvent] | None = calls.session_history(
            self._prefix + name, full=True, limit=_PAGE
        )
        try:
            while call is not None:
                page = await self._sender.asend(call)
                events += page.data
                call = self._sender.next_page(call, page)
        except ApiError as error:
            _raise_unless_absent(error)
            return None
        return events

    def _message(self, item: Item) -> models.MessageInput:
        """What is said stands beside the item, for people and for consolidation."""
        role, text = self._said(item)
        blocks: list[Any] = [models.TextBlock(text=text)] if text and _can_be_sent(text) else []
        told = {_TOOL: dict(item)} if _can_be_sent(item) else {"json": _packed(item)}
        use = models.ToolUse(id=_digest([item])[:32], name=_TOOL, input=told)
        known: Any = role if role in _ROLES else "assistant"
        return models.MessageInput(role=known, content=[*blocks, use])


def _replayed(events: Sequence[models.TrailEvent]) -> tuple[list[Kept], dict[int, dict[str, Any]]]:
    """The items that are left, and those that were taken out, by the event that did."""
    left: list[Kept] = []
    popped: dict[int, dict[str, Any]] = {}
    for event in events:
        if event.kind == "reset":
            left = []
        elif (item := _item_of(event)) is not None:
            left.append(Kept(event.seq, item))
        elif left and any(use.name == _POP for use in _uses(event)):
            popped[event.seq] = left.pop().item
    return left, popped


def _item_of(event: models.TrailEvent) -> dict[str, Any] | None:
    for use in _uses(event):
        if use.name == _TOOL:
            told: dict[str, Any] = use.input or {}
            item: dict[str, Any] = (
                told[_TOOL] if _TOOL in told else json.loads(base64.b64decode(told["json"]))
            )
            return item
    return None


def _uses(event: models.TrailEvent) -> Iterator[models.ToolUse]:
    return (block for block in event.content if isinstance(block, models.ToolUse))


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    held = 0
    for item in items:
        size = len(json.dumps(item, default=str))
        if batch and (len(batch) == _AT_ONCE or held + size > _MOST_BYTES):
            yield batch
            batch, held = [], 0
        batch.append(item)
        held += size
    if batch:
        yield batch


def _can_be_sent(value: Any, level: int = 0) -> bool:
    """Requests hold no U+0000, no half of a character, and a hundred levels."""
    if isinstance(value, str):
        return "\x00" not in value and (
            value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
        )
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        return level < _LEVELS and all(_can_be_sent(each, level + 1) for each in value)
    return True


def _packed(item: Item) -> str:
    return base64.b64encode(json.dumps(item).encode()).decode()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _raise_unless_absent(error: ApiError) -> None:
    if error.problem.status != _NOT_FOUND:
        raise error
