from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from shared.bindings import LEFT_OUT, OwnAgent, OwnMission
from shared.body import Body
from shared.provenance import Seq, SourceKind
from shared.text import BigId, Content, Name, mission_problem

Role = Literal["user", "assistant", "tool", "system"]
Store = Literal["psychic_cache", "agent_memory"]
KeptStatus = Literal["created", "updated", "pending", "skipped", "refused"]


class Message(Body, kw_only=True):
    role: Annotated[
        Role, Meta(description="Who spoke: a user, the agent (`assistant`), a tool, or the system.")
    ]
    content: Annotated[Content, Meta(description="What was said.")]
    name: Annotated[Name | None, Meta(description="The speaker's name, where the role says too little.")] = (
        None
    )
    occurred_at: Annotated[
        datetime | None, Meta(description="When it was said; else that of the request.")
    ] = None
    seq: Annotated[Seq | None, Meta(description="Its number in the session; else counted on from `seq`.")] = (
        None
    )


class RememberInput(Body, kw_only=True):
    """Either `text` or `messages`."""

    caller: Annotated[OwnAgent, Meta(description="The agent that remembers.")] = LEFT_OUT
    text: Annotated[Content | None, Meta(description="One thing to remember.")] = None
    messages: Annotated[
        list[Message], Meta(max_length=100, description="A conversation, or a part of it, in order.")
    ] = field(default_factory=list)
    user_id: Annotated[
        Name | None,
        Meta(description="The user whom it is about, or who said it; a purge of the user erases it."),
    ] = None
    mission_namespace: Annotated[
        OwnMission | None,
        Meta(description="The mission that it happened in: other agents of the mission see it."),
    ] = None
    session_id: Annotated[Name | None, Meta(description="The session that it was said in.")] = None
    seq: Annotated[Seq | None, Meta(description="Number of the first message in its session.")] = None
    occurred_at: Annotated[datetime | None, Meta(description="When it happened; else now.")] = None
    speaker: Annotated[Name | None, Meta(description="Who said `text`.")] = None
    source_kind: Annotated[
        SourceKind | None,
        Meta(description="How `text` came to be known; `agent` by default. Messages say it by their role."),
    ] = None
    dispatch_id: Annotated[BigId | None, Meta(description="The dispatch that it belongs to.")] = None
    recalled_from: Annotated[
        BigId | None, Meta(description="The assembly that led to it, which counts as weak feedback.")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.text is None) == (not self.messages):
            raise ValueError("text: give either text or messages")
        if self.messages and (self.speaker is not None or self.source_kind is not None):
            which = "speaker" if self.speaker is not None else "source_kind"
            raise ValueError(f"{which}: is of text; a message says it by its name and role")
        if self.mission_namespace is not None and (problem := mission_problem(self.mission_namespace)):
            raise ValueError(f"mission_namespace: {problem}")


class Kept(msgspec.Struct, omit_defaults=True):
    """What became of a message, or of a piece of a long one."""

    item: Annotated[int, Meta(description="Place of the message in the request; 0 for `text`.")]
    status: Annotated[
        KeptStatus,
        Meta(
            description="`updated`: it was known and is confirmed. `pending`: stored; whether it was known shows later."
        ),
    ]
    why: Annotated[str, Meta(description="The rule that chose its place, or the reason it has none.")]
    piece: Annotated[int, Meta(description="Which piece of a long message, from 0.")] = 0
    store: Store | None = None
    id: int | None = None
    handle: Annotated[str | None, Meta(description="How a block of context names it.")] = None
    kind: Annotated[str | None, Meta(description="Its context_type or memory_type.")] = None


class RememberResult(msgspec.Struct):
    """In the order of the request."""

    items: list[Kept]
    stored: Annotated[int, Meta(description="How many items were stored or confirmed.")]
