"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from scrubjay._call import Call, PagedCall, fields, path
from scrubjay.models import (
    Admissions,
    AdmissionScore,
    AdmitInput,
    AdmittedObjects,
    Appended,
    Compaction,
    Conversation,
    CreatedSession,
    DeletedSession,
    Fault,
    Faults,
    FoundObjects,
    GoalSet,
    History,
    KeptObject,
    Language,
    ListedObject,
    ListedObjects,
    MessageInput,
    MicroFault,
    NumberedAnswer,
    ObjectAnswer,
    Pressure,
    Rebuilt,
    Related,
    Relationship,
    Relationships,
    Reset,
    Restored,
    Session,
    SessionAnswer,
    SessionConfig,
    SessionContext,
    Sessions,
    TrailEvent,
    Transition,
    Transitions,
    TurnEnded,
    Unrelated,
)


def session_create(
    *,
    external_id: str | None = None,
    agent_name: str | None = None,
    mission_id: str | None = None,
    user_id: str | None = None,
    model: str | None = None,
    config: SessionConfig | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[CreatedSession]:
    """Begin a session, or resume the one with the same `external_id`, agent, mission and user.

    Args:
        external_id: The host's own name for it, unique in the tenant. Every path takes it in place of
            the id.
        agent_name: The agent whose session it is.
        mission_id: The mission it works on. A purge of the mission erases it.
        user_id: The user it is with. A purge of the user erases it.
        model: The model that the agent runs on.
        config: Its limits.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/sessions",
        answer=CreatedSession,
        seconds=5.0,
        repeatable=True,
        body=fields(
            external_id=external_id,
            agent_name=agent_name,
            mission_id=mission_id,
            user_id=user_id,
            model=model,
            config=config,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_id"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_list(
    *,
    agent_name: str | None = None,
    mission_id: str | None = None,
    user_id: str | None = None,
    status: Literal["abandoned", "active", "completed"] | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> PagedCall[Sessions, Session]:
    """List sessions, newest first. A key that is bound to an agent or to missions sees only their
    sessions.

    Args:
        agent_name: Of this agent only.
        mission_id: The mission's name.
        user_id: Only sessions with this user.
        status: Of this status only.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/sessions",
        answer=Sessions,
        seconds=2.0,
        repeatable=True,
        query={
            "agent_name": agent_name,
            "mission_id": mission_id,
            "user_id": user_id,
            "status": status,
            "cursor": cursor,
            "limit": limit,
            "agent": agent,
            "mission": mission,
        },
        timeout=timeout,
    )


def session_numbered_object(
    number: int,
    *,
    timeout: float | None = None,
) -> Call[NumberedAnswer]:
    """Get all of an object by the number in its handle, `object:<number>`. This is no fault: its fidelity
    stays.

    Args:
        number: The number of a handle `object:<number>`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/sessions/all/objects/{number}", number=number),
        answer=NumberedAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def session_reset(
    *,
    session_id: str | None = None,
    agent_name: str | None = None,
    all: bool | None = None,
    consolidate: bool | None = None,
    agent: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[Reset]:
    """Begin conversations anew: of one session, of an agent's sessions, or of all. Their trails keep
    everything.

    Args:
        session_id: A session, by its id or its external id.
        agent_name: The active sessions of this agent.
        all: Every active session that the key may change. Default: `false`.
        consolidate: Learn from them soon afterwards, as `/api/memory/consolidate` does. Default:
            `false`.
        agent: Short for `agent_name`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/sessions/reset",
        answer=Reset,
        seconds=5.0,
        repeatable=True,
        body=fields(
            session_id=session_id, agent_name=agent_name, all=all, consolidate=consolidate, agent=agent
        ),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_get(
    session_id: str,
    *,
    timeout: float | None = None,
) -> Call[SessionAnswer]:
    """Get a session by its id or its external id.

    Args:
        session_id: The session's name.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/sessions/{session_id}", session_id=session_id),
        answer=SessionAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def session_delete(
    session_id: str,
    *,
    timeout: float | None = None,
) -> Call[DeletedSession]:
    """Erase a session with its trail, its objects and their faults. The timeline and costs forget its
    name.

    Args:
        session_id: The session's name.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path=path("/api/sessions/{session_id}", session_id=session_id),
        answer=DeletedSession,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def session_admissions(
    session_id: str,
    *,
    object_id: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Admissions, AdmissionScore]:
    """List what was admitted or rejected, in order, with the parts of each score.

    Args:
        session_id: The session's name.
        object_id: Only of this object.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/sessions/{session_id}/admissions", session_id=session_id),
        answer=Admissions,
        seconds=2.0,
        repeatable=True,
        query={"object_id": object_id, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def session_compact(
    session_id: str,
    *,
    summary: str | None = None,
    through: int | None = None,
    force: bool | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[Compaction]:
    """Put a summary in the place of the oldest two thirds of the conversation. Does nothing when none is
    due.

    Args:
        session_id: The session's name.
        summary: What to say in their place. By default the service extracts the first sentences of each
            message.
        through: Summarise up to this event, which `summary` was written for; by default the oldest two
            thirds.
        force: Also when no compaction is due. Default: `false`.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/compact", session_id=session_id),
        answer=Compaction,
        seconds=5.0,
        repeatable=True,
        body=fields(summary=summary, through=through, force=force),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_complete(
    session_id: str,
    *,
    status: Literal["abandoned", "completed"] | None = None,
    consolidate: bool | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[SessionAnswer]:
    """Close a session. It can still be read, searched and asked, but takes no more events, objects or
    turns.

    Args:
        session_id: The session's name.
        status: `abandoned`: it ended without an end. Default: `"completed"`.
        consolidate: Learn from it soon afterwards, as `/api/memory/consolidate` does. Default: `false`.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/complete", session_id=session_id),
        answer=SessionAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(status=status, consolidate=consolidate),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_context(
    session_id: str,
    *,
    timeout: float | None = None,
) -> Call[SessionContext]:
    """The context of a session as one block. Between batches it only grows at its end, which keeps a
    prompt's cache.

    Args:
        session_id: The session's name.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/sessions/{session_id}/context", session_id=session_id),
        answer=SessionContext,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def session_conversation(
    session_id: str,
    *,
    timeout: float | None = None,
) -> Call[Conversation]:
    """Resume a session: its messages since the last reset, and the summary of what compactions took out.

    Args:
        session_id: The session's name.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/sessions/{session_id}/conversation", session_id=session_id),
        answer=Conversation,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def session_append(
    session_id: str,
    *,
    messages: Sequence[MessageInput],
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[Appended]:
    """Add messages to the trail of a session: what was said, calls of tools, and their results. The order
    of arrival is their order. The bytes of images are not stored.

    Args:
        session_id: The session's name.
        messages: They get the next numbers of the session's trail.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/events", session_id=session_id),
        answer=Appended,
        seconds=5.0,
        repeatable=True,
        body=fields(messages=messages),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_faults(
    session_id: str,
    *,
    object_id: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Faults, Fault]:
    """List what was brought back and what was asked, in order.

    Args:
        session_id: The session's name.
        object_id: Only of this object.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/sessions/{session_id}/faults", session_id=session_id),
        answer=Faults,
        seconds=2.0,
        repeatable=True,
        query={"object_id": object_id, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def session_goal(
    session_id: str,
    *,
    goal: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[GoalSet]:
    """Say what the agent works towards. What the session holds about it comes up as far as there is room,
    and stays.

    Args:
        session_id: The session's name.
        goal: What the agent works towards now; none ends the goal.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/goal", session_id=session_id),
        answer=GoalSet,
        seconds=5.0,
        repeatable=True,
        body=fields(goal=goal),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_history(
    session_id: str,
    *,
    full: bool | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[History, TrailEvent]:
    """Read everything that happened in a session, in order, also what a compaction or a reset took out.

    Args:
        session_id: The session's name.
        full: With the calls of tools and their results.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/sessions/{session_id}/history", session_id=session_id),
        answer=History,
        seconds=2.0,
        repeatable=True,
        query={"full": full, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def session_admit(
    session_id: str,
    *,
    content: str,
    object_type: Literal[
        "conversation_phase",
        "debugging_session",
        "design_decision",
        "error_context",
        "external_reference",
        "file_context",
        "plan",
        "tool_result",
    ],
    source_tool: str | None = None,
    source_key: str | None = None,
    partial: bool | None = None,
    fault_when: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    source_turn_start: int | None = None,
    source_turn_end: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[AdmittedObjects]:
    """Take something into a session's context: a file that was read, the result of a tool, a decision. The
    same content of the same source is only touched. Another content supersedes the older one, of which
    a line is left.

    Args:
        session_id: The session's name.
        content: All of it. It becomes one object for each function, class, section, hunk or value; a
            fault brings back exactly its part.
        object_type: What kind of thing it is.
        source_tool: The tool that it comes from, such as Read.
        source_key: What it is a version of, such as the path of a file: another content of the same key
            supersedes it. The name of a file also tells its language.
        partial: Whether it is a part of its source, such as some lines of a file. `true`: lines that an
            object of the source holds bring it back, others become new objects, and what the part lacks
            stays as it is. `false`: it is all of the source, and a stub is left of what it lacks. By
            default, content that stands in objects of the source as it is counts as a part, and any
            other as all of it.
        fault_when: When the agent will need it whole again.
        tags: Words to find it by, and to narrow a search to.
        source_turn_start: The first turn it is from.
        source_turn_end: The last turn it is from.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/objects", session_id=session_id),
        answer=AdmittedObjects,
        seconds=5.0,
        repeatable=True,
        body=fields(
            content=content,
            object_type=object_type,
            source_tool=source_tool,
            source_key=source_key,
            partial=partial,
            fault_when=fault_when,
            tags=tags,
            source_turn_start=source_turn_start,
            source_turn_end=source_turn_end,
        ),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_objects(
    session_id: str,
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[ListedObjects, ListedObject]:
    """List a session's objects in the order in which they came, evicted ones too, without their texts.

    Args:
        session_id: The session's name.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/sessions/{session_id}/objects", session_id=session_id),
        answer=ListedObjects,
        seconds=2.0,
        repeatable=True,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def session_object(
    session_id: str,
    object_id: str,
    *,
    fidelity: int | None = None,
    timeout: float | None = None,
) -> Call[ObjectAnswer]:
    """Get an object as the context shows it, or as it would at another fidelity. A fault brings it back
    whole.

    Args:
        session_id: The session's name.
        object_id: The id of an object of the session.
        fidelity: How much of it `content` holds: 0 all, 1 and 2 its summaries, 3 one line.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path(
            "/api/sessions/{session_id}/objects/{object_id}", session_id=session_id, object_id=object_id
        ),
        answer=ObjectAnswer,
        seconds=2.0,
        repeatable=True,
        query={"fidelity": fidelity},
        timeout=timeout,
    )


def session_fault(
    session_id: str,
    object_id: str,
    *,
    fault_type: Literal["entropy_triggered", "full_restore"] | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[Restored]:
    """Bring an object back whole, byte for byte, and pin it for a while. What it depends on comes up with
    it.

    Args:
        session_id: The session's name.
        object_id: The id of an object of the session.
        fault_type: `entropy_triggered`: the host's model was uncertain without it. Default:
            `"full_restore"`.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path(
            "/api/sessions/{session_id}/objects/{object_id}/fault", session_id=session_id, object_id=object_id
        ),
        answer=Restored,
        seconds=5.0,
        repeatable=True,
        body=fields(fault_type=fault_type),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_persist(
    session_id: str,
    object_id: str,
    *,
    content: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[KeptObject]:
    """Keep an object for the user of its session. It outlives the session, and later sessions with the
    user find it. The same content for the same user is kept once: to keep it again reinforces it.
    Nobody but the session's user can be named.

    Args:
        session_id: The session's name.
        object_id: The id of an object of the session.
        content: What of it is worth keeping, in the agent's own words. When left out, the object is
            kept whole.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path(
            "/api/sessions/{session_id}/objects/{object_id}/persist",
            session_id=session_id,
            object_id=object_id,
        ),
        answer=KeptObject,
        seconds=5.0,
        repeatable=True,
        body=fields(content=content),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_pin(
    session_id: str,
    object_id: str,
    *,
    reason: str | None = None,
    turns: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[ObjectAnswer]:
    """Keep an object as it is, except in an emergency.

    Args:
        session_id: The session's name.
        object_id: The id of an object of the session.
        reason: Why it must stay.
        turns: For so many turns; by default until it is unpinned.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path(
            "/api/sessions/{session_id}/objects/{object_id}/pin", session_id=session_id, object_id=object_id
        ),
        answer=ObjectAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(reason=reason, turns=turns),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_release(
    session_id: str,
    object_id: str,
    *,
    fidelity: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[ObjectAnswer]:
    """Say that an object is no longer needed. A line of it is left, and a fault brings it back.

    Args:
        session_id: The session's name.
        object_id: The id of an object of the session.
        fidelity: What to leave of it: 1 and 2 a summary, 3 a line, 4 nothing. Without such a summary, a
            line is left. Default: `3`.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path(
            "/api/sessions/{session_id}/objects/{object_id}/release",
            session_id=session_id,
            object_id=object_id,
        ),
        answer=ObjectAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(fidelity=fidelity),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_unpin(
    session_id: str,
    object_id: str,
    *,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[ObjectAnswer]:
    """Let an object shrink again.

    Args:
        session_id: The session's name.
        object_id: The id of an object of the session.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path(
            "/api/sessions/{session_id}/objects/{object_id}/unpin", session_id=session_id, object_id=object_id
        ),
        answer=ObjectAnswer,
        seconds=5.0,
        repeatable=True,
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_pressure(
    session_id: str,
    *,
    timeout: float | None = None,
) -> Call[Pressure]:
    """How much of its budget the context of a session takes, and how many objects have which fidelity.

    Args:
        session_id: The session's name.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/sessions/{session_id}/pressure", session_id=session_id),
        answer=Pressure,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def session_query(
    session_id: str,
    *,
    question: str,
    object_id: str | None = None,
    timeout: float | None = None,
) -> Call[MicroFault]:
    """Ask what a session's objects say, evicted ones too: the lines that answer come back, not the whole
    object. It takes a small share of the tokens of a fault, and the object stays as it is.

    Args:
        session_id: The session's name.
        question: Names as they are written in the text help most: of functions, files, errors.
        object_id: Ask this object only.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/query", session_id=session_id),
        answer=MicroFault,
        seconds=2.0,
        repeatable=True,
        body=fields(question=question, object_id=object_id),
        timeout=timeout,
    )


def session_rebuild(
    session_id: str,
    *,
    timeout: float | None = None,
) -> Call[Rebuilt]:
    """Make the snapshot of the conversation from the trail again, and say whether it differed.

    Args:
        session_id: The session's name.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/rebuild", session_id=session_id),
        answer=Rebuilt,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def session_relate(
    session_id: str,
    *,
    source_id: str,
    target_id: str,
    relationship: Literal["caused_by", "depends_on", "parent_of", "references", "supersedes"],
    metadata: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[Related]:
    """Say what an object has to do with another. What it depends on comes up with it, when it is brought
    back.

    Args:
        session_id: The session's name.
        source_id: The object that depends, refers, or was caused.
        target_id: The object that it depends on, refers to, or was caused by.
        relationship: What the source depends on, refers to or was caused by comes up with it. The
            service itself states `parent_of`, of a heading and what stands below it, and `supersedes`,
            of versions.
        metadata: Whatever the host wants to know of it later.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/relationships", session_id=session_id),
        answer=Related,
        seconds=5.0,
        repeatable=True,
        body=fields(source_id=source_id, target_id=target_id, relationship=relationship, metadata=metadata),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def session_relationships(
    session_id: str,
    *,
    relationship: Literal["caused_by", "depends_on", "parent_of", "references", "supersedes"] | None = None,
    object_id: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Relationships, Relationship]:
    """List the relationships between the objects of a session, the earliest first.

    Args:
        session_id: The session's name.
        relationship: Only of this kind.
        object_id: Only those of this object.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/sessions/{session_id}/relationships", session_id=session_id),
        answer=Relationships,
        seconds=2.0,
        repeatable=True,
        query={"relationship": relationship, "object_id": object_id, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def session_unrelate(
    session_id: str,
    relationship_id: str,
    *,
    timeout: float | None = None,
) -> Call[Unrelated]:
    """Take a relationship back. Its objects stay.

    Args:
        session_id: The session's name.
        relationship_id: The id of a relationship of the session.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path=path(
            "/api/sessions/{session_id}/relationships/{relationship_id}",
            session_id=session_id,
            relationship_id=relationship_id,
        ),
        answer=Unrelated,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def session_search(
    session_id: str,
    query: str,
    *,
    evicted: bool | None = None,
    superseded: bool | None = None,
    language: Language | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[FoundObjects]:
    """Search the objects of a session by words and by meaning, also those that its context no longer
    shows. An object that was admitted a moment ago is found by its words at once.

    Args:
        session_id: The session's name.
        query: A question, or what is wanted.
        evicted: Also find what the context no longer shows. Default: `true`.
        superseded: Also find older versions, behind everything else. Default: `false`.
        language: The language of the query, detected by default.
        limit: At most this many items. Default: `10`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/search", session_id=session_id),
        answer=FoundObjects,
        seconds=2.0,
        repeatable=True,
        body=fields(query=query, evicted=evicted, superseded=superseded, language=language, limit=limit),
        timeout=timeout,
    )


def session_transitions(
    session_id: str,
    *,
    object_id: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Transitions, Transition]:
    """List the changes of fidelity, in order: what shrank or came back, when, and why.

    Args:
        session_id: The session's name.
        object_id: Only of this object.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/sessions/{session_id}/transitions", session_id=session_id),
        answer=Transitions,
        seconds=2.0,
        repeatable=True,
        query={"object_id": object_id, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def session_turn(
    session_id: str,
    *,
    accessed: Sequence[str] | None = None,
    released: Sequence[str] | None = None,
    admit: Sequence[AdmitInput] | None = None,
    context: bool | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[TurnEnded]:
    """End a turn. If its context takes too much of the budget, one batch makes the block anew. One call
    can also take in what the next turn begins with, and answer with its context.

    Args:
        session_id: The session's name.
        accessed: Objects that the turn used: they stay whole for longer.
        released: Objects that the agent no longer needs: a line of each is left.
        admit: What came in since, such as the results of tools: the next turn begins with it, after a
            batch of this one.
        context: Whether the answer holds the context with which the next turn begins. Default: `false`.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/sessions/{session_id}/turns", session_id=session_id),
        answer=TurnEnded,
        seconds=5.0,
        repeatable=True,
        body=fields(accessed=accessed, released=released, admit=admit, context=context),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )
