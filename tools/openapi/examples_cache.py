"""Examples of the cache."""

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
    """Names for parts of the answer to keep, with their paths. The empty path is the whole answer."""
    accept: str = "application/json"


MISSION = "checkout-incident"
SESSION = "sess-7f3a"


def _entry(title: str, context_type: str, content: str, **more: Any) -> Example:
    body = {"mission_id": MISSION, "context_type": context_type, "agent_name": "scout", "content": content}
    return Example("cache_write", title, {**body, **more})


CACHE = [
    Example(
        "dispatch_report",
        "Work for an agent",
        {"mission_id": MISSION, "agent_name": "scout", "task": "Find out why webhooks are applied twice"},
        keep={"dispatch": "data.id"},
    ),
    Example(
        "cache_write",
        "A decision",
        {
            "mission_id": MISSION,
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
        session_id=SESSION,
        turn_count=41,
        active_dispatches=["webhooks applied twice"],
        open_decisions=["when to resume retries"],
        pending_directives=["no deploy of the ledger"],
        current_mission_namespaces=[MISSION],
        working_state_prose="The worker runs 4.2.1. Refunds are at 60 %. Next: resume retries at 10 %.",
    ),
    Example(
        "cache_write_batch",
        "Two entries, each with its own result",
        {
            "entries": [
                {
                    "mission_id": MISSION,
                    "context_type": "intel",
                    "agent_name": "scout",
                    "content": "The ledger answers 409 when a webhook was already applied",
                    "intel_source": "ledger logs",
                },
                {
                    "mission_id": MISSION,
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
        {"mission_id": MISSION, "query": "Why were payments charged twice?", "token_budget": 500},
    ),
    Example("cache_checkpoint", "The newest checkpoint of a session", parameters={"session_id": SESSION}),
    Example("cache_all_entries", "The newest entries"),
    Example("cache_missions", "The first ten missions", parameters={"limit": 10}),
    Example("cache_entry", "One entry", parameters={"entry_id": "$entry"}),
    Example(
        "cache_edit_tags",
        "Other tags",
        {"tags": ["payments", "rollback"]},
        parameters={"entry_id": "$entry"},
    ),
    Example("cache_mission_entries", "What a mission holds", parameters={"mission_id": MISSION}),
    Example("cache_stats", "A mission's numbers", parameters={"mission_id": MISSION}),
    Example(
        "cache_set_limits",
        "Room for twice as much, for two days",
        {"token_budget": 20_000, "ttl_hours": 48},
        parameters={"mission_id": MISSION, "dry_run": False},
    ),
    Example("cache_limits", "The limits in force", parameters={"mission_id": MISSION}),
    Example(
        "cache_set_language",
        "The mission's texts are German",
        {"language": "de"},
        parameters={"mission_id": MISSION},
    ),
    Example("cache_language", "The language in force", parameters={"mission_id": MISSION}),
    Example(
        "cache_set_language",
        "The tenant's language holds again",
        {"language": None},
        parameters={"mission_id": MISSION},
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
        parameters={"mission_id": MISSION, "status": "in_progress"},
    ),
    Example(
        "dispatch_complete",
        "Done",
        {"outcome": "success", "summary": "4.3.0 drops the idempotency header on retries"},
        parameters={"dispatch_id": "$dispatch"},
    ),
]
