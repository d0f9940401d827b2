from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from shared.bindings import LEFT_OUT, OwnAgent, OwnMission
from shared.provenance import NOT_PAST, AboutCode, Seq, SourceKind, lies_ahead
from shared.text import AnyContent, BigId, Language, Name, TtlHours, mission_problem

Role = Literal["user", "assistant", "tool", "system"]
Store = Literal["psychic_cache", "agent_memory"]
Handle = Annotated[str, Meta(pattern=r"^(?:cache|own):[1-9][0-9]{0,17}$")]
KeptStatus = Literal["created", "updated", "pending", "skipped", "refused"]


class Message(AboutCode, kw_only=True):
    role: Annotated[
        Role, Meta(description="Who spoke: a user, the agent (`assistant`), a tool, or the system.")
    ]
    content: Annotated[AnyContent, Meta(description="What was said.")]
    name: Annotated[Name | None, Meta(description="The speaker's name, when the role says too little.")] = (
        None
    )
    occurred_at: Annotated[
        datetime | None, Meta(description="When it was said. Left out, the request's `occurred_at`.")
    ] = None
    seq: Annotated[
        Seq | None, Meta(description="Its number in the session. Left out, counted from the request's `seq`.")
    ] = None

    def checks(self) -> Iterator[tuple[str, str]]:
        if lies_ahead(self.occurred_at):
            yield "occurred_at", NOT_PAST


class RememberInput(AboutCode, kw_only=True):
    """Either `text` or `messages`."""

    caller: Annotated[OwnAgent, Meta(description="The agent that remembers.")] = LEFT_OUT
    text: Annotated[AnyContent | None, Meta(description="One thing to remember.")] = None
    messages: Annotated[
        list[Message], Meta(max_length=100, description="A conversation, or a part of it, in order.")
    ] = field(default_factory=list)
    user_id: Annotated[
        Name | None,
        Meta(description="The user it is about, or who said it. A purge of the user erases it."),
    ] = None
    mission_namespace: Annotated[
        OwnMission | None,
        Meta(description="The mission it happened in. Other agents in the mission see it."),
    ] = None
    session_id: Annotated[Name | None, Meta(description="The session it was said in.")] = None
    seq: Annotated[Seq | None, Meta(description="The first message's number in the session.")] = None
    occurred_at: Annotated[datetime | None, Meta(description="When it happened. Left out, now.")] = None
    speaker: Annotated[Name | None, Meta(description="Who said `text`.")] = None
    language: Annotated[
        Language | None, Meta(description="The language of what was said. When left out, it is detected.")
    ] = None
    source_kind: Annotated[
        SourceKind | None,
        Meta(description="The kind of source of `text`, `agent` by default. A message's role says it."),
    ] = None
    dispatch_id: Annotated[BigId | None, Meta(description="The dispatch it belongs to.")] = None
    ttl_hours: Annotated[
        TtlHours | None,
        Meta(
            description="Keep it in the mission for so long. Left out, 30 days (or as the installation says) there; "
            "an agent keeps what it learned until it is forgotten."
        ),
    ] = None
    recalled_from: Annotated[
        BigId | None, Meta(description="The assembly that led to it. This counts as weak feedback.")
    ] = None
    supersedes: Annotated[
        Handle | None,
        Meta(
            description="The handle of what no longer holds, such as `cache:12` or `own:3`; `text` goes to its store."
        ),
    ] = None

    def of_each_item(self) -> dict[str, Any]:
        """The fields that each item has as the request gives them."""
        names = (
            "user_id",
            "language",
            "session_id",
            "dispatch_id",
            "recalled_from",
        )
        return {name: getattr(self, name) for name in names}

    def checks(self) -> Iterator[tuple[str, str]]:
        if (self.text is None) == (not self.messages):
            yield "text", "give either text or messages"
        for name in ("speaker", "source_kind"):
            if self.messages and getattr(self, name) is not None:
                yield name, "belongs to text; a message says it by its name and role"
        for name in ("paths", "symbols", "step"):
            if self.messages and getattr(self, name):
                yield name, "belongs to text; each message names its own"
        if self.supersedes is not None and self.messages:
            yield "supersedes", "belongs to text"
        if (
            self.supersedes is not None
            and self.supersedes.startswith("cache:")
            and not self.mission_namespace
        ):
            yield "supersedes", "an entry is superseded in its mission: say which in mission_namespace"
        if lies_ahead(self.occurred_at):
            yield "occurred_at", NOT_PAST
        if self.mission_namespace is not None and (problem := mission_problem(self.mission_namespace)):
            yield "mission_namespace", problem


class Copy(msgspec.Struct, omit_defaults=True):
    """What is kept in long-term memory besides, because it lasts beyond its mission."""

    store: Annotated[str, Meta(description="`memory`.")]
    kind: Annotated[str, Meta(description="`preference`, `commitment` or `episode`.")]
    status: Annotated[
        Literal["created", "known", "refused"],
        Meta(description="`known`: it was there. `refused`: it is not kept, and `why` says the reason."),
    ]
    why: Annotated[str, Meta(description="The rule that found it, or why it is not kept.")]
    id: int | None = None
    handle: Annotated[str | None, Meta(description="The name that a context block gives it.")] = None
    scope: Annotated[str | None, Meta(description="Who finds it.")] = None


class StatedFact(msgspec.Struct, omit_defaults=True):
    """A fact that a message states, as `/api/kg` holds it besides."""

    subject: str
    predicate: str
    object: str
    status: Annotated[
        Literal["created", "known", "extended", "refused"],
        Meta(description="`known`: it was there. `refused`: it is not stated, and `why` says the reason."),
    ]
    why: Annotated[str, Meta(description="The rule that found it, or why it is not stated.")]
    id: int | None = None
    handle: Annotated[str | None, Meta(description="The name that a context block gives it.")] = None
    scope: Annotated[str | None, Meta(description="Who finds it.")] = None
    closed: Annotated[list[int], Meta(description="The facts that no longer hold because of it.")] = []
    disputes: Annotated[
        list[int],
        Meta(description="The facts that it contradicts and could not close: they stand beside it."),
    ] = []


class Kept(msgspec.Struct, omit_defaults=True):
    """What happened to a message, or to a piece of a long one."""

    item: Annotated[int, Meta(description="The message's index in the request; 0 for `text`.")]
    status: Annotated[
        KeptStatus,
        Meta(
            description="`updated`: it was known and is now confirmed. `pending`: stored, and later merged if known."
        ),
    ]
    why: Annotated[str, Meta(description="The rule that chose its place, or why it is not kept.")]
    expires_at: Annotated[
        datetime | None,
        Meta(description="When its mission drops it. Null for what an agent keeps until it is forgotten."),
    ]
    piece: Annotated[int, Meta(description="The piece's index in a long message, from 0.")] = 0
    store: Store | None = None
    id: int | None = None
    handle: Annotated[str | None, Meta(description="The name that a context block gives it.")] = None
    kind: Annotated[str | None, Meta(description="Its context_type or memory_type.")] = None
    review: Annotated[
        Literal["pending"] | None,
        Meta(description="It waits for a reviewer, and its id is negative: no item has it yet."),
    ] = None
    also: Annotated[
        Copy | None, Meta(description="Where else it is kept, if it lasts: in long-term memory.")
    ] = None
    facts: Annotated[
        list[StatedFact], Meta(description="The facts that it states, and what became of them in the graph.")
    ] = []


class RememberResult(msgspec.Struct):
    """The outcomes, in the order of the request."""

    items: list[Kept]
    """What became of each message, or of each piece of a long one."""
    stored: Annotated[int, Meta(description="How many items were stored or confirmed.")]
