"""The agent: takes messages in, answers them conversation by conversation, and goes on after a restart.

Each step is in the trail before the next one begins: a message before its channel is told, a call of the model before
it is made, an answer before it is sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from scrubjay.client import AsyncClient
from scrubjay.errors import ScrubjayError
from scrubjay.models import ImageBlock
from scrubjay_agent.journal.entries import Answered, Began, Cancelled, Out, Received, Timer, digest
from scrubjay_agent.journal.journal import Journal, SupersededError
from scrubjay_agent.outbox import Outbox
from scrubjay_agent.refusals import is_refused
from scrubjay_agent.settings import Settings
from scrubjay_agent.stored import storable
from scrubjay_agent.tools.registry import Calling, Registry
from scrubjay_agent.tools.schedule import following
from scrubjay_agent.turns.conversation import Conversation, answered, said
from scrubjay_agent.turns.loop import Loop
from scrubjay_agent.turns.monitor import Monitor
from scrubjay_agent.turns.prompting import Prompting

_PAUSE = 1.0
_TICK = 0.5
# Telegram's limit; the terminal has none.
_MOST_CHARACTERS = 4_000
# Messages of a user that have no answer: more are not taken from HTTP.
_MOST_OPEN = 100
_BROKEN = "Something went wrong on my side. Please ask again."
_log = logging.getLogger(__name__)

Images = Callable[[Received], Awaitable[list[ImageBlock]]]


class FullError(Exception):
    """So many messages of this user have no answer yet that no more are taken."""


class Agent:
    def __init__(
        self,
        jay: AsyncClient,
        journal: Journal,
        settings: Settings,
        loop: Loop,
        prompting: Prompting,
        registry: Registry,
        outbox: Outbox,
        monitor: Monitor,
        images: Images,
        format_: str,
    ) -> None:
        self._jay, self._journal, self._settings = jay, journal, settings
        self._loop, self._prompting, self._registry = loop, prompting, registry
        self._outbox, self._monitor, self._images, self._format = outbox, monitor, images, format_
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(settings.parallel)
        # They get the answer, or None where the trail has it.
        self._waiting: dict[str, asyncio.Future[str | None]] = {}
        self._offered: Counter[str] = Counter()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def accept(self, message: Received) -> None:
        """Returns when the message is kept: its channel may then be told. A repeat changes nothing."""
        if not self._journal.state.knows(message.key):
            try:
                kept = msgspec.structs.replace(message, text=storable(message.text))
                await self._journal.append(kept)
            except SupersededError as error:
                self._fail(error)
                raise
        self._wake(message.session)

    async def offer(self, message: Received) -> None:
        """As `accept`, where the sender can come again later. Raises FullError."""
        state, user = self._journal.state, message.user
        waiting = sum(one.user == user for one in state.inbox.values()) + self._offered[user]
        if waiting >= _MOST_OPEN and not state.knows(message.key):
            raise FullError(user)
        self._offered[user] += 1
        try:
            await self.accept(message)
        finally:
            self._offered[user] -= 1

    async def answer_of(self, message: Received) -> str:
        """Offers the message and waits for its answer, which a repeat finds in the trail. Raises FullError."""
        if (known := await self.known(message.key)) is not None:
            return known
        await self.offer(message)
        answer = None
        if message.key not in self._journal.state.recent:
            waiting = self._waiting.setdefault(message.key, asyncio.get_running_loop().create_future())
            answer = await asyncio.shield(waiting)
        return answer if answer is not None else await self.known(message.key) or ""

    async def known(self, key: str) -> str | None:
        """The answer that a message got."""
        done = self._journal.state.recent.get(key)
        return None if done is None else await self._said(done.session, done.seq)

    async def _said(self, session: str, seq: int) -> str:
        if seq == 0:
            return _BROKEN
        async for event in self._jay.sessions.session_history(session, limit=200):
            if event.seq == seq:
                return "\n".join(block.text for block in event.content if block.type == "text")
        return ""

    async def run(self) -> None:
        """Until it fails or is cancelled. Raises SupersededError where another agent has started."""
        self._outbox.wake()
        for session in {one.session for one in self._journal.state.inbox.values()}:
            self._wake(session)
        timers = asyncio.create_task(self._timers())
        failures = [timers, asyncio.ensure_future(self._failed), asyncio.create_task(self._outbox.failure())]
        try:
            done, _ = await asyncio.wait(failures, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in [*failures, *self._workers.values()]:
                task.cancel()
            await asyncio.gather(*failures, *self._workers.values(), return_exceptions=True)
            await self._outbox.close()

    def _fail(self, error: Exception) -> None:
        if not self._failed.done():
            self._failed.set_exception(error)

    async def idle(self) -> None:
        """Waits until everything is answered and sent."""
        while self._journal.state.inbox or self._outbox.busy:
            await asyncio.sleep(_TICK)

    def _wake(self, session: str) -> None:
        task = self._workers.get(session)
        if task is None or task.done():
            self._workers[session] = asyncio.create_task(self._work(session))

    async def _work(self, session: str) -> None:
        """A conversation's turns, one after the other, until none is left."""
        state = self._journal.state
        try:
            while state.open_turns(session) or state.waiting(session):
                try:
                    async with self._places:
                        await self._next(session)
                except ScrubjayError as error:
                    _log.warning("Scrubjay is away: %s", error)
                    await asyncio.sleep(_PAUSE)
                self._settle(session)
                state = self._journal.state
            self._workers.pop(session, None)
        except Exception as error:
            self._fail(error)

    def _settle(self, session: str) -> None:
        """A turn that ended with an error may be answered all the same: the entry was kept, and is found later."""
        self._outbox.wake()
        recent = self._journal.state.recent
        for key in [key for key in self._waiting if key in recent and recent[key].session == session]:
            if not (waiting := self._waiting.pop(key)).done():
                waiting.set_result(None)

    async def _next(self, session: str) -> None:
        state = self._journal.state
        if not state.open_turns(session):
            taken = await self._taken(session)
            await self._journal.append(Began(taken[0].key, [one.key for one in taken]))
            state = self._journal.state
        key = state.open_turns(session)[0]
        await self._turn(key, [state.inbox[one] for one in state.turns[key]])

    async def _taken(self, session: str) -> list[Received]:
        """The messages of the next turn: those that somebody writes in a row are answered together."""
        first = self._journal.state.waiting(session)[0]
        telegram = self._settings.channels.telegram
        if first.source != "telegram" or telegram is None:
            return [first]
        while True:
            waiting = self._journal.state.waiting(session)
            taken = [one for one in waiting if one.source == "telegram"]
            quiet = datetime.now(UTC) - max(one.at for one in taken)
            left = timedelta(seconds=telegram.debounce) - quiet
            if left <= timedelta():
                return taken
            await asyncio.sleep(left.total_seconds())

    async def _turn(self, key: str, messages: Sequence[Received]) -> None:
        """A turn that can never go on ends with an answer that says so. What Scrubjay may take later is raised."""
        conversation = Conversation(self._jay, messages[0].session, self._settings.name)
        try:
            answer = await self._answer(key, messages, conversation)
            seq = conversation.last
        except SupersededError:
            raise
        except Exception as error:
            if isinstance(error, ScrubjayError) and not is_refused(error):
                raise
            _log.exception("a turn failed")
            answer = _BROKEN
            seq = await self._broken(key, conversation)
        await self._answered(key, messages, conversation, answer, seq)

    async def _answer(self, key: str, messages: Sequence[Received], conversation: Conversation) -> str:
        first = messages[0]
        text = "\n\n".join(one.text for one in messages)
        message = msgspec.structs.replace(first, text=text, reply_to=messages[-1].reply_to)
        images = [image for one in messages for image in await self._images(one)]
        tokens = self._settings.compaction_tokens
        await conversation.begin(key, said(text, images), first.at, first.user, tokens)
        tools = self._registry.for_message(first, self._settings.tools.network)
        prompt = await self._prompting.of(message, first.session, self._format)
        return await self._loop.run(conversation, Calling(key, first.session, message, tools), prompt)

    async def _broken(self, key: str, conversation: Conversation) -> int:
        """The number of the answer's event. 0: the trail takes none, as that of a session that somebody completed."""
        try:
            await conversation.append(digest(key, "broken"), answered(_BROKEN))
        except ScrubjayError as error:
            if not is_refused(error):
                raise
            _log.warning("the trail of %s takes no answer: %s", conversation.session, error)
            return 0
        return conversation.last

    async def _answered(
        self, key: str, messages: Sequence[Received], conversation: Conversation, answer: str, seq: int
    ) -> None:
        out = self._outs(key, messages[0], answer)
        await self._journal.append(Answered(key, conversation.session, seq, out))
        self._monitor.answered += 1
        self._outbox.wake()
        for message in messages:
            if (waiting := self._waiting.pop(message.key, None)) is not None and not waiting.done():
                waiting.set_result(answer)
        if seq:
            await conversation.compact()

    def _outs(self, key: str, message: Received, answer: str) -> list[Out]:
        silent = answer.strip() in self._settings.silent or not answer.strip()
        if silent or message.address.channel in (None, "http"):
            return []
        most = _MOST_CHARACTERS if message.address.channel == "telegram" else len(answer)
        pieces = [answer[start : start + most] for start in range(0, len(answer), most)]
        return [Out(f"{key}#{number}", message.address, piece) for number, piece in enumerate(pieces)]

    async def _timers(self) -> None:
        """A timer that came due becomes a message under a key of its time: it comes once."""
        while True:
            now = datetime.now(UTC)
            for timer in [one for one in self._journal.state.timers.values() if one.at <= now]:
                try:
                    await self._fire(timer, now)
                except ScrubjayError as error:
                    _log.warning("Scrubjay is away: %s", error)
            await asyncio.sleep(_TICK)

    async def _fire(self, timer: Timer, now: datetime) -> None:
        key = f"{timer.id}@{timer.at.isoformat()}"
        await self.accept(msgspec.structs.replace(timer.message, key=key, at=datetime.now(UTC)))
        if timer.cron is None:
            await self._journal.append(Cancelled(timer.id))
        else:
            later = following(timer.cron, now)
            await self._journal.append(msgspec.structs.replace(timer, at=later))
