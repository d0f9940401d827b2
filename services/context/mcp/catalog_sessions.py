"""The tools of sessions: what a model does about its own context."""

from __future__ import annotations

from services.context.mcp.tool import Tool

_SESSION = {"session_id": "Your session's id or name."}
_OBJECT = {**_SESSION, "object_id": "As in the object's header."}

SESSIONS: tuple[Tool, ...] = (
    Tool(
        "query_session",
        "session_query",
        "Ask what something said that is no longer whole in your context, for far fewer tokens than restore_object.",
        default=True,
        fields={
            **_SESSION,
            "question": "What you want to know.",
            "object_id": "Ask this object only.",
        },
    ),
    Tool(
        "restore_object",
        "session_fault",
        "Bring an object of your context back whole, before you edit it or need all of it.",
        default=True,
        idempotent=True,
        names=False,
        fields={**_OBJECT, "fault_type": "entropy_triggered: you were unsure."},
    ),
    Tool(
        "pin_object",
        "session_pin",
        "Keep an object of your context as it is while you work on it.",
        idempotent=True,
        names=False,
        fields={**_OBJECT, "reason": "Why.", "turns": "For so many turns; else until it is released."},
    ),
    Tool(
        "release_object",
        "session_release",
        "Say that you no longer need an object. A line of it is left; restore_object brings it back.",
        idempotent=True,
        names=False,
        fields={**_OBJECT, "fidelity": "What to leave: 1 and 2 a summary, 3 a line, 4 nothing."},
    ),
)
