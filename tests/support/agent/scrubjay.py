"""What the agent calls of Scrubjay, in the test's own process, and a provider that answers as it is told.

`fails` names calls and the errors that they raise next, one for each time; `refuses` those that always raise. An error
of `lost` is raised once the call is done: its answer got lost.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, cast

import httpx

from scrubjay.client import AsyncClient
from scrubjay.errors import NotReachedError, Problem, ScrubjayError, error_of
from scrubjay.models import (
    Appended,
    Compaction,
    Conversation,
    ImageBlock,
    MessageInput,
    Prompt,
    TextBlock,
    TrailEvent,
)
from scrubjay_agent.agent import Agent
from scrubjay_agent.channels.http import HttpChannel
from scrubjay_agent.journal.entries import Address, Received
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.outbox import Outbox, Sender
from scrubjay_agent.providers.protocol import Reply, ToolSpec
from scrubjay_agent.settings import Http, HttpToken, Model, Settings
from scrubjay_agent.tools.registry import Registry, Tool
from scrubjay_agent.turns.calling import Caller
from scrubjay_agent.turns.loop import Loop
from scrubjay_agent.turns.monitor import Monitor
from scrubjay_agent.turns.prompting import Prompting

NOW = datetime(2031, 5, 3, tzinfo=UTC)
AWAY = NotReachedError("no answer")
# Of a summary, as the service has it.
_MOST_CHARACTERS = 200_000


def refusal(status: int, *fields: str) -> ScrubjayError:
    errors = [{"field": name, "message": "is refused"} for name in fields]
    return error_of(Problem.read(status, {"title": "Refused", "errors": errors}), None, None)


class Trails:
    """`room` is how many of the newest events one answer holds."""

    def __init__(self) -> None:
        self.events: dict[str, list[TrailEvent]] = defaultdict(list)
        self.summaries: dict[str, tuple[int, str]] = {}
        self.fails: dict[str, list[Exception]] = defaultdict(list)
        self.lost: dict[str, list[Exception]] = defaultdict(list)
        self.refuses: dict[str, Callable[[str], Exception | None]] = {}
        self.room = 10_000
        self.calls: list[str] = []
        self._kept: dict[str, Appended] = {}

    async def session_create(self, *, external_id: str, **_: Any) -> None:
        self.called("create", external_id)

    async def session_append(
        self, session: str, *, messages: Sequence[MessageInput], idempotency_key: str
    ) -> Appended:
        self.called("append", session)
        if idempotency_key not in self._kept:
            trail = self.events[session]
            for one in messages:
                trail.append(_event(len(trail) + 1, one))
            self._kept[idempotency_key] = Appended(
                first_seq=len(trail) - len(messages) + 1,
                last_seq=len(trail),
                tokens=len(trail),
                compaction_due=False,
            )
        self._lose("append")
        return self._kept[idempotency_key]

    async def session_conversation(self, session: str) -> Conversation:
        self.called("conversation", session)
        since, summary = self.summaries.get(session, (0, None))
        events = [one for one in self.events[session][since:] if one.kind == "message"]
        return Conversation(
            through=len(self.events[session]),
            since=since,
            summary=summary,
            messages=events[-self.room :],
            tokens=0,
            truncated=len(events) > self.room,
            compaction_due=False,
        )

    async def session_history(self, session: str, **_: Any) -> AsyncIterator[TrailEvent]:
        self.called("history", session)
        for event in list(self.events[session]):
            yield event

    async def session_compact(
        self, session: str, *, summary: str | None = None, through: int | None = None, **_: Any
    ) -> Compaction:
        self.called("compact", session)
        if summary is None or through is None:
            return Compaction(compacted=False, messages=0, tokens=0, seq=None)
        if len(summary) > _MOST_CHARACTERS:
            raise refusal(400, "summary")
        self.summaries[session] = through, summary
        said = MessageInput(role="system", content=[TextBlock(text=summary)])
        trail = self.events[session]
        trail.append(_event(len(trail) + 1, said, kind="compaction"))
        self._lose("compact")
        return Compaction(compacted=True, messages=through, tokens=0, seq=len(trail))

    def called(self, name: str, about: str) -> None:
        self.calls.append(name)
        if self.fails[name]:
            raise self.fails[name].pop(0)
        if name in self.refuses and (error := self.refuses[name](about)) is not None:
            raise error

    def _lose(self, name: str) -> None:
        if self.lost[name]:
            raise self.lost[name].pop(0)

    def texts(self, session: str) -> list[str]:
        blocks = [block for event in self.events[session] for block in event.content]
        return [block.text for block in blocks if isinstance(block, TextBlock)]


def _event(
    seq: int, message: MessageInput, *, kind: Literal["message", "compaction"] = "message"
) -> TrailEvent:
    return TrailEvent(
        seq=seq,
        kind=kind,
        role=message.role,
        content=cast("list[Any]", message.content),
        tokens=1,
        turn=0,
        created_at=NOW,
        occurred_at=message.occurred_at,
        written_by="key",
    )


class FakeScrubjay:
    def __init__(self) -> None:
        self.sessions = Trails()

    async def prompt(self, **_: Any) -> Prompt:
        self.sessions.called("prompt", "")
        return cast(Prompt, None)

    async def allowance(self, **_: Any) -> None:
        self.sessions.called("allowance", "")

    async def record_cost(self, **_: Any) -> None:
        self.sessions.called("cost", "")

    @property
    def client(self) -> AsyncClient:
        return cast(AsyncClient, self)


class FakeModel:
    """Gives these replies, and then says `done`."""

    format: Literal["anthropic", "openai"] = "openai"
    model = "m"

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.asked: list[Sequence[MessageInput]] = []

    async def complete(
        self, prompt: Prompt, messages: Sequence[MessageInput], tools: Sequence[ToolSpec]
    ) -> Reply:
        self.asked.append(messages)
        return self._replies.pop(0) if self._replies else Reply([TextBlock(text="done")], None)

    async def close(self) -> None:
        """Nothing is open."""


class FakeAgent:
    """An agent `jay` of these, once `started`."""

    def __init__(
        self,
        *replies: Reply,
        tools: Sequence[Tool] = (),
        senders: dict[str, Sender] | None = None,
        images: Sequence[ImageBlock] = (),
    ) -> None:
        self.scrubjay, self.model = FakeScrubjay(), FakeModel(*replies)
        self.sessions = self.scrubjay.sessions
        self.settings = Settings(name="jay", model=Model(model="m", api_key_env="KEY"))
        self.settings.prompt.context_tokens = 0
        self.journal = Journal(self.scrubjay.client, "jay")
        self.outbox = Outbox(self.journal, senders or {})
        self.tools, self._images = tools, list(images)

    async def started(self) -> Agent:
        await self.journal.open()
        jay, monitor = self.scrubjay.client, Monitor()
        self.agent = Agent(
            jay,
            self.journal,
            self.settings,
            Loop(Caller(jay, self.journal, self.model, "jay"), 50, monitor),
            Prompting(jay, self.settings, folder=cast(Any, None), skills=[]),
            Registry(self.tools, 30_000),
            self.outbox,
            monitor,
            self._of_message,
            "openai",
        )
        return self.agent

    def http(self) -> httpx.AsyncClient:
        """Its HTTP channel, with the token of ada, which the environment holds as ADA_TOKEN."""
        settings = Http(tokens={"ada": HttpToken(env="ADA_TOKEN")})
        channel = HttpChannel(self.settings, settings, self.scrubjay.client, self.agent, Monitor())
        headers = {"authorization": f"Bearer {os.environ['ADA_TOKEN']}"}
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(channel.app()), base_url="http://agent/api/v1", headers=headers
        )

    async def _of_message(self, message: Received) -> list[ImageBlock]:
        return self._images


def received(key: str = "k", text: str = "go", *, user: str = "ada", channel: Any = "http") -> Received:
    return Received(
        key=key,
        session=f"jay.{user}",
        user=user,
        source="http",
        address=Address(channel, user),
        text=text,
        at=NOW,
    )
