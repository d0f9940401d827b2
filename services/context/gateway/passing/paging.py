"""Which requests are paged, and how each goes out. Trouble of ours means that a request goes on as it came."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import msgspec
import structlog
from prometheus_client import Counter

from services.context.gateway.answering import Keep
from services.context.gateway.cleanup import Action
from services.context.gateway.memory import ConversationMemory, Texts
from services.context.gateway.paging.paged import Endpoint, Paged, blocks_of, page, read
from services.context.gateway.paging.plan import Policy
from services.context.gateway.passing.fields import PAGING, Fields, value_of
from services.context.gateway.phantom import Endpoint as Answered
from services.context.gateway.phantom import lacks_tools, with_tools
from services.context.gateway.restoring.hidden import Hidden, is_of_model
from services.context.gateway.restoring.putting_back import count_of, put_back
from services.context.gateway.restoring.texts import with_texts, without_texts
from services.context.gateway.sessions.queries import Whose
from services.context.gateway.sessions.state import State
from services.context.gateway.sessions.states import Kept, States
from shared.deadline import Deadline
from shared.errors import AppError, Invalid
from shared.spending.prices import Prices

log = structlog.get_logger()

UNPAGED = Counter("scrubjay_gateway_unpaged_total", "Requests of paged sessions that went on as they came")
BATCHES = Counter(
    "scrubjay_gateway_batches_total", "Batches of texts that a session sends shorter from then on"
)

Arm = Literal["off", "paged", "control"]
_TRIES = 3
_LEAST_SECONDS = 0.01
_KEEP_SECONDS = 2.0
# From here on a request is planned beside the event loop; a longer one goes on as it came.
_LONG_BYTES, _LONGEST_BYTES = 262_144, 16 * 1_048_576


class PagingSettings(NamedTuple):
    """`control` is the share of sessions that are left as they are, so that both can be compared."""

    is_on: bool = True
    control: float = 0.05


class Prepared(NamedTuple):
    """`at`: how many messages the host sent."""

    body: bytes
    at: int
    memory: ConversationMemory
    keep: Keep


class _Edited(msgspec.Struct):
    context_management: Any = None


class _Item(msgspec.Struct):
    role: Any = None
    type: Any = None


class _Response(msgspec.Struct):
    previous_response_id: Any = None
    conversation: Any = None
    background: Any = None
    store: Any = None
    input: list[_Item] | str = ""


_EDITED = msgspec.json.Decoder(_Edited)
_RESPONSE = msgspec.json.Decoder(_Response)


class _Made(NamedTuple):
    paged: Paged
    restored: bytes
    """The request with what answers hid."""
    own: Texts
    """Of the request as the host sent it."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Paging:
    states: States
    settings: PagingSettings
    prices: Prices

    def arm_of(self, fields: Fields, whose: Whose) -> Arm:
        """The same for all of a session. Raises Invalid."""
        wanted = value_of(fields, PAGING)
        if wanted not in (None, "on", "off"):
            raise Invalid.field("X-Scrubjay-Paging", "must be on or off")
        if wanted == "off" or (wanted is None and not self.settings.is_on):
            return "off"
        named = "\0".join((whose.tenant, whose.caller, whose.session)).encode()
        drawn = int.from_bytes(hashlib.sha256(named).digest()[:8]) / 2**64
        return "control" if drawn < self.settings.control else "paged"

    async def prepared(
        self, endpoint: Endpoint, body: bytes, whose: Whose, seconds: float
    ) -> Prepared | None:
        """None for a request that goes on as it came. Never fails."""
        if len(body) > _LONGEST_BYTES:
            return None
        try:
            return await self._prepared(endpoint, body, whose, Deadline(seconds))
        except Exception as error:
            UNPAGED.inc()
            # What is no request, the provider says.
            if not isinstance(error, AppError | msgspec.MsgspecError | RecursionError):
                log.exception("gateway.request_unpaged")
            return None

    async def _prepared(
        self, endpoint: Endpoint, body: bytes, whose: Whose, deadline: Deadline
    ) -> Prepared | None:
        made = await self._made(endpoint, body, whose, deadline)
        if made is None:
            return None
        memory = ConversationMemory(
            Texts(made.restored, made.paged.blocks()),
            frozenset(made.paged.handles()),
            made.own,
            lambda actions: self._wish(whose, actions),
        )

        async def keep(hidden: Hidden) -> None:
            slim = without_texts(hidden, memory.references)
            await self.states.change(whose, lambda state: state.hiding(slim), Deadline(_KEEP_SECONDS))

        return Prepared(made.body, count_of(_answered(endpoint), body), memory, keep)

    async def _wish(self, whose: Whose, actions: Sequence[Action]) -> None:
        await self.states.change(whose, lambda state: state.wishing(actions), Deadline(_KEEP_SECONDS))

    async def _made(self, endpoint: Endpoint, body: bytes, whose: Whose, deadline: Deadline) -> _Made | None:
        """What moves is kept before it is sent, so that every replica sends it so from then on."""
        for _ in range(_TRIES):
            kept = await self._kept(whose, deadline)
            if kept.version < 0:
                return await _planned(endpoint, body, kept.state, self.prices, moves=False)
            made = await _planned(endpoint, body, kept.state, self.prices, moves=True)
            moved = made.paged.plan.moved if made is not None else None
            if not moved or endpoint == "count_tokens":
                return made
            try:
                patience = Deadline(max(_LEAST_SECONDS, deadline.left()))
                saved = await self.states.save(whose, kept.version, kept.state.moved(moved), patience)
            except AppError:
                break
            if saved is not None:
                BATCHES.inc(made is not None and made.paged.plan.batch)
                return made
        return await _planned(endpoint, body, kept.state, self.prices, moves=False)

    async def _kept(self, whose: Whose, deadline: Deadline) -> Kept:
        """With a version below 0 it is what was seen last. Raises AppError where nothing was."""
        try:
            return await self.states.of(whose, deadline)
        except AppError:
            seen = self.states.last_seen(whose)
            if seen is None:
                raise
            return Kept(seen, -1)


async def _planned(
    endpoint: Endpoint, body: bytes, state: State, prices: Prices, *, moves: bool
) -> _Made | None:
    if len(body) > _LONG_BYTES:
        return await asyncio.to_thread(_plan, endpoint, body, state, prices, moves=moves)
    return _plan(endpoint, body, state, prices, moves=moves)


def _plan(endpoint: Endpoint, body: bytes, state: State, prices: Prices, *, moves: bool) -> _Made | None:
    """None for a request that is to have no tools: a model could not ask for what it does not see.

    Without tools of the host, as where it asks for a summary, nothing more gets shorter, but what is shorter stays so:
    in full, the conversation may be longer than the model's window. Nor is a request paged whose host lets the provider
    edit it, or keep the conversation.
    """
    if endpoint == "responses" and _is_kept_there(body):
        return None
    is_bare = bool(state.levels) and lacks_tools(_answered(endpoint), body)
    if not is_bare and with_tools(_answered(endpoint), body) is None:
        return None
    if _EDITED.decode(body).context_management is not None:
        return None
    own = Texts(body, blocks_of(read(endpoint, body))) if state.hidden else None
    restored = body if own is None else put_back(_answered(endpoint), body, _whole(state, own))
    policy = _policy(state, moves=moves and not is_bare)
    paged = page(endpoint, restored, state.known(), prices, policy=policy)
    sent = _bare(paged) if is_bare else with_tools(_answered(endpoint), paged.body)
    return None if sent is None else _Made(paged, restored, own or Texts(body, paged.blocks()), sent)


def _bare(paged: Paged) -> bytes | None:
    """A title or the like holds nothing that is shorter, and goes as it came."""
    return paged.body if paged.forms else None


def _is_kept_there(body: bytes) -> bool:
    """Whether the provider keeps the conversation: a call that the host never saw could not be put back there.

    A host that keeps it itself sends the model's answers back, so before the first one nobody can tell.
    """
    request = _RESPONSE.decode(body)
    if request.previous_response_id or request.conversation or request.background:
        return True
    items = request.input if isinstance(request.input, list) else []
    if any(item.role is None and item.type in (None, "item_reference") for item in items):
        return True
    return request.store is not False and not any(is_of_model(msgspec.structs.asdict(item)) for item in items)


def _whole(state: State, own: Texts) -> list[Hidden]:
    filled = (with_texts(hidden, own.made_of) for hidden in state.hidden)
    return [hidden for hidden in filled if hidden is not None]


def _policy(state: State, *, moves: bool) -> Policy:
    kept = frozenset(handle for handle, verb in state.wishes.items() if verb == "anchor")
    return Policy(kept=kept, released=frozenset(state.wishes) - kept, moves=moves)


def _answered(endpoint: Endpoint) -> Answered:
    return "messages" if endpoint == "count_tokens" else endpoint
