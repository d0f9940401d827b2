"""One story that calls every operation: the document's examples, and what its tests play on a running cluster.

`$name` stands for what an earlier answer kept under that name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Example:
    operation: str
    title: str
    body: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)
    keep: dict[str, str] = field(default_factory=dict)
    """Names for parts of the answer, by their path in it; the empty path is all of it."""
    accept: str = "application/json"


_MISSION = "checkout-incident"
_SESSION = "sess-7f3a"


def _entry(title: str, context_type: str, content: str, **more: Any) -> Example:
    body = {"mission_id": _MISSION, "context_type": context_type, "agent_name": "scout", "content": content}
    return Example("cache_write", title, {**body, **more})


_CACHE = [
    Example(
        "dispatch_report",
        "Work for an agent",
        {"mission_id": _MISSION, "agent_name": "scout", "task": "Find out why webhooks are applied twice"},
        keep={"dispatch": "data.id"},
    ),
    Example(
        "cache_write",
        "A decision",
        {
            "mission_id": _MISSION,
            "context_type": "decision",
            "agent_name": "scout",
            "content": "Roll back the payment worker to 4.2.1",
            "decision_rationale": "4.3.0 drops the idempotency header on retries",
            "decision_alternatives": ["patch 4.3.0 in place", "pause retries"],
            "tags": ["payments"],
        },
        parameters={"wait": "indexed"},
        keep={"entry": "data.id"},
    ),
    _entry(
        "A directive",
        "directive",
        "No deploy of the ledger before the rollback is confirmed",
        directive_target="release-bot",
        directive_priority="high",
    ),
    _entry(
        "Intel",
        "intel",
        "Webhook deliveries doubled at 14:02 UTC, right after the deploy of 4.3.0",
        intel_source="grafana: webhook deliveries",
        intel_confidence="high",
        occurred_at="2026-03-04T14:10:00Z",
    ),
    _entry(
        "A change of state",
        "state_change",
        "Retries are paused for the payment worker",
        state_from="retrying",
        state_to="paused",
        state_trigger="operator",
    ),
    _entry(
        "An output of a dispatch",
        "output",
        "The postmortem draft names the missing header as the cause",
        dispatch_id="$dispatch",
        output_url="https://wiki.example.org/postmortems/2214",
        output_summary="Cause, timeline and three follow-ups",
    ),
    _entry(
        "A report on a dispatch",
        "report",
        "412 of 9,120 payments were charged twice and are refunded",
        report_dispatch_id="$dispatch",
        report_outcome="success",
    ),
    _entry(
        "An escalation",
        "escalation",
        "Finance must approve the refunds above 500 EUR",
        escalation_target="finance-on-call",
        escalation_reason="the limit for automatic refunds is 500 EUR",
    ),
    _entry(
        "A task split among clones",
        "shadow_clone",
        "Check the refunds by region",
        subtasks=["refunds in the EU", "refunds in the US"],
        clone_count=2,
    ),
    _entry(
        "A checkpoint of a session",
        "thread_checkpoint",
        "Rollback done, refunds under way",
        session_id=_SESSION,
        turn_count=41,
        active_dispatches=["webhooks applied twice"],
        open_decisions=["when to resume retries"],
        pending_directives=["no deploy of the ledger"],
        current_mission_namespaces=[_MISSION],
        working_state_prose="The worker runs 4.2.1. Refunds are at 60 %. Next: resume retries at 10 %.",
    ),
    Example(
        "cache_write_batch",
        "Two entries, each with its own result",
        {
            "entries": [
                {
                    "mission_id": _MISSION,
                    "context_type": "intel",
                    "agent_name": "scout",
                    "content": "The ledger answers 409 when a webhook was already applied",
                    "intel_source": "ledger logs",
                },
                {
                    "mission_id": _MISSION,
                    "context_type": "decision",
                    "agent_name": "scout",
                    "content": "Treat a 409 from the ledger as success",
                    "decision_rationale": "the webhook was applied by the first delivery",
                },
            ]
        },
    ),
    Example(
        "cache_query",
        "What a mission knows",
        {"mission_id": _MISSION, "query": "Why were payments charged twice?", "token_budget": 500},
    ),
    Example("cache_checkpoint", "The newest checkpoint of a session", parameters={"session_id": _SESSION}),
    Example("cache_all_entries", "The newest entries"),
    Example("cache_missions", "The first ten missions", parameters={"limit": 10}),
    Example("cache_entry", "One entry", parameters={"entry_id": "$entry"}),
    Example(
        "cache_edit_tags",
        "Other tags",
        {"tags": ["payments", "rollback"]},
        parameters={"entry_id": "$entry"},
    ),
    Example("cache_mission_entries", "What a mission holds", parameters={"mission_id": _MISSION}),
    Example("cache_stats", "A mission's numbers", parameters={"mission_id": _MISSION}),
    Example(
        "cache_set_limits",
        "Room for twice as much, for two days",
        {"token_budget": 20_000, "ttl_hours": 48},
        parameters={"mission_id": _MISSION},
    ),
    Example(
        "dispatch_progress",
        "Half way",
        {"note": "the header is missing on retries only", "percent": 50},
        parameters={"dispatch_id": "$dispatch"},
    ),
    Example("dispatch_get", "One dispatch", parameters={"dispatch_id": "$dispatch"}),
    Example(
        "dispatch_list",
        "What is under way in a mission",
        parameters={"mission_id": _MISSION, "status": "in_progress"},
    ),
    Example(
        "dispatch_complete",
        "Done",
        {"outcome": "success", "summary": "4.3.0 drops the idempotency header on retries"},
        parameters={"dispatch_id": "$dispatch"},
    ),
]

_MEMORY = [
    Example(
        "agent_memory_commit",
        "A lesson",
        {
            "agent_name": "scout",
            "memory_type": "lesson_learned",
            "content": "A 409 from the ledger means the webhook was already applied: do not retry it",
            "task_context": {
                "task_description": "Find out why webhooks are applied twice",
                "skills_used": ["log analysis"],
                "outcome": "success",
                "mission_namespace": _MISSION,
            },
        },
        keep={"memory": "memory_id"},
    ),
    Example(
        "agent_memory_batch",
        "Two memories, all or none",
        {
            "memories": [
                {
                    "agent_name": "scout",
                    "memory_type": "skill_heuristic",
                    "content": "Compare deploy times with error rates before reading any code",
                },
                {
                    "agent_name": "scout",
                    "memory_type": "domain_pattern",
                    "content": "Payment providers deliver a webhook again when it is not answered in 5 s",
                },
            ]
        },
    ),
    Example(
        "agent_memory_query",
        "What an agent knows of a topic",
        {"agent_name": "scout", "query": "webhook retries", "limit": 5},
    ),
    Example("agent_memory_list", "An agent's newest memories", {"agent_name": "scout", "limit": 20}),
    Example(
        "agent_memory_peer_query",
        "What another agent knows",
        {"target_agent": "scout", "query": "How does the ledger answer repeated webhooks?"},
    ),
    Example(
        "agent_memory_pending_review",
        "New since then",
        parameters={"since": '{"scout": "2026-03-01T00:00:00Z"}'},
    ),
    Example("agent_memory_get", "One memory", parameters={"memory_id": "$memory"}),
    Example(
        "agent_memory_edit",
        "A better wording",
        {
            "content": "The ledger answers 409 when a webhook was already applied: count it as done, never retry"
        },
        parameters={"memory_id": "$memory"},
    ),
    Example(
        "agent_memory_export",
        "A page of an agent's memories",
        parameters={"agent_name": "scout", "limit": 2},
        keep={"lines": ""},
        accept="application/x-ndjson",
    ),
]

_CONTEXT = [
    Example(
        "context_remember",
        "A lesson in a sentence",
        {
            "caller": "scout",
            "mission_namespace": _MISSION,
            "text": "I learned that the provider signs webhooks with a key per region, not per account",
        },
    ),
    Example(
        "context_remember",
        "A piece of a conversation",
        {
            "caller": "scout",
            "mission_namespace": _MISSION,
            "user_id": "ana",
            "session_id": _SESSION,
            "messages": [
                {"role": "user", "content": "Please never refund more than 500 EUR without asking me."},
                {"role": "assistant", "content": "Understood. I resume retries at 10 % at 16:00 UTC."},
            ],
        },
    ),
    Example(
        "context_assemble",
        "What matters before the next step",
        {
            "query": "Why were payments charged twice, and may I retry the webhooks?",
            "caller": "scout",
            "mission_namespace": _MISSION,
            "token_budget": 300,
        },
        keep={"assembly": "assembly_id", "handle": "sources.0.handle"},
    ),
    Example(
        "context_feedback",
        "One source was of use",
        {"assembly_id": "$assembly", "used_source_ids": ["$handle"], "tokens_used": 180},
    ),
    Example("context_log", "Assemblies of a caller", parameters={"caller": "scout", "limit": 1}),
    Example("context_log_callers", "Who has assembled"),
    Example("context_explain", "Why the agent saw what it saw", parameters={"assembly_id": "$assembly"}),
    Example(
        "context_replay",
        "With less room, and lessons worth more",
        {"token_budget": 150, "weights": {"agent_memory_own": 1.5}},
        parameters={"assembly_id": "$assembly"},
    ),
    Example(
        "context_source",
        "The whole item behind a line",
        parameters={"handle": "$handle", "assembly_id": "$assembly"},
    ),
    Example(
        "context_set_weight",
        "A mission's cache counts more for one caller",
        {"caller": "scout", "source": "psychic_cache", "weight": 1.2},
    ),
    Example("context_weights", "A caller's weights", parameters={"caller": "scout"}),
    Example("context_weight_history", "The last change", parameters={"caller": "scout", "limit": 1}),
    Example(
        "context_reset_weight",
        "Back to the start value",
        parameters={"caller": "scout", "source": "psychic_cache"},
    ),
    Example(
        "context_set_budget",
        "At most 8,000 tokens for a caller",
        {"caller": "scout", "default_budget": 3_000, "ceiling": 8_000},
    ),
    Example("context_budgets", "A caller's budget", parameters={"caller": "scout"}),
    Example("context_reset_budget", "Back to the default", parameters={"caller": "scout"}),
    Example("context_evaluate", "Learn from what came in"),
    Example("timeline", "A page of a mission", parameters={"mission": _MISSION, "after": 0, "limit": 2}),
    Example(
        "timeline",
        "A stream from the beginning",
        parameters={"mission": _MISSION, "after": 0},
        accept="text/event-stream",
    ),
    Example("monitor", "Who works on a mission", parameters={"mission": _MISSION}),
]

_KEYS = [
    Example(
        "context_make_key",
        "A key of one agent, for one mission",
        {
            "name": "scout in the incident",
            "access": "write",
            "agent": "scout",
            "missions": [_MISSION],
            "requests_per_second": 20,
            "burst": 40,
            "requests_per_day": 100_000,
        },
        keep={"key": "key.id"},
    ),
    Example("context_list_keys", "The first keys", parameters={"limit": 2}),
    Example("context_get_key", "One key", parameters={"key_id": "$key"}),
    Example(
        "context_change_key",
        "Other limits",
        {"requests_per_second": 50, "burst": None},
        parameters={"key_id": "$key"},
    ),
    Example(
        "context_rotate_key",
        "A new secret, and an hour to bring it out",
        {"overlap_seconds": 3_600},
        parameters={"key_id": "$key"},
    ),
    Example("context_revoke_key", "No longer valid", parameters={"key_id": "$key"}),
]

_ERASURE = [
    Example("context_purge", "A user, everywhere", {"user_id": "ana"}),
    Example("cache_delete_entry", "One entry less", parameters={"entry_id": "$entry"}),
    Example(
        "cache_clear",
        "The mission is over",
        parameters={"mission_id": _MISSION, "reason": "mission_complete"},
    ),
    Example("agent_memory_delete", "One memory less", parameters={"memory_id": "$memory"}),
    Example("agent_memory_forget", "All of an agent", {"agent_name": "scout"}),
    Example("agent_memory_import", "What was exported", "$lines"),
    Example("context_purge", "A mission, everywhere", {"scope": f"mission:{_MISSION}"}),
    Example("context_purge", "An agent, everywhere", {"agent_name": "scout"}),
]

EXAMPLES = [*_CACHE, *_MEMORY, *_CONTEXT, *_KEYS, *_ERASURE]
