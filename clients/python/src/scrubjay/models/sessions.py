"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionScore:
    """Why a part of what was read became an object, or did not."""

    id: str
    """Its id, unique in the tenant."""
    object_id: str | None
    """Null: it was rejected."""
    admitted: bool
    """Whether it became an object."""
    score_total: float
    """The weighted sum of the other scores."""
    score_type: float
    """How useful its type is."""
    score_novelty: float
    """How much of it the session does not hold yet."""
    score_utility: float
    """How much it says for its length."""
    score_recency: float
    """How few turns ago it is from."""
    threshold: float
    """From this total on, it is admitted."""
    content_preview: str | None
    """The first 200 characters."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admissions:
    """A page of admissions, in their order."""

    data: list[AdmissionScore]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitInput:
    """Something that the agent read or made, and that its context holds from now on."""

    content: str
    """All of it. It becomes one object for each function, class, section, hunk or value; a fault brings
    back exactly its part.
    """
    object_type: Literal[
        "conversation_phase",
        "debugging_session",
        "design_decision",
        "error_context",
        "external_reference",
        "file_context",
        "plan",
        "tool_result",
    ]
    """What kind of thing it is."""
    source_tool: str | None = None
    """The tool that it comes from, such as Read."""
    source_key: str | None = None
    """What it is a version of, such as the path of a file: another content of the same key supersedes it.
    The name of a file also tells its language.
    """
    partial: bool | None = None
    """Whether it is a part of its source, such as some lines of a file. `true`: lines that an object of
    the source holds bring it back, others become new objects, and what the part lacks stays as it is.
    `false`: it is all of the source, and a stub is left of what it lacks. By default, content that
    stands in objects of the source as it is counts as a part, and any other as all of it.
    """
    fault_when: list[str] = field(default_factory=list)
    """When the agent will need it whole again."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn_start: int | None = None
    """The first turn it is from."""
    source_turn_end: int | None = None
    """The last turn it is from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What became of one part."""

    status: Literal["created", "rejected", "superseding", "touched"]
    """`touched`: this object of the same source holds the content, or some of it. `superseding`: a new
    version. `rejected`: it names no source, and the context shows nearly all of its lines already.
    Nothing of it is kept; a host that needs it once more keeps it in its own messages.
    """
    id: str | None = None
    """The object that holds it; none if it was rejected."""
    tokens: int
    """How many tokens it takes in the block."""
    supersedes: str | None = None
    """The older version, of which a stub is left."""
    fidelity: int = 0
    """How much of it the context shows."""
    score: float | None = None
    """Of what was rejected: below the threshold of 0.35."""
    like: str | None = None
    """Of what was rejected: the object that shows most of its lines. It counts as accessed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedObjects:
    objects: list[Admitted]
    """The parts of the content, in their order; of a part of a source, first the objects that hold some of
    it.
    """
    stale: list[str]
    """Objects of the same source that the new version no longer has; a stub of each is left."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    first_seq: int
    """The number of the first message."""
    last_seq: int
    """The number of the last message."""
    tokens: int
    """The tokens of the conversation as it stands now."""
    compaction_due: bool
    """The conversation is longer than the session's `compaction_tokens`."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    compacted: bool
    """False: none was due, or no place was found between calls and their results."""
    messages: int
    """How many messages the summary stands for."""
    tokens: int
    """The tokens of the conversation as it stands now."""
    seq: int | None
    """The event that records it."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The conversation as it stands: what a host sends to its model."""

    through: int
    """The last event that it includes."""
    since: int
    """Events up to this one are no longer part of it."""
    summary: str | None
    """Stands for what compactions took out. It comes before the messages."""
    messages: list[TrailEvent]
    """In their order."""
    tokens: int
    """Of the summary and all messages."""
    truncated: bool
    """It is too long for one answer: `messages` holds the newest, and the history has the others."""
    compaction_due: bool
    """It is longer than the session's `compaction_tokens`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSession:
    data: Session
    """The answer: one object, or a page of them."""
    created: bool
    """False: the session of this `external_id` was there already, and is as it was."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedSession:
    id: str
    """Nothing of it is left: no event, no object, no fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An object that was brought back, or that answered a question."""

    id: str
    """Its id, unique in the tenant."""
    object_id: str
    """The id of an object."""
    fault_type: Literal["entropy_triggered", "full_restore", "micro_fault"]
    """`micro_fault`: a question was answered and the object stayed as it was. The others brought it back
    whole.
    """
    turn_number: int
    """How many turns had ended."""
    content_hash: str
    """The SHA-256 of the whole content, in hexadecimal. Contents that come back often are pinned for
    longer.
    """
    created_at: datetime
    """When it was stored."""
    latency_ms: int | None = None
    """How long it took."""
    question: str | None = None
    """What was asked, of a micro-fault."""
    answer: str | None = None
    """What was answered, of a micro-fault."""
    answer_tokens: int | None = None
    """Tokens of the answer."""
    avoided_tokens: int | None = None
    """Tokens that bringing the object back would have taken beyond the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """A page of faults, in their order."""

    data: list[Fault]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObject:
    """An object that a search found."""

    id: str
    """Its id, unique in the tenant."""
    number: int
    """Its number in the handles of assembled context."""
    object_type: Literal[
        "conversation_phase",
        "debugging_session",
        "design_decision",
        "error_context",
        "external_reference",
        "file_context",
        "plan",
        "tool_result",
    ]
    """What kind of thing it is."""
    source_key: str | None
    """What it is a version of, such as the path of a file."""
    current_fidelity: int
    """0: the context shows it whole. 4: not at all."""
    stub: str
    """What it is, in a line."""
    tokens_l0: int
    """What it would take whole."""
    score: float
    """The relevance, from 0 to 1."""
    passage: str
    """The part of it that matched best."""
    start_line: int | None
    """Where the object begins in its source, counted from 1."""
    end_line: int | None
    """Where it ends in its source."""
    superseded: bool
    """The session has a newer version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObjects:
    objects: list[FoundObject]
    """The most relevant first."""
    degraded: list[str]
    """What could not be searched fully, and why."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalSet:
    goal: str | None
    """What the agent works towards now."""
    raised: list[str]
    """Objects about the goal that came up whole, because the budget allows it."""
    kept: list[str]
    """Objects about the goal that are whole already. They count as used in this turn."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A page of the trail, in order."""

    data: list[TrailEvent]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBlock:
    """An image. Answers hold its hash and size in place of `data`."""

    type: Literal["image"] = field(default="image", init=False)
    """Which kind of block it is."""
    media_type: str
    """The kind of image, such as image/png."""
    data: str | None = None
    """In base64. It is not stored."""
    sha256: str | None = None
    """The SHA-256 of its bytes, in hexadecimal."""
    bytes: int | None = None
    """How many bytes it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptObject:
    """What became of an object that was kept."""

    id: str
    """What it is among the user's persistent objects."""
    created: bool
    """False: the user had the same content already, and it was reinforced, unless the key may not
    reinforce it.
    """
    confidence: float
    """How certain it is, up to 1."""
    reinforcements: int
    """How often it was kept again or confirmed."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedObject:
    """An object without its text."""

    id: str
    """Its id, unique in the tenant."""
    object_type: Literal[
        "conversation_phase",
        "debugging_session",
        "design_decision",
        "error_context",
        "external_reference",
        "file_context",
        "plan",
        "tool_result",
    ]
    """What kind of thing it is."""
    source_key: str | None
    """What it is a version of, such as the path of a file."""
    segment: int
    """Which part of its source it is, counted from 0."""
    current_fidelity: int
    """0: whole. 1: a detailed summary. 2: a compact one. 3: one line. 4: nothing."""
    pinned: bool
    """It keeps its fidelity, except in an emergency."""
    pinned_until: int | None
    """The last turn in which it is pinned; null with `pinned`: until it is unpinned."""
    superseded_by: str | None
    """The newer version of it."""
    stub: str
    """One line that stands for it."""
    tokens_l0: int
    """Tokens of all of it."""
    tokens_l1: int | None
    """Tokens of the detailed summary; null: there is none."""
    tokens_l2: int | None
    """Tokens of the compact summary; null: there is none."""
    tokens_l3: int
    """Tokens of the line that stands for it."""
    fault_count: int
    """How often it was brought back whole."""
    created_turn: int
    """How many turns had ended when it came."""
    last_accessed_turn: int
    """How many turns had ended when it was last used."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedObjects:
    """A page of objects, in the order in which they came."""

    data: list[ListedObject]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageInput:
    """A message of the conversation. `text` is short for content that is one text."""

    role: Literal["assistant", "system", "tool", "user"]
    """Who speaks."""
    content: list[TextBlock | ToolUse | ToolResult | ImageBlock] | str | None = None
    """A text, or a list of blocks: text, tool_use, tool_result and image."""
    text: str | None = None
    """In place of `content`."""
    occurred_at: datetime | None = None
    """When it was said, by default now. A time without an offset is UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroFault:
    """The lines that answer. Their object stays as it is: bringing it back would take more tokens."""

    answer: str | None
    """Null: nothing that the session holds answers it."""
    model_answer: str | None
    """The same in a model's words, where the installation has one: `answer` is the lines that prove it."""
    object_id: str | None
    """The object that answers."""
    object_type: (
        Literal[
            "conversation_phase",
            "debugging_session",
            "design_decision",
            "error_context",
            "external_reference",
            "file_context",
            "plan",
            "tool_result",
        ]
        | None
    )
    """What kind of thing it is."""
    source_key: str | None
    """What it is a version of, such as the path of a file."""
    first_line: int | None
    """Where the answer begins in its source."""
    last_line: int | None
    """Where it ends."""
    current_fidelity: int | None
    """How much of the object the context shows."""
    answer_tokens: int
    """Tokens of the answer."""
    avoided_tokens: int
    """Tokens that bringing the object back would have taken beyond the answer."""
    recorded: bool
    """It stands in the session's faults. A key that may not change the session asks without a trace."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedAnswer:
    data: NumberedObject
    """The answer: one object, or a page of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedObject:
    """An object as a handle of assembled context names it. All of it, whatever the context of its session
    shows.
    """

    id: str
    """Its id, unique in the tenant."""
    number: int
    """Its number in the handles of assembled context."""
    session_id: str
    """The session that it belongs to."""
    object_type: Literal[
        "conversation_phase",
        "debugging_session",
        "design_decision",
        "error_context",
        "external_reference",
        "file_context",
        "plan",
        "tool_result",
    ]
    """What kind of thing it is."""
    source_tool: str | None
    """The tool that it comes from."""
    source_key: str | None
    """What it is a version of, such as the path of a file."""
    content: str
    """All of it."""
    current_fidelity: int
    """0: the context of the session shows it whole. 4: not at all."""
    tags: list[str]
    """Words to find it by, and to narrow a search to."""
    superseded_by: str | None
    """The newer version of it."""
    created_at: datetime
    """When it was stored."""
    start_line: int | None
    """Where it begins in its source, counted from 1."""
    end_line: int | None
    """Where it ends in its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectAnswer:
    data: SemanticObject
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """How much of its budget a session's context takes."""

    zone: Literal["caution", "critical", "emergency", "normal", "warning"]
    """How pressing it is: `normal` below half of the budget, `emergency` from 95 %."""
    share: float
    """The tokens over the budget."""
    total_context_tokens: int
    """Of every object at its fidelity."""
    block_tokens: int
    """Of the block as it is now. It differs until a batch makes it anew."""
    token_budget: int
    """Tokens that it may hold."""
    objects_at_l0: int
    """Objects that are whole."""
    objects_at_l1: int
    """Objects of which a detailed summary is left."""
    objects_at_l2: int
    """Objects of which a compact summary is left."""
    objects_at_l3: int
    """Objects of which a line is left."""
    objects_evicted: int
    """Objects of which nothing is left in the context."""
    objects_pinned: int
    """Objects that are pinned."""
    turn: int
    """How many turns have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    through: int
    """The last event of the trail."""
    events: int
    """How many events it was made of."""
    changed: bool
    """The snapshot did not say what the trail says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    data: Relationship
    """The answer: one object, or a page of them."""
    created: bool
    """False: it was there already, and has the metadata that was sent now."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """An edge between two objects of a session."""

    id: str
    """Its id, unique in the tenant."""
    source_id: str
    """Where it begins."""
    target_id: str
    """Where it ends."""
    relationship: Literal["caused_by", "depends_on", "parent_of", "references", "supersedes"]
    """What the source has to do with the target."""
    metadata: dict[str, str]
    """What the host said of it."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationships:
    """A page of relationships, the earliest first."""

    data: list[Relationship]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    sessions: list[str]
    """Their conversations begin anew. Their trails keep everything."""
    more: bool
    """There are more: send it again."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """An object that is whole again."""

    data: SemanticObject
    """The answer: one object, or a page of them."""
    restored: bool
    """False: it was whole already."""
    related: list[str]
    """Objects within two relations that came up with it, because the budget allows it."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticObject:
    """An object of a session's context."""

    id: str
    """Its id, unique in the tenant."""
    object_type: Literal[
        "conversation_phase",
        "debugging_session",
        "design_decision",
        "error_context",
        "external_reference",
        "file_context",
        "plan",
        "tool_result",
    ]
    """What kind of thing it is."""
    source_tool: str | None
    """The tool that it comes from."""
    source_key: str | None
    """What it is a version of, such as the path of a file."""
    segment: int
    """Which part of its source it is, counted from 0."""
    current_fidelity: int
    """0: whole. 1: a detailed summary. 2: a compact one. 3: one line. 4: nothing."""
    pinned: bool
    """It keeps its fidelity, except in an emergency."""
    pinned_until: int | None
    """The last turn in which it is pinned; null with `pinned`: until it is unpinned."""
    pin_reason: str | None
    """Why it is pinned."""
    superseded_by: str | None
    """The newer version of it."""
    content: str | None
    """At its fidelity; null if it is evicted."""
    stub: str
    """One line that stands for it."""
    losses_l1: list[str]
    """What the detailed summary does not say."""
    losses_l2: list[str]
    """What the compact summary does not say, and the detailed one does."""
    can_answer_l1: list[str]
    """Questions that the detailed summary answers."""
    can_answer_l2: list[str]
    """Questions that the compact summary answers."""
    fault_when: list[str]
    """When the agent needs it whole."""
    key_entities: list[str]
    """Names in it, of files and functions for example."""
    tags: list[str]
    """Words to find it by, and to narrow a search to."""
    tokens_l0: int
    """Tokens of all of it."""
    tokens_l1: int | None
    """Tokens of the detailed summary; null: there is none."""
    tokens_l2: int | None
    """Tokens of the compact summary; null: there is none."""
    tokens_l3: int
    """Tokens of the line that stands for it."""
    access_count: int
    """How often its agent read it."""
    fault_count: int
    """How often it was brought back whole."""
    micro_fault_count: int
    """How often a question was answered from it."""
    created_turn: int
    """How many turns had ended when it came."""
    last_accessed_turn: int
    """How many turns had ended when it was last used."""
    created_at: datetime
    """When it was stored."""
    last_accessed: datetime
    """When it was last used."""
    source_turn_start: int | None
    """The first turn it is from."""
    source_turn_end: int | None
    """The last turn it is from."""
    start_line: int | None
    """Where it begins in its source, counted from 1."""
    end_line: int | None
    """Where it ends in its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session, and how much happened in it."""

    id: str
    """Its id, unique in the tenant."""
    external_id: str
    """The host's own name for it."""
    status: Literal["abandoned", "active", "completed"]
    """Only an active one takes events, objects and turns."""
    agent_name: str | None
    """The agent."""
    mission_id: str | None
    """The mission."""
    user_id: str | None
    """The user whom it is about, or who said it."""
    model: str
    """The model that it runs on."""
    goal: str | None
    """What the agent works towards now."""
    config: SessionConfig
    """Its limits."""
    total_turns: int
    """How many turns have ended."""
    total_objects: int
    """How many objects it ever had."""
    total_faults: int
    """Objects that were brought back whole."""
    total_micro_faults: int
    """Questions that were answered without bringing an object back."""
    last_seq: int
    """The number of the last event of its trail."""
    created_at: datetime
    """When it was stored."""
    last_active_at: datetime
    """When something last happened in it."""
    closed_at: datetime | None
    """When it ended; null while it is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAnswer:
    data: Session
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """Limits of one session."""

    token_budget: int = 100000
    """The tokens that its context may take. Pressure is the share of it that is taken. Default: `100000`."""
    compaction_tokens: int = 150000
    """Above so many tokens of conversation, a compaction is due. Default: `150000`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """The objects of a session within its budget, in the order in which they came."""

    context_block: str
    """Each object under a header `[object:id time type level nonce]`. Text that was sent once keeps its
    bytes and its place until the end of a turn makes the block anew.
    """
    nonce: str
    """The last word of every header. No text of the block holds it."""
    objects: list[ShownObject]
    """In the order of the block."""
    total_tokens: int
    """Tokens that it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """A page of sessions, newest first."""

    data: list[Session]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownObject:
    """An object as the block shows it."""

    id: str
    """Its id, unique in the tenant."""
    object_type: Literal[
        "conversation_phase",
        "debugging_session",
        "design_decision",
        "error_context",
        "external_reference",
        "file_context",
        "plan",
        "tool_result",
    ]
    """What kind of thing it is."""
    fidelity: int
    """How the block shows it."""
    current_fidelity: int
    """How the next block shows it, once a batch has made it anew."""
    tokens: int
    """How many tokens it takes in the block."""
    pinned: bool = False
    """It keeps its fidelity, except in an emergency."""
    source_key: str | None = None
    """What it is a version of, such as the path of a file."""
    key_entities: list[str] = field(default_factory=list)
    """Names in it, of files and functions for example."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    type: Literal["text"] = field(default="text", init=False)
    """Which kind of block it is."""
    text: str
    """What is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    type: Literal["tool_result"] = field(default="tool_result", init=False)
    """Which kind of block it is."""
    tool_use_id: str
    """The call that it answers."""
    content: str = ""
    """The text. Default: `""`."""
    is_error: bool = False
    """Default: `false`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A call of a tool by the assistant."""

    type: Literal["tool_use"] = field(default="tool_use", init=False)
    """Which kind of block it is."""
    id: str
    """Its result names it."""
    name: str
    """Its name, which need not be unique."""
    input: dict[str, Any] = field(default_factory=dict)
    """The arguments of the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailEvent:
    """An event of the trail. Nothing changes or removes it, except that the session is erased."""

    seq: int
    """Its number in the session. No number is missing."""
    kind: Literal["compaction", "message", "reset", "tool_call", "tool_result"]
    """A message, one that calls a tool, a tool's result, or what the service did."""
    role: Literal["assistant", "system", "tool", "user"]
    """Who speaks."""
    content: list[TextBlock | ToolUse | ToolResult | ImageBlock]
    """The text."""
    tokens: int
    """How many tokens it takes in the block."""
    turn: int
    """How many turns had ended before it."""
    created_at: datetime
    """When it was stored."""
    occurred_at: datetime | None = None
    """When it was said, as its writer stated."""
    written_by: str
    """The key that wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A change of an object's fidelity."""

    id: str
    """Its id, unique in the tenant."""
    object_id: str
    """The id of an object."""
    from_fidelity: int
    """How much of it the context held."""
    to_fidelity: int
    """How much of it the context holds from then on."""
    trigger: Literal["access", "cooperative", "fault", "goal_change", "pressure"]
    """`pressure`: a batch. `access`: it was read again, or a new version came. `cooperative`: it was
    released.
    """
    turn_number: int
    """How many turns had ended."""
    pressure_zone: Literal["caution", "critical", "emergency", "normal", "warning"] | None
    """How pressing it was before the change."""
    token_count: int | None
    """Tokens of all objects before the change."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions:
    """A page of changes of fidelity, in their order."""

    data: list[Transition]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    turn: int
    """How many turns have ended."""
    batch: bool
    """The block was made anew."""
    moved: int
    """How many objects changed their fidelity at the end of the turn."""
    pressure: Pressure
    """How full the context is now."""
    admitted: list[AdmittedObjects]
    """What became of each content that came in, in their order."""
    context: SessionContext | None
    """With which the next turn begins, where it was asked for."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrelated:
    id: str
    """The relationship that is gone. Its objects are as they were."""
