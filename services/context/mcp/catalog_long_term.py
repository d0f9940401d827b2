"""The tools of long-term memory."""

from __future__ import annotations

from services.context.mcp.tool import ABOUT_CODE, Tool
from services.context.stores import LONG_TERM

LONG_TERM_TOOLS: tuple[Tool, ...] = (
    Tool(
        "memory_write",
        "memory_write",
        "Remember something beyond a mission: what a user prefers, knowledge, a summary, an episode (what happened) or "
        "a commitment (a promise, with due_at). Without scope it is the user's, or else the agent's.",
        idempotent=True,
        without=(*ABOUT_CODE, "language", "seq", "session_id", "speaker", "recalled_from", "origin"),
        fields={"agent_name": "You, the agent.", "content": "What to remember."},
    ),
    Tool(
        "memory_get",
        "memory_get",
        f"One document, episode or commitment by its id, the number of a handle `{LONG_TERM.prefix}:<id>`.",
    ),
    Tool(
        "memory_list",
        "memory_list",
        "Documents, episodes and commitments, newest first; narrow them by scope, kind, status or user.",
        fields={"in_scope": "Only those of this scope.", "status": "Only commitments of this status."},
    ),
    Tool(
        "memory_forget",
        "memory_delete",
        "Delete one document, episode or commitment. This cannot be undone.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "commitment_update",
        "memory_edit",
        "Say what became of a commitment (done or cancelled), or change its text or when it is due.",
        destructive=True,
        idempotent=True,
        only=("memory_id", "status", "due_at", "content", "owed_by", "owed_to"),
        fields={"content": "The new wording.", "status": "What became of it."},
    ),
    Tool(
        "commitments_due",
        "memory_due",
        "What is due: open commitments, the first first, of an agent, a mission or a user.",
        fields={"in_scope": "Only commitments of this scope."},
    ),
)
