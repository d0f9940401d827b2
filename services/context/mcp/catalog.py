"""The tools: which route each one calls, and what a model reads of it. A table; nothing here runs.

A route's fields come from the API's document. Only their descriptions are added here, where the document has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.context.stores import CACHE, OWN, PEERS


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    operation: str
    """The operationId of the route that it calls."""
    title: str
    description: str
    default: bool = False
    destructive: bool = False
    idempotent: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of fields that mean something else here than in FIELDS."""
    only: tuple[str, ...] = ()
    """The fields that it takes of its route's; all, where none is named."""


SEARCH = "memory_search"

TOOLS: tuple[Tool, ...] = (
    Tool(
        "assemble_context",
        "context_assemble",
        "Assemble context",
        "Call this before a step: answers the context that matters to it, from every store, within a token budget. "
        "Each line of the block begins with a handle in brackets. Afterwards say with context_feedback which handles "
        "were of use.",
        default=True,
    ),
    Tool(
        "context_feedback",
        "context_feedback",
        "Give feedback on context",
        "Say which handles of an assembled block were of use; an empty list says that none was. Later blocks "
        "weigh their sources by it.",
        default=True,
        idempotent=True,
    ),
    Tool(
        "remember",
        "context_remember",
        "Remember",
        "Remember a text, or the messages of a conversation, without choosing a type: what happened in a mission goes "
        "to the mission, what was learned goes to the agent. Answers where each was stored. Give either text or "
        "messages.",
        default=True,
    ),
    Tool(
        SEARCH,
        "context_assemble",
        "Search memory",
        "Search what this agent learned, what its peers learned and, with mission_namespace, what happened in a "
        "mission. Answers the best items with their handles. For context to work with, assemble_context is the "
        "better call.",
        default=True,
        only=("query", "caller", "mission_namespace", "scopes", "user_id", "token_budget", "as_of"),
    ),
    Tool(
        "write_psychic_cache",
        "cache_write",
        "Write to a mission",
        "Write one typed entry into a mission's working memory; other agents of the mission see it. Each context_type "
        "needs the fields that begin with its name (decision: decision_rationale; state_change: state_from and "
        "state_to); output needs agent_name, dispatch_id and output_url, shadow_clone needs subtasks, "
        "thread_checkpoint needs session_id, turn_count, active_dispatches, open_decisions, pending_directives, "
        "current_mission_namespaces and working_state_prose.",
        default=True,
    ),
    Tool(
        "commit_agent_memory",
        "agent_memory_commit",
        "Commit what was learned",
        "Commit what this agent learned, to be found in later missions. Saying the same again confirms it instead of "
        "doubling it. task_description, skills_used and outcome say what it was learned from: give all three or none.",
        default=True,
        fields={
            "mission_namespace": "The mission of the task that it was learned from.",
            "outcome": "How the task ended.",
        },
    ),
    Tool(
        "query_psychic_cache",
        "cache_query",
        "Search a mission",
        "Search the entries of one mission; mission_id `*` searches every mission that the key may read.",
    ),
    Tool(
        "clear_psychic_cache",
        "cache_clear",
        "Clear a mission",
        "Delete all entries of a mission. This cannot be undone; the reason stays in the timeline.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "get_checkpoint",
        "cache_checkpoint",
        "Get a session's checkpoint",
        "The newest thread_checkpoint of a session: read it to go on where the session stopped.",
        fields={"session_id": "The session whose checkpoint is wanted."},
    ),
    Tool(
        "list_missions",
        "cache_missions",
        "List missions",
        "The missions that the key may read, by name, with their budgets and what they hold.",
        fields={"after": "The next_after of the page before."},
    ),
    Tool(
        "list_mission_entries",
        "cache_mission_entries",
        "List a mission's entries",
        "The live entries of a mission, newest first.",
    ),
    Tool(
        "list_recent_entries",
        "cache_all_entries",
        "List the newest entries",
        "The newest 100 entries of all missions that the key may read.",
    ),
    Tool(
        "mission_stats",
        "cache_stats",
        "Get a mission's figures",
        "What a mission holds, by type and agent, beside its budgets, and what became of the rest.",
    ),
    Tool(
        "get_cache_entry",
        "cache_entry",
        "Get an entry",
        f"One entry of a mission by its id: the number of a handle `{CACHE.prefix}:<id>`.",
    ),
    Tool(
        "tag_cache_entry",
        "cache_edit_tags",
        "Tag an entry",
        "Replace the tags of an entry; what it says stays as it was said.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "delete_cache_entry",
        "cache_delete_entry",
        "Delete an entry",
        "Delete one entry of a mission. This cannot be undone.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "dispatch_report",
        "dispatch_report",
        "Report a dispatch",
        "Say that an agent was given work; answers the dispatch_id that its entries should name. They keep it alive.",
    ),
    Tool(
        "dispatch_progress",
        "dispatch_progress",
        "Report progress",
        "Say how far a dispatch is; what is left out stays as it was.",
        idempotent=True,
    ),
    Tool(
        "dispatch_complete",
        "dispatch_complete",
        "Complete a dispatch",
        "Close a dispatch with its outcome. output_missing in the answer says that no output entry was written for it.",
        fields={"outcome": "How the work ended."},
    ),
    Tool(
        "dispatch_get",
        "dispatch_get",
        "Get a dispatch",
        "One dispatch: who was sent to do what, and how far it is.",
    ),
    Tool(
        "dispatch_list",
        "dispatch_list",
        "List dispatches",
        "Dispatches, newest first; narrow them by mission, agent or status.",
        fields={"status": "Only dispatches of this status.", "before": "The next_before of the page before."},
    ),
    Tool(
        "query_agent_memory",
        "agent_memory_query",
        "Search own memories",
        "Search one agent's own memories, best composite score first. Counts as a use of what is found.",
    ),
    Tool(
        "query_peer_memory",
        "agent_memory_peer_query",
        "Search a peer's memories",
        "Search what one other agent learned, without what it keeps private.",
    ),
    Tool(
        "list_agent_memories",
        "agent_memory_list",
        "List memories",
        "An agent's memories, newest first.",
        fields={"offset": "How many to pass over."},
    ),
    Tool(
        "get_agent_memory",
        "agent_memory_get",
        "Get a memory",
        f"One memory by its id, the number of a handle `{OWN.prefix}:<id>` or `{PEERS.prefix}:<id>`, and who "
        "confirmed it.",
    ),
    Tool(
        "edit_agent_memory",
        "agent_memory_edit",
        "Edit a memory",
        "Change a memory; fields that are left out stay. Refused where another memory of the agent says the same.",
        destructive=True,
        idempotent=True,
        fields={
            "content": "The new wording.",
            "mission_namespace": "The mission of the task that it was learned from.",
            "outcome": "How the task ended.",
        },
    ),
    Tool(
        "delete_agent_memory",
        "agent_memory_delete",
        "Delete a memory",
        "Delete one memory, with what confirmed it. This cannot be undone.",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "pending_review",
        "agent_memory_pending_review",
        "Count new memories",
        "How many memories each agent gained since a time of its own.",
    ),
    Tool(
        "explain_assembly",
        "context_explain",
        "Explain an assembly",
        "Why a block held what it held: every candidate, taken or dropped, with its factors and the reason.",
    ),
    Tool(
        "list_assemblies",
        "context_log",
        "List assemblies",
        "The assemblies that were logged, newest first.",
        fields={
            "caller": "Only those of this agent.",
            "mission_namespace": "Only those of this mission.",
            "offset": "How many to pass over.",
        },
    ),
    Tool(
        "get_source",
        "context_source",
        "Get a source",
        "The whole item behind a handle of a block. With assembly_id, reading it counts as weak feedback.",
        fields={"assembly_id": "The assembly whose block named the handle."},
    ),
    Tool(
        "list_weights",
        "context_weights",
        "List weights",
        "The weights of the sources that differ from the start values: what feedback and operators changed.",
        fields={"caller": "Only those in force for this agent."},
    ),
    Tool(
        "list_budgets",
        "context_budgets",
        "List budgets",
        "The token budgets of callers, where they are not the installation's default.",
        fields={"caller": "Only that of this agent."},
    ),
    Tool(
        "monitor_agents",
        "monitor",
        "Monitor agents",
        "What each agent is doing now: its last events and the dispatches that are under way.",
    ),
    Tool(
        "read_timeline",
        "timeline",
        "Read the timeline",
        "What happened, in order: numbered events with kinds and ids, never content.",
        fields={
            "after": "Events after this number; next_after of a page continues it.",
            "limit": "At most this many.",
        },
    ),
)

FIELDS: Mapping[str, str] = {
    "active_dispatches": "The dispatches that are under way.",
    "agent_name": "The agent that it is of.",
    "assembly_id": "The number that assemble_context answered.",
    "context_type": "What kind of entry it is; it decides which further fields are needed.",
    "directive_priority": "How urgent it is.",
    "dispatch_id": "The dispatch that it belongs to.",
    "entry_id": "The entry's id.",
    "handle": f"The handle as the block shows it, such as `{CACHE.handle(12)}` or `{OWN.handle(3, 1)}`.",
    "intel_confidence": "How sure it is.",
    "limit": "At most this many.",
    "memory_id": "The memory's id.",
    "memory_type": "The tier: task_blueprint (how a task is done), skill_heuristic (a rule of thumb), domain_pattern "
    "(how things are), lesson_learned (what went wrong or right).",
    "mission_id": "The mission's name.",
    "open_decisions": "What is not decided yet.",
    "pending_directives": "Directives that are not followed yet.",
    "private": "Keep it from other agents.",
    "report_outcome": "How it ended.",
    "skills_used": "The skills that the task took.",
    "source_kind": "How it came to be known: a user's word is trusted more than a tool's.",
    "state_from": "What it was before.",
    "state_to": "What it is now.",
    "tags": "Words to find it by, or to narrow a search to.",
}
KEY = "idempotency_key"
KEY_DESCRIPTION = (
    "Any new word of up to 200 characters. When the call fails, send it again with the same word and arguments: "
    "nothing is written twice."
)

AREAS: Mapping[str, str] = {
    "context": "context",
    "cache": "cache",
    "dispatch": "dispatch",
    "agent memory": "agent-memory",
    "timeline": "timeline",
}
"""Toolsets by the tag of the route."""
TOOLSETS = ("default", "full", "raw", *AREAS.values())
