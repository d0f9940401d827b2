"""What breaks a rule and stays, with the reason for each. An entry that nothing needs any more is an error, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Exempt(NamedTuple):
    rules: frozenset[str]
    reason: str


def _exempt(rules: str, reason: str) -> Exempt:
    return Exempt(frozenset(rules.split(", ")), reason)


def _all(names: Iterable[str], exempt: Exempt) -> dict[str, Exempt]:
    return dict.fromkeys(names, exempt)


_BATCH = "It writes what several callers left in memory in one round trip. An engine that distributes runs it in parts."
_SWEEP = "It removes what is out of date from all tenants, every hour; each node can do its part."
_LIST = "It lists the tenants that have work. Statements for one tenant do the work."
_QUEUE = "The indexer takes items of several tenants in turn. Distributed, it asks for one tenant at a time."
_CLAIMED = "It reads or stores what was claimed, which are items of several tenants."
_PARTITIONED = (
    "The key of a partitioned table; nothing refers to a row by it. Distributing the table replaces it."
)

KEYS = {
    "timeline.events_pkey": _PARTITIONED,
    "timeline.costs_pkey": _PARTITIONED,
} | dict.fromkeys(
    ("cache.embedding_cache_pkey", "memory.embedding_cache_pkey", "context.embedding_cache_pkey"),
    "The key is a hash that the tenant is a part of. The release before names it in ON CONFLICT, so it stays."
    " Distributing the table replaces it.",
)

STATEMENTS = {
    **_all(
        (
            "services/cache/entries/queries.py:NOTE_QUERIES",
            "services/context/log/queries.py:LOG_ASSEMBLIES",
        ),
        _exempt("tenant", _BATCH),
    ),
    "services/agent_memory/memories/accesses.py:COUNT_ACCESSES": _exempt(
        "tenant, lock, locked query", _BATCH
    ),
    "services/agent_memory/memories/accesses.py:STILL_THERE": _exempt("tenant", _BATCH),
    "services/agent_memory/vector_index/queries.py:TENANTS": _exempt(
        "tenant", "It names the tenants whose vectors are to be indexed, one after the other."
    ),
    "services/agent_memory/vector_index/queries.py:INDEX": _exempt(
        "locked query", "It skips the vectors that another transaction is deleting."
    ),
    "services/cache/sessions/summarizing/queries.py:KEEP": _exempt(
        "locked query", "It skips an object that another transaction changes or deletes, and tries again."
    ),
    "services/context/log/queries.py:SIGNAL": _exempt("tenant, correlated", _BATCH),
    **_all(
        (
            "services/agent_memory/long_term/expiry.py:OVERDUE_TENANTS",
            "services/cache/dispatches/queries.py:SILENT_TENANTS",
            "services/cache/missions/queries.py:EXPIRED_MISSIONS",
            "services/context/learning/queries_feedback.py:WAITING_CALLERS",
            "services/context/webhooks/queries_sending.py:TENANTS",
            "services/context/webhooks/queries_sending.py:SENDERS",
        ),
        _exempt("tenant", _LIST),
    ),
    "services/context/learning/queries.py:COUNTS": _exempt(
        "tenant", "Without a tenant, an admin counts all."
    ),
    "services/context/timeline/queries.py:LAST_NUMBERS": _exempt(
        "tenant", "It reads the counters of the tenants that streams follow, in one round trip."
    ),
    **_all(
        (
            "services/context/consolidation/queries.py:ACTIVE",
            "services/context/consolidation/queries.py:LAST",
            "services/context/consolidation/queries.py:SINCE",
        ),
        _exempt(
            "tenant", "It follows the events of all tenants, as many at a time as it reads in one round trip."
        ),
    ),
    "services/context/timeline/queries.py:UNNUMBERED": _exempt("tenant", "It counts for a metric."),
    **_all(
        (
            "services/context/webhooks/queries_sending.py:WAITING",
            "services/context/webhooks/queries_sending.py:UNPLANNED",
        ),
        _exempt("tenant", "It counts for a metric."),
    ),
    "services/cache/checkpoints/queries.py:SWEEP": _exempt("tenant", _SWEEP),
    "services/context/gateway/sessions/queries.py:SWEEP": _exempt("tenant", _SWEEP),
    "services/context/delta/queries.py:SWEEP": _exempt("tenant", _SWEEP),
    "Records:sweep_sql": _exempt("tenant", _SWEEP),
    "EmbeddingTable:trim_sql": _exempt("tenant", _SWEEP),
    "QueueStatements:claim": _exempt("tenant, lock, locked query, volatile", _QUEUE),
    "QueueStatements:claim_these": _exempt("tenant, lock, locked query, volatile", _QUEUE),
    "QueueStatements:renew": _exempt("tenant, lock, locked query, volatile", _QUEUE),
    "QueueStatements:postpone": _exempt("tenant, lock, locked query, volatile, stable", _QUEUE),
    "QueueStatements:backlog": _exempt("tenant", "It counts for a metric."),
    "StoreStatements:finish": _exempt("tenant, lock, locked query", _CLAIMED),
    "StoreStatements:drop": _exempt("tenant", _CLAIMED),
    "StoreStatements:texts": _exempt("tenant", _CLAIMED),
    **_all(
        (
            "services/cache/sessions/summarizing/queries.py:DROP",
            "services/cache/sessions/summarizing/queries.py:TEXTS",
        ),
        _exempt("tenant", _CLAIMED),
    ),
    **_all(
        (
            "cache.put_entries",
            "memory.commit_new",
            "memory.commit_new_facts",
            "memory.find_repeats",
            "memory.find_same_facts",
            "memory.put_chunks",
            "memory.put_memories",
        ),
        _exempt("plan", "Planning its statements anew for each call costs more than running them."),
    ),
    "timeline.tenants_waiting": _exempt("tenant", _LIST),
    "timeline.erase_rows": _exempt(
        "dynamic", "It finds a schema's tables in the catalog. Each statement names the tenant."
    ),
    "timeline.maintain_partitions": _exempt(
        "dynamic, tenant", "It creates and drops what is kept of all tenants, by time."
    ),
    "timeline.analyze_grown": _exempt(
        "dynamic", "It analyzes one of our tables, and reads the catalog alone."
    ),
}
