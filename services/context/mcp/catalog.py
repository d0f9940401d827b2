"""The tools: which route each one calls, and what a model reads of it. A table; nothing here runs.

A route's fields come from the API's document. Each description here replaces the document's: a client sends the list to
its model with every question, so it is as short as it can be.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.context.mcp.catalog_documents import DOCUMENTS
from services.context.mcp.catalog_facts import FACTS
from services.context.mcp.catalog_long_term import LONG_TERM_TOOLS
from services.context.mcp.catalog_sessions import SESSIONS
from services.context.mcp.tool import ABOUT_CODE, Tool
from services.context.stores import CACHE, OWN, PEERS

SEARCH = "memory_search"
_OF_TIER = {"memory_type": "Of this tier only."}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "assemble_context",
        "context_assemble",
        "Call this before each step: it answers what matters to it, from every store, within a token budget. "
        "Each item begins with its handle. Then call context_feedback with those that helped.",
        default=True,
        without=(
            "as_of",
            "background",
            "debug",
            "language",
            "log",
            "neighbours",
            "since",
        ),
        fields={
            "fill": "Add less relevant items until the budget is full.",
            "style": "Else a model tells it.",
            "delta": "Only what session_id lacks; false: anew.",
        },
    ),
    Tool(
        "context_feedback",
        "context_feedback",
        "Say which items of a block helped: later blocks weigh their sources by it.",
        default=True,
        idempotent=True,
    ),
    Tool(
        "remember",
        "context_remember",
        "Remember a text or the messages of a conversation, without choosing a type. It goes to the mission if "
        "it happened there, else to the agent. Give text or messages.",
        default=True,
        without=(
            *ABOUT_CODE,
            *(f"messages.{name}" for name in ABOUT_CODE),
            "language",
            "seq",
            "speaker",
        ),
        fields={
            "source_kind": "How text came to be known; messages say it by their role.",
            "supersedes": "The handle of what no longer holds.",
        },
    ),
    Tool(
        SEARCH,
        "context_assemble",
        "Search what agents learned and, with mission_namespace, what happened there. "
        "Answers the best items. For a block to work with, call assemble_context.",
        default=True,
        only=("query", "caller", "mission_namespace", "scopes", "user_id", "token_budget"),
        fields={"query": "What to look for."},
    ),
    Tool(
        "write_psychic_cache",
        "cache_write",
        "Share what happens in a mission with its other agents: a decision, a finding, a change of state, a result, a "
        "checkpoint. What should outlast the mission goes to commit_agent_memory. "
        "context_type decides which fields are required.",
        default=True,
        without=(
            *ABOUT_CODE,
            "language",
            "seq",
            "source_kind",
            "source_turn",
            "speaker",
            "supersedes",
            "wait",
        ),
        fields={"agent_name": "Who writes it."},
    ),
    Tool(
        "commit_agent_memory",
        "agent_memory_commit",
        "Commit what this agent learned, to be found in later missions. Repeating it confirms it. Give all three of "
        "task_description, skills_used and outcome, or none.",
        default=True,
        without=(
            *ABOUT_CODE,
            "language",
            "seq",
            "session_id",
            "speaker",
            "supersedes",
        ),
        fields={
            "agent_name": "The agent that learned it.",
            "content": "What was learned, in a sentence or a few.",
            "mission_namespace": "The mission of the task.",
            "outcome": "How the task ended.",
        },
    ),
    Tool(
        "query_psychic_cache",
        "cache_query",
        "Search the entries of one mission; mission_id `*` searches every mission that the key may read.",
        without=(
            "language",
            "until",
        ),
    ),
    Tool(
        "clear_psychic_cache",
        "cache_clear",
        "Delete all entries of a mission. This cannot be undone; the reason stays in the timeline.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "get_checkpoint",
        "cache_checkpoint",
        "The newest thread_checkpoint of a session: read it to go on where the session stopped.",
        fields={"session_id": "The session whose checkpoint is wanted."},
    ),
    Tool(
        "list_missions",
        "cache_missions",
        "The missions that the key may read, by name, with their budgets and what they hold.",
    ),
    Tool(
        "list_mission_entries",
        "cache_mission_entries",
        "The live entries of a mission, newest first.",
        without=("until",),
    ),
    Tool(
        "list_recent_entries",
        "cache_all_entries",
        "The live entries of all missions that the key may read, newest first.",
        without=("until",),
    ),
    Tool(
        "mission_stats",
        "cache_stats",
        "What a mission holds, by type and agent, beside its budgets, and what became of the rest.",
    ),
    Tool(
        "get_cache_entry",
        "cache_entry",
        f"One entry of a mission by its id: the number of a handle `{CACHE.prefix}:<id>`.",
    ),
    Tool(
        "tag_cache_entry",
        "cache_edit_tags",
        "Replace the tags of an entry; what it says stays as it was said.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "delete_cache_entry",
        "cache_delete_entry",
        "Delete one entry of a mission. This cannot be undone.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "dispatch_report",
        "dispatch_report",
        "Say that an agent was given work; answers the dispatch_id that its entries should name. They keep it alive.",
    ),
    Tool(
        "dispatch_progress",
        "dispatch_progress",
        "Say how far a dispatch is; what is left out stays as it was.",
        idempotent=True,
    ),
    Tool(
        "dispatch_complete",
        "dispatch_complete",
        "Close a dispatch with its outcome. output_missing in the answer says that no output entry was written for it.",
        fields={"outcome": "How the work ended."},
    ),
    Tool(
        "dispatch_get",
        "dispatch_get",
        "One dispatch: who was sent to do what, and how far it is.",
    ),
    Tool(
        "dispatch_list",
        "dispatch_list",
        "Dispatches, newest first; narrow them by mission, agent or status.",
        fields={"status": "Only dispatches of this status."},
    ),
    Tool(
        "query_agent_memory",
        "agent_memory_query",
        "Search one agent's own memories, the most relevant first. Counts as a use of what is found.",
        fields=_OF_TIER,
        without=(
            "language",
            "until",
        ),
    ),
    Tool(
        "query_peer_memory",
        "agent_memory_peer_query",
        "Search what one other agent learned, without what it keeps private.",
        fields=_OF_TIER,
        without=("language", "until"),
    ),
    Tool(
        "list_agent_memories",
        "agent_memory_list",
        "An agent's memories, newest first.",
        fields=_OF_TIER,
        without=("until",),
    ),
    Tool(
        "get_agent_memory",
        "agent_memory_get",
        f"One memory by its id, the number of a handle `{OWN.prefix}:<id>` or `{PEERS.prefix}:<id>`, and who "
        "confirmed it.",
    ),
    Tool(
        "edit_agent_memory",
        "agent_memory_edit",
        "Change a memory; fields that are left out stay. Refused where another memory of the agent says the same.",
        destructive=True,
        idempotent=True,
        fields={
            "content": "The new wording.",
            "memory_type": "The tier.",
            "mission_namespace": "The mission of the task.",
            "outcome": "How the task ended.",
        },
        without=(*ABOUT_CODE, "language"),
    ),
    Tool(
        "delete_agent_memory",
        "agent_memory_delete",
        "Delete one memory, with what confirmed it. This cannot be undone.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "pending_review",
        "agent_memory_pending_review",
        "How many memories each agent gained since a time of its own.",
    ),
    *LONG_TERM_TOOLS,
    *DOCUMENTS,
    *FACTS,
    *SESSIONS,
    Tool(
        "explain_assembly",
        "context_explain",
        "Why a block held what it held: every candidate, taken or dropped, with its factors and the reason.",
    ),
    Tool(
        "list_assemblies",
        "context_log",
        "The assemblies that were logged, newest first.",
        fields={
            "caller": "Only those of this agent.",
            "mission_namespace": "Only those of this mission.",
            "user_id": "Only those about this user.",
            "session_id": "Only those of this session.",
        },
        without=("until",),
    ),
    Tool(
        "get_source",
        "context_source",
        "The whole item behind a handle of a block. With assembly_id, reading it counts as weak feedback.",
        fields={"assembly_id": "The assembly whose block named the handle."},
    ),
    Tool(
        "list_weights",
        "context_weights",
        "The weights of the sources that differ from the start values: what feedback and operators changed.",
        fields={"caller": "Only those in force for this agent."},
    ),
    Tool(
        "list_budgets",
        "context_budgets",
        "The token budgets of callers, where they are not the installation's default.",
        fields={"caller": "Only that of this agent."},
    ),
    Tool(
        "monitor_agents",
        "monitor",
        "What each agent is doing now: its last events and the dispatches that are under way.",
    ),
    Tool(
        "read_timeline",
        "timeline",
        "What happened, in order: numbered events with kinds and ids, never content.",
        fields={
            "after": "Events after this number: the seq of the last event that was read.",
        },
        without=("last_event_id",),
    ),
)

AREAS: Mapping[str, str] = {
    "assemble and remember": "context",
    "why": "context",
    "learning": "context",
    "missions": "cache",
    "dispatches": "dispatch",
    "memories": "agent-memory",
    "vault": "vault",
    "long-term memory": "memory",
    "facts": "kg",
    "sessions": "sessions",
    "timeline": "timeline",
}
"""Toolsets by the tag of the route."""
TOOLSETS = ("default", "full", "raw", *dict.fromkeys(AREAS.values()))
