"""Answers the calls that a model makes to the gateway, in a loop of the gateway's own.

`answer` sends a request, hides what is not the host's, and goes on with the model until it has spoken to the host.
What the host gets is one answer. Trouble of ours becomes an honest result for the model, and never ends a stream;
trouble of the provider passes: a broken stream breaks, a refusal stands where the provider would put one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import structlog

from services.context.gateway.cleanup import Action
from services.context.gateway.events import Event, Splitter
from services.context.gateway.phantom import Endpoint, PhantomCall
from services.context.gateway.restoring.hidden import Hidden, Round, hidden
from services.context.gateway.turns.chat import ChatStream
from services.context.gateway.turns.messages import MessagesStream
from services.context.gateway.turns.responses import ResponsesStream, is_stored
from services.context.gateway.turns.whole import KINDS, UNREADABLE, Whole

MOST_ROUNDS = 8
"""Requests for one answer. After the last, calls are left unanswered and the turn ends."""
NOT_AVAILABLE = "The memory is not available now. Go on without it, or ask again later."
_SECONDS = 5.0
_OK = 200
_log = structlog.get_logger(__name__)


class Upstream(Protocol):
    """An answer of the provider."""

    status: int
    headers: list[tuple[bytes, bytes]]

    def pieces(self) -> AsyncIterator[bytes]:
        """Raises OSError when it breaks off."""
        ...

    async def close(self) -> None: ...


Send = Callable[[bytes], Awaitable[Upstream]]
"""Raises OSError when the provider cannot be reached."""


class Memory(Protocol):
    """What the caller's session remembers."""

    async def answer(self, call: PhantomCall) -> str: ...

    async def act(self, actions: Sequence[Action]) -> None: ...


class Answer(NamedTuple):
    status: int
    headers: list[tuple[bytes, bytes]]
    pieces: AsyncIterator[bytes]


Keep = Callable[[Hidden], Awaitable[None]]
"""Keeps what the host must get back in its next request."""


class _Stream(Protocol):
    actions: list[Action]

    @property
    def calls(self) -> list[PhantomCall]: ...
    @property
    def is_mixed(self) -> bool: ...
    @property
    def has_ended(self) -> bool: ...
    def said(self) -> list[dict[str, Any]]: ...
    def feed(self, event: Event) -> list[bytes]: ...
    def goes_on(self, body: bytes, results: Sequence[str]) -> bytes | None: ...
    def finish(self) -> list[bytes]: ...
    def held(self) -> list[bytes]: ...
    def failed(self, status: int, body: bytes) -> list[bytes]: ...


@dataclass(slots=True)
class _Turn:
    """One answer for the host."""

    endpoint: Endpoint
    body: bytes
    send: Send
    memory: Memory
    keep: Keep
    at: int
    rounds: list[Round] = field(default_factory=list)

    def is_busy(self, said: _Stream) -> bool:
        """Whether something is left to do once the answer has ended."""
        return bool(self.rounds or said.actions)

    async def goes_on(self, said: _Stream | Whole, left: int) -> bool:
        """Whether the model is asked again, with `body`. A bug of ours ends the answer with what there is."""
        try:
            request = await self._next(said, left)
        except Exception:
            _log.exception("gateway.answer_unread")
            return False
        self.body = request or self.body
        return request is not None

    async def _next(self, said: _Stream | Whole, left: int) -> bytes | None:
        actions, said.actions = said.actions, []
        if actions:
            await _carried_out(self.memory, actions)
        if not said.calls and not self.rounds:
            return None
        calls, parts, mixed = said.calls, said.said(), said.is_mixed
        results = [*await asyncio.gather(*(_result(self.memory, call) for call in calls))]
        self.rounds.append(Round(parts, calls, results))
        request = said.goes_on(self.body, results) if calls and left and not mixed else None
        if request is None:
            await self._kept()
        return request

    async def _kept(self) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                await self.keep(hidden(self.endpoint, self.at, self.rounds))
        except Exception:
            _log.exception("gateway.calls_not_kept")


async def answer(
    endpoint: Endpoint, body: bytes, send: Send, memory: Memory, keep: Keep, *, at: int
) -> Answer:
    """`body` is what goes out, with what earlier answers hid put back. `at`: how many messages the host sent.

    A compressed answer passes untouched. Raises OSError when the provider cannot be reached, as do the pieces when it
    breaks off.
    """
    upstream = await send(body)
    kinds = {name.lower(): value.lower() for name, value in upstream.headers}
    if upstream.status != _OK or kinds.get(b"content-encoding", b"identity") != b"identity":
        return Answer(upstream.status, upstream.headers, _passed(upstream))
    turn = _Turn(endpoint, body, send, memory, keep, at)
    if kinds.get(b"content-type", b"").startswith(b"text/event-stream"):
        return Answer(_OK, _without_length(upstream.headers), _streamed(upstream, turn))
    return await _whole(upstream, turn)


async def _passed(upstream: Upstream) -> AsyncIterator[bytes]:
    try:
        async for piece in upstream.pieces():
            yield piece
    finally:
        await upstream.close()


def _stream(endpoint: Endpoint, body: bytes) -> _Stream:
    match endpoint:
        case "messages":
            return MessagesStream()
        case "chat":
            return ChatStream()
        case "responses":
            return ResponsesStream(stored=is_stored(body))


async def _streamed(upstream: Upstream, turn: _Turn) -> AsyncIterator[bytes]:
    stream = _stream(turn.endpoint, turn.body)
    end: list[bytes] = []
    for left in reversed(range(MOST_ROUNDS)):
        async for piece in _hidden(upstream, stream, turn, end):
            yield piece
        if not await turn.goes_on(stream, left):
            break
        try:
            upstream = await turn.send(turn.body)
        except OSError:
            yield b"".join(stream.failed(502, b""))
            return
        if upstream.status != _OK:
            refusal = b"".join([piece async for piece in _passed(upstream)])
            yield b"".join(stream.failed(upstream.status, refusal))
            return
    if last := b"".join([*stream.held(), *end, *stream.finish()]):
        yield last


async def _hidden(upstream: Upstream, stream: _Stream, turn: _Turn, end: list[bytes]) -> AsyncIterator[bytes]:
    """What the host gets of one round. What was held back leaves before a stream breaks.

    The end is kept in `end` while something is left to do: some hosts leave, or ask again, once they have it.
    """
    splitter, is_sound = Splitter(), True
    pieces = _passed(upstream)
    try:
        async for piece in pieces:
            given: list[bytes] = []
            for event in splitter.feed(piece):
                told: list[bytes] = []
                is_sound = is_sound and _feed(stream, event, told)
                if not is_sound:
                    told.append(event.raw)
                (end if stream.has_ended and turn.is_busy(stream) else given).extend(told)
            if given:
                yield b"".join(given)
    except OSError:
        yield b"".join([*stream.held(), *end, *(event.raw for event in splitter.end())])
        raise
    if rest := b"".join(event.raw for event in splitter.end()):
        yield rest


def _feed(stream: _Stream, event: Event, given: list[bytes]) -> bool:
    """False: a bug of ours. What is left of the stream passes as it comes."""
    try:
        given += stream.feed(event)
    except Exception:
        _log.exception("gateway.answer_unread")
        given += stream.held()
        return False
    return True


async def _whole(upstream: Upstream, turn: _Turn) -> Answer:
    whole = KINDS[turn.endpoint]()
    for left in reversed(range(MOST_ROUNDS)):
        said = b"".join([piece async for piece in _passed(upstream)])
        if upstream.status != _OK:
            return Answer(upstream.status, upstream.headers, _one(said))
        try:
            whole.feed(said)
        except UNREADABLE:
            return Answer(upstream.status, upstream.headers, _one(said))
        if not await turn.goes_on(whole, left):
            break
        upstream = await turn.send(turn.body)
    return Answer(_OK, _without_length(upstream.headers), _one(whole.finish()))


async def _one(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _without_length(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.lower() != b"content-length"]


async def _result(memory: Memory, call: PhantomCall) -> str:
    """Never fails: a model that is told the truth goes on by itself."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await memory.answer(call)
    except Exception:
        _log.exception("gateway.call_failed", tool=call.name)
        return NOT_AVAILABLE


async def _carried_out(memory: Memory, actions: Sequence[Action]) -> None:
    try:
        async with asyncio.timeout(_SECONDS):
            await memory.act(actions)
    except Exception:
        _log.exception("gateway.cleanup_failed", actions=len(actions))
