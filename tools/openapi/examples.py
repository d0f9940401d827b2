"""A story that calls every operation. It gives the document its examples, and tests play it on a running cluster.

`$name` stands for a value kept from an earlier answer under that name.
"""

from __future__ import annotations

from tools.openapi.examples_cache import CACHE, MISSION, SESSION, Example
from tools.openapi.examples_memory import FACTS, LONG_TERM, MEMORY
from tools.openapi.stories.checkpoints import CHECKPOINTS
from tools.openapi.stories.sessions import SESSIONS

_CONTEXT = [
    Example(
        "context_remember",
        "A lesson in a sentence",
        {
            "caller": "scout",
            "mission_namespace": MISSION,
            "text": "I learned that the provider signs webhooks with a key per region, not per account",
        },
    ),
    Example(
        "context_remember",
        "A piece of a conversation",
        {
            "caller": "scout",
            "mission_namespace": MISSION,
            "user_id": "ana",
            "session_id": SESSION,
            "messages": [
                {"role": "user", "content": "Please never refund more than 500 EUR without asking me."},
                {"role": "assistant", "content": "Understood. I resume retries at 10 % at 16:00 UTC."},
            ],
        },
    ),
    Example(
        "context_set_profile",
        "What every block for a user says first",
        {"user_id": "ana", "text": "Ana runs payments in Madrid. She wants numbers first."},
    ),
    Example("context_profiles", "A user's profile", parameters={"user_id": "ana"}),
    Example("context_delete_profile", "No longer needed", parameters={"user_id": "ana"}),
    Example(
        "context_assemble",
        "What matters before the next step",
        {
            "query": "Why were payments charged twice, and may I retry the webhooks?",
            "caller": "scout",
            "mission_namespace": MISSION,
            "token_budget": 300,
        },
        keep={"assembly": "assembly_id", "handle": "sources.0.handle"},
    ),
    Example(
        "context_prompt",
        "A system prompt for Anthropic, with what matters now at its end",
        {
            "blocks": [
                {"name": "role", "stability": "stable", "text": "You are scout. You investigate incidents."},
                {"name": "user", "stability": "semi_stable", "text": "Ana runs payments in Madrid."},
                {"name": "date", "stability": "dynamic", "text": "Today is Saturday, 4 July 2026."},
            ],
            "tiers": {"operational": ["role"]},
            "source": "user",
            "context": {
                "query": "Why were payments charged twice?",
                "caller": "scout",
                "mission_namespace": MISSION,
                "token_budget": 100,
            },
            "format": "anthropic",
        },
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
    Example("context_given", "Who was given it", parameters={"handle": "$handle", "limit": 1}),
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
    Example("timeline", "A page of a mission", parameters={"mission": MISSION, "after": 0, "limit": 2}),
    Example(
        "timeline",
        "A stream from the beginning",
        parameters={"mission": MISSION, "after": 0},
        accept="text/event-stream",
    ),
    Example("monitor", "Who works on a mission", parameters={"mission": MISSION}),
    Example(
        "monitor",
        "Each agent's state, as it changes",
        parameters={"mission": MISSION},
        accept="text/event-stream",
    ),
]

_KEYS = [
    Example(
        "context_make_key",
        "A key of one agent, for one mission",
        {
            "name": "scout in the incident",
            "access": "write",
            "agent": "scout",
            "missions": [MISSION],
            "requests_per_second": 20,
            "burst": 40,
            "requests_per_day": 100_000,
        },
        keep={"key": "key.id"},
    ),
    Example("context_backlog", "What waits for its vectors?"),
    Example("context_me", "Who am I?"),
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
    Example("context_audit", "What was done to keys", parameters={"action": "key_revoke", "limit": 1}),
]

_COSTS = [
    Example(
        "context_record_cost",
        "A call of the agent's own model",
        {
            "agent": "scout",
            "mission": MISSION,
            "session_id": "s-1",
            "model": "claude-sonnet-4-5",
            "input_tokens": 1_200,
            "output_tokens": 300,
            "cache_read_tokens": 20_000,
            "cache_write_tokens": 500,
        },
    ),
    Example("context_costs", "What each agent spent", parameters={"by": "agent", "mission": MISSION}),
    Example("context_savings", "What paging saved the mission", parameters={"mission": MISSION}),
    Example("context_cost_calls", "The last call", parameters={"agent": "scout", "limit": 1}),
    Example(
        "context_set_ceiling",
        "A mission may cost five dollars a day",
        {"mission": MISSION, "period": "day", "limit_usd": "5"},
    ),
    Example("context_ceilings", "The ceilings, and what is spent"),
    Example(
        "context_changes", "Has anything changed?", parameters={"session_id": SESSION, "caller": "scout"}
    ),
    Example("context_allowance", "May another call be made?", parameters={"mission": MISSION}),
    Example("context_reset_ceiling", "No ceiling any more", parameters={"mission": MISSION, "period": "day"}),
]

_HOOK = {"webhook_id": "$webhook"}
_WEBHOOKS = [
    Example(
        "webhooks_make",
        "What a mission decides, to a chat",
        {
            "url": "https://hooks.example/scrubjay",
            "kinds": ["cache_write"],
            "missions": [MISSION],
            "description": "The incident's channel",
        },
        keep={"webhook": "webhook.id"},
    ),
    Example("webhooks_list", "The first webhooks", parameters={"limit": 10}),
    Example("webhooks_get", "Whether it sends", parameters=_HOOK),
    Example("webhooks_send_test", "A receiver that nobody knows", parameters=_HOOK),
    Example(
        "webhooks_change", "Every kind, and not now", {"kinds": None, "status": "paused"}, parameters=_HOOK
    ),
    Example("webhooks_rotate", "A new secret", {"overlap_seconds": 3_600}, parameters=_HOOK),
    Example("webhooks_deliveries", "The dead letters", parameters={**_HOOK, "status": "dead"}),
    Example("webhooks_redeliver", "All dead letters again", {}, parameters=_HOOK),
    Example("webhooks_delete", "Nobody listens any more", parameters=_HOOK),
]

_SECRETS = [
    Example("context_set_secret_policy", "Refuse what holds a secret", {"policy": "refuse"}),
    Example("context_secret_policy", "The policy in force"),
    Example("context_set_secret_policy", "Back to the installation's default", {"policy": None}),
]

_LANGUAGES = [
    Example("context_set_language", "Most texts are German", {"language": "de"}),
    Example("context_language", "The language in force"),
    Example("context_set_language", "No language is taken for granted", {"language": None}),
]

_REVIEW = [
    Example("context_set_review_rule", "An agent's writes wait", {"agent_name": "trainee"}),
    Example("context_review_rules", "Whose writes wait"),
    Example(
        "agent_memory_commit",
        "A memory that waits",
        {
            "agent_name": "trainee",
            "content": "Provider webhooks may be retried without asking the ledger",
            "memory_type": "skill_heuristic",
        },
    ),
    Example("context_review", "What waits", parameters={"kind": "waiting"}),
    Example(
        "context_review_decide",
        "An item that is right leaves the queue",
        {"handle": "$handle", "decision": "approve"},
    ),
    Example("context_reset_review_rule", "They no longer wait", parameters={"agent": "trainee"}),
]

_ERASURE = [
    Example("context_purge", "A user, everywhere", {"user_id": "ana"}),
    Example("cache_delete_entry", "One entry less", parameters={"entry_id": "$entry"}),
    Example(
        "cache_clear",
        "The mission is over",
        parameters={"mission_id": MISSION, "reason": "mission_complete"},
    ),
    Example("agent_memory_delete", "One memory less", parameters={"memory_id": "$memory"}),
    Example("vault_remove", "One file less", parameters={"path": "shared/runbooks/webhooks.md"}),
    Example("agent_memory_forget", "All of an agent", {"agent_name": "scout"}),
    Example("agent_memory_import", "What was exported", "$lines"),
    Example("context_purge", "A mission, everywhere", {"scope": f"mission:{MISSION}"}),
    Example("context_purge", "An agent, everywhere", {"agent_name": "scout"}),
]

EXAMPLES = [
    *CACHE,
    *MEMORY,
    *LONG_TERM,
    *FACTS,
    *_CONTEXT,
    *SESSIONS,
    *CHECKPOINTS,
    *_KEYS,
    *_COSTS,
    *_WEBHOOKS,
    *_SECRETS,
    *_LANGUAGES,
    *_REVIEW,
    *_ERASURE,
]
