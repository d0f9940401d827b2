"""The panels of Grafana's dashboards."""

from __future__ import annotations

from typing import NamedTuple


class Panel(NamedTuple):
    """`queries` maps legends to queries. `$here` stands for the selected namespace and services."""

    row: str
    title: str
    unit: str
    queries: dict[str, str]
    says: str = ""
    width: int = 8


def _rate(metric: str, by: str, more: str = "") -> str:
    return f"sum by ({by}) (rate({metric}{{$here{more}}}[$__rate_interval]))"


def _quantile(q: float, metric: str, by: str) -> str:
    return f"histogram_quantile({q}, sum by ({by}, le) (rate({metric}_bucket{{$here}}[$__rate_interval])))"


_ERRORS = ', status=~"5.."'

REQUESTS = [
    Panel("Services", "Requests", "reqps", {"{{job}}": _rate("scrubjay_http_requests_total", "job")}),
    Panel(
        "Services",
        "Share of errors",
        "percentunit",
        {
            "{{job}}": f"(({_rate('scrubjay_http_requests_total', 'job', _ERRORS)}) or "
            f"0 * ({_rate('scrubjay_http_requests_total', 'job')})) / "
            f"({_rate('scrubjay_http_requests_total', 'job')} > 0)"
        },
        "Answers with status 500 and above, as a share of all.",
    ),
    Panel(
        "Services",
        "Time to answer",
        "s",
        {
            f"{{{{job}}}} p{name}": _quantile(q, "scrubjay_http_request_seconds", "job")
            for name, q in (("50", 0.5), ("99", 0.99))
        },
    ),
    Panel(
        "Routes",
        "Requests by route",
        "reqps",
        {"{{job}} {{method}} {{route}}": _rate("scrubjay_http_requests_total", "job, method, route")},
        width=12,
    ),
    Panel(
        "Routes",
        "Time to answer by route, p99",
        "s",
        {
            "{{job}} {{method}} {{route}}": _quantile(
                0.99, "scrubjay_http_request_seconds", "job, method, route"
            )
        },
        width=12,
    ),
    Panel(
        "Routes",
        "Refusals and errors by route",
        "reqps",
        {
            "{{job}} {{status}} {{method}} {{route}}": _rate(
                "scrubjay_http_requests_total", "job, status, method, route", ', status=~"[45].."'
            )
        },
        width=24,
    ),
    Panel(
        "Load",
        "In flight",
        "short",
        {
            "{{job}}": "sum by (job) (scrubjay_http_requests_in_flight{$here})",
            "{{job}} streams": "sum by (job) (scrubjay_http_streams_open{$here})",
        },
        "The cache's autoscaler uses this. Event streams are counted separately.",
    ),
    Panel(
        "Load",
        "Shed: the service was full",
        "reqps",
        {"{{job}}": _rate("scrubjay_http_shed_total", "job")},
    ),
    Panel(
        "Load",
        "Resting for other tenants",
        "s",
        {"{{job}}": _rate("scrubjay_http_rest_seconds_total", "job")},
        "Seconds in each second, of requests of tenants that want too much. Only with fewer than eight processors.",
    ),
    Panel(
        "Load",
        "Refused by a key's limits",
        "reqps",
        {
            "refused": "sum(rate(scrubjay_rate_limited_total{$here}[$__rate_interval]))",
            "counted without Redis": "sum(rate(scrubjay_rate_limits_local_total{$here}[$__rate_interval]))",
        },
        "Without Redis each replica counts alone, so keys may exceed their limits.",
    ),
    Panel(
        "Processes",
        "CPU",
        "short",
        {"{{job}} {{instance}}": "rate(process_cpu_seconds_total{$here}[$__rate_interval])"},
        "A process uses one core, plus what the local embedder takes.",
    ),
    Panel("Processes", "Memory", "bytes", {"{{job}} {{instance}}": "process_resident_memory_bytes{$here}"}),
    Panel("Processes", "Open files", "short", {"{{job}} {{instance}}": "process_open_fds{$here}"}),
]

MEMORY = [
    Panel(
        "Retrieval",
        "Sources missing from answers",
        "ops",
        {"{{source}}": _rate("scrubjay_degraded_total", "source")},
        "Answers lacked this source, and each said so.",
    ),
    Panel(
        "Retrieval",
        "Searches sent again",
        "ops",
        {"{{owner}}, {{reason}}": _rate("scrubjay_hedged_total", "owner, reason")},
        "Hedged calls: the first was late, or its connection ended.",
    ),
    Panel(
        "Retrieval",
        "Embedding calls",
        "ops",
        {
            "{{job}} {{provider}} {{outcome}}": _rate(
                "scrubjay_embedding_calls_total", "job, provider, outcome"
            )
        },
    ),
    Panel(
        "Hot scopes",
        "Searches in memory",
        "ops",
        {
            "{{store}}": _rate("scrubjay_hot_searches_total", "store"),
            "{{store}} without a copy": _rate("scrubjay_hot_misses_total", "store"),
        },
        "A scope is copied after its second question. Without a copy, Postgres searches.",
    ),
    Panel(
        "Hot scopes",
        "Memory of the copies",
        "bytes",
        {"{{job}} {{instance}}": "scrubjay_hot_bytes{$here}"},
        "At most SCRUBJAY_HOT_SCOPES_MB in each process.",
    ),
    Panel(
        "Hot scopes",
        "Copies made and given up",
        "ops",
        {
            "made, {{store}}": _rate("scrubjay_hot_loads_total", "store"),
            "given up, {{reason}}": _rate("scrubjay_hot_evictions_total", "reason"),
        },
        "Many given up for want of room: the budget is too small for what is asked.",
    ),
    Panel(
        "Hot scopes",
        "Copies",
        "short",
        {"{{job}} {{instance}}": "scrubjay_hot_scopes{$here}"},
    ),
    Panel(
        "Writing",
        "Items waiting for their vectors",
        "short",
        {"{{store}}": "max by (store) (scrubjay_index_backlog{$here})"},
        "Until then, search finds them by their words only.",
    ),
    Panel(
        "Writing",
        "Items whose vectors were stored",
        "ops",
        {"{{store}}": _rate("scrubjay_indexed_total", "store")},
    ),
    Panel(
        "Writing",
        "Time until all items have their vectors",
        "s",
        {"{{store}}": "min by (store) (scrubjay_index_seconds_left{$here})"},
        "At the pace of the fastest replica in the last minute.",
    ),
    Panel(
        "Writing",
        "Tokens embedded",
        "short",
        {"{{job}} {{provider}}": _rate("scrubjay_embedding_tokens_total", "job, provider")},
    ),
    Panel(
        "Writing",
        "Evictions",
        "ops",
        {"evicted": "sum(rate(scrubjay_cache_evicted_total{$here}[$__rate_interval]))"},
        "Entries evicted to stay within their mission's budget.",
    ),
    Panel(
        "Timeline and log",
        "Events waiting for their number",
        "short",
        {"{{job}}": "max by (job) (scrubjay_timeline_unnumbered{$here})"},
        "The lag of the timeline.",
    ),
    Panel(
        "Timeline and log",
        "Assemblies waiting for their row",
        "short",
        {"{{job}}": "sum by (job) (scrubjay_assembly_log_backlog{$here})"},
    ),
    Panel(
        "Timeline and log",
        "Lost along the way",
        "ops",
        {
            "rings": "sum(rate(scrubjay_timeline_rings_lost_total{$here}[$__rate_interval]))",
            "signals": "sum(rate(scrubjay_signals_lost_total{$here}[$__rate_interval]))",
            "spans": "sum(rate(scrubjay_spans_lost_total{$here}[$__rate_interval]))",
        },
        "No data is lost: a lost ring delays a stream, a lost signal teaches nothing, a lost span shows nowhere.",
    ),
    Panel(
        "Webhooks",
        "Age of the oldest event that waits",
        "s",
        {"{{job}}": "max by (job) (scrubjay_webhook_lag_seconds{$here})"},
        "Of active webhooks. One receiver that fails is enough.",
    ),
    Panel(
        "Webhooks",
        "Events that wait to be sent",
        "short",
        {"{{job}}": "max by (job) (scrubjay_webhook_waiting{$here})"},
    ),
    Panel(
        "Webhooks",
        "Attempts by outcome",
        "ops",
        {"{{outcome}}": _rate("scrubjay_webhook_attempts_total", "outcome")},
        "`dead`: given up after the last attempt. `failed`: tried again later.",
    ),
    Panel(
        "Postgres",
        "Wait for a connection",
        "s",
        {
            f"{{{{job}}}} p{name}": _quantile(q, "scrubjay_postgres_pool_wait_seconds", "job")
            for name, q in (("50", 0.5), ("99", 0.99))
        },
        width=12,
    ),
    Panel(
        "Postgres",
        "Calls abandoned at their deadline",
        "ops",
        {"{{job}}": _rate("scrubjay_postgres_timeouts_total", "job")},
        width=12,
    ),
]
