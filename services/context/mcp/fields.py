"""What a model reads of a tool's fields, where that is shorter than what the API's document says."""

from __future__ import annotations

from collections.abc import Mapping

from services.context.stores import CACHE, OWN

FIELDS: Mapping[str, str] = {
    "active_dispatches": "Dispatches under way.",
    "agent_name": "The agent.",
    "assembly_id": "The number that assemble_context answered.",
    "caller": "You, the agent.",
    "clone_count": "How many work at it.",
    "context_type": "The kind of entry.",
    "current_mission_namespaces": "The missions worked in.",
    "decision_alternatives": "What was not chosen.",
    "decision_rationale": "Why.",
    "directive_priority": "How urgent it is.",
    "directive_target": "Who must follow it.",
    "dispatch_id": "Its dispatch.",
    "entry_id": "The entry's id.",
    "escalation_reason": "Why the agent cannot decide.",
    "escalation_target": "Who is to decide.",
    "explicit_links": "Files of the vault that the block must hold.",
    "handle": f"The handle as a block shows it, such as `{CACHE.handle(12)}` or `{OWN.handle(3, 1)}`.",
    "intel_confidence": "How sure it is.",
    "intel_source": "Where it is from.",
    "limit": "At most this many.",
    "memory_id": "The memory's id.",
    "memory_type": "task_blueprint: how a task is done; skill_heuristic: a rule of thumb; domain_pattern: how things "
    "are; lesson_learned: what went wrong or right.",
    "mission_id": "The mission's name.",
    "mission_namespace": "The mission's name.",
    "name": "The speaker's name.",
    "occurred_at": "When it happened; else now.",
    "open_decisions": "What is not decided yet.",
    "output_summary": "What it is.",
    "output_url": "Where the work is.",
    "pending_directives": "Directives not followed yet.",
    "private": "Keep it from other agents.",
    "query": "What you are about to do, or want to know.",
    "recalled_from": "The assembly_id that led to it.",
    "report_dispatch_id": "The dispatch that it reports on.",
    "report_outcome": "How it ended.",
    "role": "Who spoke.",
    "scopes": "Search more: `mission:…`, `agent:…`, `user:…`, `project:…`, `shared`.",
    "seq": "Its number in the session.",
    "session_id": "Its session.",
    "skills_used": "The skills that the task took.",
    "source_kind": "How it came to be known.",
    "state_from": "What it was before.",
    "state_to": "What it is now.",
    "state_trigger": "What changed it.",
    "subtasks": "What the clones do, side by side.",
    "tags": "Words to find it by.",
    "task_description": "What the agent was doing.",
    "text": "One thing to remember.",
    "token_budget": "Tokens that the block may have.",
    "tokens_used": "How many tokens of the block helped.",
    "ttl_hours": "How long it lives.",
    "turn_count": "Turns so far.",
    "used_source_ids": "Handles that helped; an empty list says that none did.",
    "user_id": "The user whom it is about.",
    "working_state_prose": "What the next turn must know to go on, in 2,000 characters.",
}
KEY = "idempotency_key"
KEY_DESCRIPTION = "A new word; a retry with it writes nothing twice."
