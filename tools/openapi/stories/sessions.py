"""Examples of sessions."""

from __future__ import annotations

from typing import Any

from tools.openapi.examples_cache import MISSION, Example
from tools.openapi.stories.consolidation import CONSOLIDATION

_SESSION = {"session_id": "$agent_session"}
_OBJECT = {**_SESSION, "object_id": "$object"}
_KEPT = {"persistent_id": "$kept"}


def _of_session(operation: str, title: str, body: Any = None, **more: Any) -> Example:
    parameters = {**_SESSION, **more.pop("parameters", {})}
    return Example(operation, title, body, parameters=parameters, **more)


def _of_object(operation: str, title: str, body: Any = None) -> Example:
    return Example(operation, title, body, parameters=_OBJECT)


SESSIONS = [
    Example(
        "session_create",
        "A session of an agent in a mission",
        {
            "external_id": "code-2214",
            "agent_name": "scout",
            "mission_id": MISSION,
            "user_id": "ana",
            "model": "a model",
            "config": {"token_budget": 16_000},
        },
        keep={"agent_session": "data.id"},
    ),
    _of_session(
        "session_append",
        "A question, a call of a tool and its result",
        {
            "messages": [
                {"role": "user", "content": "Why are webhooks applied twice?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I read the worker first."},
                        {"type": "tool_use", "id": "call-1", "name": "Read", "input": {"path": "worker.py"}},
                    ],
                },
                {
                    "role": "tool",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call-1",
                            "content": "def retry(event):\n    send(event)",
                        }
                    ],
                },
                {"role": "assistant", "text": "The retry sends no idempotency key."},
            ]
        },
    ),
    _of_session(
        "session_append",
        "What the user says of herself",
        {"messages": [{"role": "user", "text": "I live in Madrid. I work at Acme."}]},
    ),
    *CONSOLIDATION,
    _of_session("session_history", "What was said", parameters={"limit": 10}),
    _of_session("session_conversation", "Where it stands"),
    _of_session("session_compact", "Make room, if there is need", {}),
    _of_session("session_rebuild", "Check the snapshot"),
    _of_session(
        "session_admit",
        "A file that was read",
        {
            "content": "def retry(event):\n    send(event)\n",
            "object_type": "file_context",
            "source_tool": "Read",
            "source_key": "worker.py",
            "fault_when": ["the retry is changed"],
        },
        keep={"object": "objects.0.id"},
    ),
    _of_session(
        "session_admit",
        "A decision that follows from it",
        {"content": "Send an idempotency key with every retry.", "object_type": "design_decision"},
        keep={"decision": "objects.0.id"},
    ),
    _of_session(
        "session_relate",
        "What the decision is about",
        {
            "source_id": "$decision",
            "target_id": "$object",
            "relationship": "caused_by",
            "metadata": {"found in": "the review"},
        },
        keep={"relationship": "data.id"},
    ),
    _of_session("session_relationships", "What belongs together", parameters={"limit": 10}),
    _of_session("session_unrelate", "Not after all", parameters={"relationship_id": "$relationship"}),
    _of_object("session_object", "As the context shows it"),
    _of_session("session_context", "The block"),
    _of_session(
        "session_search",
        "Where it was",
        {"query": "Which function sends an event again?", "limit": 3},
        keep={"object_number": "objects.0.number"},
    ),
    Example(
        "session_numbered_object",
        "The object behind a handle of assembled context",
        parameters={"number": "$object_number"},
    ),
    _of_session("session_pressure", "How full it is"),
    _of_object("session_pin", "Keep it for five turns", {"reason": "under change", "turns": 5}),
    _of_object("session_unpin", "Let it go"),
    _of_object("session_release", "No longer needed", {}),
    _of_object("session_fault", "Needed after all", {"fault_type": "full_restore"}),
    _of_session(
        "session_goal", "What it works towards", {"goal": "Send every retry with an idempotency key"}
    ),
    _of_session("session_query", "Only what answers", {"question": "What does retry take?"}),
    _of_session(
        "session_turn",
        "The end of a turn, and what the next one begins with",
        {
            "accessed": ["$object"],
            "admit": [
                {
                    "content": "2 tests failed in test_worker.py",
                    "object_type": "tool_result",
                    "source_key": "tests",
                }
            ],
            "context": True,
        },
    ),
    _of_session("session_faults", "What came back", parameters={"limit": 10}),
    _of_session("session_objects", "What it holds, and held", parameters={"limit": 10}),
    _of_session("session_transitions", "What shrank and came back", parameters={"limit": 10}),
    _of_session("session_admissions", "Why it was taken in", parameters={"limit": 10}),
    Example(
        "session_persist",
        "Ana's next session needs it, too",
        {"content": "retry() in worker.py sends no idempotency key."},
        parameters=_OBJECT,
        keep={"kept": "id"},
    ),
    Example("persistent_objects_list", "What is kept for Ana", parameters={"user_id": "ana", "limit": 10}),
    Example("persistent_objects_get", "How sure it still is", parameters=_KEPT),
    Example("persistent_objects_reinforce", "It still holds", parameters=_KEPT),
    Example("session_list", "An agent's sessions", parameters={"agent_name": "scout", "limit": 10}),
    _of_session("session_get", "How it stands"),
    Example("session_reset", "An agent begins anew", {"agent_name": "scout"}),
    _of_session("session_complete", "It is done", {"status": "completed"}),
    _of_session("session_delete", "Nothing of it is left"),
    Example("persistent_objects_forget", "The retry was changed", parameters=_KEPT),
]
