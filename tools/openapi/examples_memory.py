"""Examples of agent memory, of long-term memory and of facts."""

from __future__ import annotations

from tools.openapi.examples_cache import MISSION, Example

MEMORY = [
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
                "mission_namespace": MISSION,
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
    Example(
        "vault_put",
        "A runbook that everybody may read",
        {
            "path": "shared/runbooks/webhooks.md",
            "text": "# Webhooks\n\nThe ledger answers 409 when a webhook was already applied.\nNever retry it.\n",
        },
        keep={"file": "ids.0"},
    ),
    Example("vault_list", "The files of a folder", parameters={"folder": "shared/", "limit": 20}),
    Example(
        "vault_search",
        "The best passage of each file",
        {"query": "May a webhook be retried after a 409?", "limit": 5},
    ),
    Example("vault_read", "Some lines", parameters={"path": "shared/runbooks/webhooks.md#L3-L4"}),
    Example("vault_index", "No folder was indexed yet"),
    Example("vault_part", "What is behind a handle", parameters={"file_id": "$file"}),
]

LONG_TERM = [
    Example(
        "memory_write",
        "What a user prefers",
        {"kind": "preference", "user_id": "ana", "content": "Ana wants numbers first, then reasons."},
        keep={"preference": "id"},
    ),
    Example(
        "memory_write",
        "A promise, with the time when it is due",
        {
            "kind": "commitment",
            "scope": f"mission:{MISSION}",
            "content": "Send Ana the list of customers who were charged twice.",
            "agent_name": "scout",
            "owed_by": "scout",
            "owed_to": "ana",
            "due_at": "2126-03-06T17:00:00Z",
        },
        keep={"commitment": "id"},
    ),
    Example(
        "memory_write_batch",
        "What happened, and what is known",
        {
            "memories": [
                {
                    "kind": "episode",
                    "scope": "project:payments",
                    "content": "The webhooks were replayed twice. We stopped the replay and refunded 214 customers.",
                    "topics": ["incident", "webhooks"],
                    "tone": "tense, then relieved",
                    "occurred_at": "2026-03-02T13:00:00Z",
                    "ended_at": "2026-03-02T16:30:00Z",
                },
                {
                    "kind": "knowledge",
                    "scope": "shared",
                    "content": "Refunds above 500 EUR need a second signature.",
                },
            ]
        },
    ),
    Example(
        "memory_list",
        "The commitments of a mission",
        parameters={"in_scope": f"mission:{MISSION}", "kind": "commitment"},
    ),
    Example(
        "memory_due",
        "What is due in a mission",
        parameters={"in_scope": f"mission:{MISSION}", "until": "2127-01-01T00:00:00Z"},
    ),
    Example(
        "memory_search",
        "What is known of a topic",
        {"query": "Who signs large refunds?", "agent_name": "scout", "user_id": "ana", "limit": 5},
    ),
    Example("memory_get", "One memory", parameters={"memory_id": "$preference"}),
    Example(
        "memory_edit", "A promise that was kept", {"status": "done"}, parameters={"memory_id": "$commitment"}
    ),
    Example("memory_delete", "One memory less", parameters={"memory_id": "$preference"}),
]

FACTS = [
    Example(
        "kg_write",
        "The one who is on call",
        {
            "subject": "payments",
            "predicate": "on call",
            "object": "Ana",
            "valid_from": "2026-03-01T00:00:00Z",
            "agent_name": "scout",
            "mission_namespace": MISSION,
        },
        keep={"fact": "id"},
    ),
    Example(
        "kg_add",
        "One of several relations",
        {
            "subject": "payments",
            "predicate": "depends on",
            "object": "ledger",
            "agent_name": "scout",
            "mission_namespace": MISSION,
        },
    ),
    Example(
        "kg_batch",
        "What a user prefers",
        {
            "facts": [
                {
                    "subject": "Ana",
                    "predicate": "works in",
                    "object": "Madrid",
                    "single": True,
                    "user_id": "ana",
                },
                {"subject": "Ana", "predicate": "prefers", "object": "numbers first", "user_id": "ana"},
            ]
        },
    ),
    Example("kg_query", "What holds of an entity now", {"entity": "payments"}),
    Example(
        "kg_query",
        "Who was on call then",
        {"entity": "payments", "predicate": "on call", "at": "2026-03-02T00:00:00Z"},
    ),
    Example("kg_timeline", "Everybody who was on call", parameters={"entity": "payments", "limit": 10}),
    Example(
        "kg_add_alias",
        "What people call it",
        {"alias": "billing", "entity": "payments", "agent_name": "scout", "mission_namespace": MISSION},
    ),
    Example("kg_aliases", "The names of an entity", parameters={"name": "billing"}),
    Example("kg_get", "One fact", parameters={"fact_id": "$fact"}),
    Example("kg_neighbours", "What is near", parameters={"entity": "billing", "hops": 2, "limit": 10}),
    Example("kg_predicates", "What is said of anything", parameters={"limit": 10}),
    Example("kg_stats", "How much is known"),
    Example(
        "kg_remove_alias",
        "A name that was wrong",
        {"alias": "billing", "agent_name": "scout", "mission_namespace": MISSION},
    ),
    Example(
        "kg_invalidate",
        "A dependency that is gone",
        {
            "subject": "payments",
            "predicate": "depends on",
            "object": "ledger",
            "agent_name": "scout",
            "mission_namespace": MISSION,
        },
    ),
]
