"""Tests the alert rules with promtool: each fires on its fault, and none on a healthy cluster."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from deploy.verify.findings import Finding
from deploy.verify.tools import CHART, ToolError, promtool, run

RULES = CHART / "files" / "alerts.yaml"
# More than an hour: an alert must not end while its fault lasts.
_AT = "100m"
_STEPS = 100

_HERE = 'namespace="ours", job="scrubjay-context", instance="10.0.0.1:8080"'


def _series(metric: str, labels: str = "") -> str:
    return f"{metric}{{{_HERE}{labels and ', ' + labels}}}"


def _rising(each_minute: float) -> str:
    return f"0+{each_minute:g}x{_STEPS}"


def _steady(value: float) -> str:
    return f"{value:g}x{_STEPS}"


_ASSEMBLES = 'route="/api/context/assemble", method="POST", status="200"'
_IN_TIME, _LATE = 'le="0.05"', 'le="10"'

HEALTHY: Mapping[str, str] = {
    _series("up"): _steady(1),
    _series("scrubjay_http_requests_in_flight"): _steady(3),
    _series("scrubjay_http_requests_total", _ASSEMBLES): _rising(6_000),
    _series("scrubjay_http_requests_total", _ASSEMBLES.replace("200", "503")): _rising(6),
    _series("scrubjay_http_request_seconds_bucket", _IN_TIME): _rising(6_000),
    _series("scrubjay_http_request_seconds_bucket", _LATE): _rising(6_000),
    _series("scrubjay_http_request_seconds_bucket", 'le="+Inf"'): _rising(6_000),
    _series("scrubjay_http_shed_total"): _steady(12),
    _series("scrubjay_postgres_timeouts_total"): _rising(1),
    _series("scrubjay_postgres_pool_wait_seconds_bucket", _IN_TIME): _rising(6_000),
    _series("scrubjay_postgres_pool_wait_seconds_bucket", _LATE): _rising(6_000),
    _series("scrubjay_postgres_pool_wait_seconds_bucket", 'le="+Inf"'): _rising(6_000),
    _series("scrubjay_degraded_total", 'source="embedder", reason="timeout"'): _rising(6),
    _series("scrubjay_embedding_calls_total", 'provider="voyage", outcome="ok"'): _rising(600),
    _series("scrubjay_embedding_calls_total", 'provider="voyage", outcome="slow"'): _rising(6),
    _series("scrubjay_index_backlog", 'store="psychic_cache"'): _steady(40),
    _series("scrubjay_timeline_unnumbered"): _steady(5),
    _series("scrubjay_timeline_rings_lost_total"): _steady(3),
    _series("scrubjay_rate_limits_local_total"): _steady(7),
    _series("scrubjay_webhook_lag_seconds"): _steady(40),
    _series("scrubjay_webhook_attempts_total", 'outcome="delivered"'): _rising(600),
    _series("scrubjay_webhook_attempts_total", 'outcome="dead"'): _steady(3),
    _series("scrubjay_assembly_log_backlog"): _steady(20),
}

# The fault that each alert reports, as series that replace healthy ones.
FAULTS: Mapping[str, Mapping[str, str]] = {
    "ScrubjayAway": {
        _series("up"): f"1x20 0x{_STEPS - 20}",
        _series("scrubjay_http_requests_in_flight"): f"3x20 _x{_STEPS - 20}",
    },
    "ScrubjayAnswersErrors": {
        _series("scrubjay_http_requests_total", _ASSEMBLES.replace("200", "503")): _rising(120)
    },
    "ScrubjaySlow": {_series("scrubjay_http_request_seconds_bucket", _IN_TIME): _rising(5_800)},
    "ScrubjayRefusesRequests": {_series("scrubjay_http_shed_total"): _rising(60)},
    "ScrubjayDatabaseSlow": {_series("scrubjay_postgres_timeouts_total"): _rising(60)},
    "ScrubjayConnectionsShort": {
        _series("scrubjay_postgres_pool_wait_seconds_bucket", _IN_TIME): _rising(5_800)
    },
    "ScrubjayAnswersDegraded": {
        _series("scrubjay_degraded_total", 'source="embedder", reason="timeout"'): _rising(600)
    },
    "ScrubjayEmbedderFails": {
        _series("scrubjay_embedding_calls_total", 'provider="voyage", outcome="slow"'): _rising(600)
    },
    "ScrubjayVectorsLag": {_series("scrubjay_index_backlog", 'store="psychic_cache"'): _steady(5_000)},
    "ScrubjayTimelineLags": {_series("scrubjay_timeline_unnumbered"): _steady(5_000)},
    "ScrubjayRingsLost": {_series("scrubjay_timeline_rings_lost_total"): _rising(60)},
    "ScrubjayRatesCountedApart": {_series("scrubjay_rate_limits_local_total"): _rising(60)},
    "ScrubjayWebhooksLate": {_series("scrubjay_webhook_lag_seconds"): _steady(4_000)},
    "ScrubjayWebhooksGiveUp": {
        _series("scrubjay_webhook_attempts_total", 'outcome="dead"'): f"3x{_STEPS - 20} 4x20"
    },
    "ScrubjayLogBehind": {_series("scrubjay_assembly_log_backlog"): _steady(900)},
}


def names() -> list[str]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule["alert"] for group in groups for rule in group["rules"]]


def well_formed() -> Iterator[str]:
    for path in sorted((CHART / "files").glob("*.yaml")):
        try:
            run([promtool(), "check", "rules", "--lint-fatal", path])
        except ToolError as error:
            yield str(error)


def fire_when_they_should() -> Iterator[Finding]:
    for name in sorted(set(names()) ^ FAULTS.keys()):
        yield Finding("alerts", f"{name} has no rule, or nothing shows that it fires")
    tests = [_test("healthy", {}, []), *(_test(name, FAULTS[name], [name]) for name in FAULTS)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alerts_test.yaml"
        path.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}))
        try:
            run([promtool(), "test", "rules", path])
        except ToolError as error:
            yield Finding("alerts", str(error))


def _test(name: str, fault: Mapping[str, str], firing: list[str]) -> dict[str, Any]:
    """A promtool test that exactly these alerts fire."""
    series = {**HEALTHY, **fault}
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": one, "values": values} for one, values in series.items()],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": _AT,
                "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in firing],
            }
        ],
    }
