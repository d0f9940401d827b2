"""Prometheus metrics with bounded labels. One registry per process: counters live at module level."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram, Info

from shared.version import VERSION

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

REQUESTS = Counter("scrubjay_http_requests_total", "Requests answered", ["route", "method", "status"])
REQUEST_SECONDS = Histogram(
    "scrubjay_http_request_seconds", "Seconds to answer a request", ["route", "method"], buckets=_BUCKETS
)
IN_FLIGHT = Gauge("scrubjay_http_requests_in_flight", "Requests being answered now")
ALLOWED = Gauge("scrubjay_http_requests_allowed", "Concurrent requests allowed now")
STREAMS = Gauge("scrubjay_http_streams_open", "Event streams open now")
SHED = Counter("scrubjay_http_shed_total", "Requests refused because the service was full")
REST_SECONDS = Counter(
    "scrubjay_http_rest_seconds_total",
    "Seconds that requests of tenants that want too much have rested for others",
)
POOL_WAIT_SECONDS = Histogram(
    "scrubjay_postgres_pool_wait_seconds",
    "Seconds a request waits for a database connection",
    buckets=_BUCKETS,
)
POSTGRES_TIMEOUTS = Counter("scrubjay_postgres_timeouts_total", "Database calls abandoned at their deadline")
DEGRADED = Counter("scrubjay_degraded_total", "Answers given without a source", ["source", "reason"])
HEDGED = Counter("scrubjay_hedged_total", "Owner searches sent a second time", ["owner", "reason"])
INDEX_BACKLOG = Gauge("scrubjay_index_backlog", "Items waiting for their vectors", ["store"])
INDEX_SECONDS_LEFT = Gauge(
    "scrubjay_index_seconds_left",
    "Seconds until all waiting items have their vectors, at this replica's pace of the last minute",
    ["store"],
)
INDEXED = Counter("scrubjay_indexed_total", "Items whose vectors were stored", ["store"])
SUMMARIES = Counter(
    "scrubjay_summaries_total", "Summaries of session objects, by who made them; none could be made", ["by"]
)
EVICTED = Counter("scrubjay_cache_evicted_total", "Cache entries evicted to stay within a budget")
HOT_SEARCHES = Counter(
    "scrubjay_hot_searches_total", "Searches answered through a scope's copy in memory", ["store"]
)
HOT_MISSES = Counter(
    "scrubjay_hot_misses_total", "Searches of scopes that may be copied, but were not", ["store"]
)
HOT_LOADS = Counter("scrubjay_hot_loads_total", "Scopes copied into memory", ["store"])
HOT_EVICTIONS = Counter(
    "scrubjay_hot_evictions_total",
    "Copies of scopes given up for want of room, or because nobody asked",
    ["reason"],
)
HOT_SCOPES = Gauge("scrubjay_hot_scopes", "Copies of scopes in memory")
HOT_BYTES = Gauge("scrubjay_hot_bytes", "Bytes of the copies of scopes in memory")
RINGS_LOST = Counter("scrubjay_timeline_rings_lost_total", "Timeline doorbell rings Redis did not take")
TIMELINE_LAG = Gauge("scrubjay_timeline_unnumbered", "Committed events waiting for their number")
LOG_BACKLOG = Gauge("scrubjay_assembly_log_backlog", "Assemblies waiting for their row in the log")
SIGNALS_LOST = Counter("scrubjay_signals_lost_total", "Implicit feedback signals that were not written")
WEBHOOK_ATTEMPTS = Counter(
    "scrubjay_webhook_attempts_total", "Events that webhooks sent, by what came of it", ["outcome"]
)
# A rate begins with the second value.
for outcome in ("delivered", "failed", "dead", "erased"):
    WEBHOOK_ATTEMPTS.labels(outcome)
WEBHOOK_WAITING = Gauge("scrubjay_webhook_waiting", "Events that wait to be sent by active webhooks")
WEBHOOK_LAG = Gauge(
    "scrubjay_webhook_lag_seconds", "Age of the oldest event that waits to be sent by an active webhook"
)
SPANS_LOST = Counter("scrubjay_spans_lost_total", "Spans the collector did not take")
RATE_LIMITED = Counter("scrubjay_rate_limited_total", "Requests refused by their key's limits")
RATES_LOCAL = Counter(
    "scrubjay_rate_limits_local_total", "Rate checks made in this process because Redis was unavailable"
)
BUILD = Info("scrubjay_build", "The version of this service")
BUILD.info({"version": VERSION})
MCP_CALLS = Counter("scrubjay_mcp_calls_total", "Calls of MCP tools", ["tool", "outcome"])
