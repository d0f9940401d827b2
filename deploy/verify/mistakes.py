"""Mistakes that people make in the chart. A check that detects none of them proves nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deploy.verify.checks import verify
from deploy.verify.manifests import Manifest, of_kind, render, value_set
from deploy.verify.tools import ToolError

Mutation = Callable[[list[Manifest]], object]
"""Changes the rendered manifests."""
Changes = dict[str, Any]
"""Values that a person might set, by path."""


def put(target: str, path: str, value: object) -> Mutation:
    """Sets a field of a manifest. `target` is a kind and the end of a name. `path` takes indexes or names of items."""

    def mutate(manifests: list[Manifest]) -> None:
        *above, last = path.split(".")
        _walk(_find(manifests, target), above)[last] = value

    return mutate


def drop(target: str, path: str = "") -> Mutation:
    """Removes a field or a list item, or the whole manifest if there is no path."""

    def mutate(manifests: list[Manifest]) -> None:
        if not path:
            manifests.remove(_find(manifests, target))
            return
        *above, last = path.split(".")
        holder = _walk(_find(manifests, target), above)
        holder.remove(_step(holder, last)) if isinstance(holder, list) else holder.pop(last)

    return mutate


def _find(manifests: list[Manifest], target: str) -> Manifest:
    kind, _, ending = target.partition(" ")
    return next(m for m in of_kind(manifests, kind) if m["metadata"]["name"].endswith(ending))


def _walk(node: Any, path: list[str]) -> Any:
    for step in path:
        node = _step(node, step)
    return node


def _step(node: Any, step: str) -> Any:
    if not isinstance(node, list):
        return node[step]
    return node[int(step)] if step.isdigit() else next(item for item in node if item["name"] == step)


_CACHE, _CONTEXT, _MIGRATION = "Deployment -cache", "Deployment -context", "Job -migration"
_POD = "spec.template.spec"
_CONTAINER = f"{_POD}.containers.0"
_PATH = "spec.rules.0.http.paths.0"
_BACKEND = f"{_PATH}.backend.service"
_NOBODY = {"app.kubernetes.io/component": "nobody"}
_EVERY_POD = {"app.kubernetes.io/name": "scrubjay", "app.kubernetes.io/instance": "sj"}

# By value set and the check that must detect them. "values" means that Helm itself refuses.
MISTAKES: Mapping[str, Mapping[str, Mapping[str, Mutation | Changes]]] = {
    "team": {
        "schema": {
            "a misspelt field": put(_CACHE, "spec.replica", 2),
            "a port as text": put(_CACHE, f"{_CONTAINER}.ports.0.containerPort", "8081"),
            "a removed API version": put("HorizontalPodAutoscaler", "apiVersion", "autoscaling/v2beta2"),
            "an Ingress path without its type": drop("Ingress", f"{_PATH}.pathType"),
            "an Ingress backend of the old form": put("Ingress", f"{_PATH}.backend", {"serviceName": "x"}),
        },
        "model": {
            "a ServiceMonitor without endpoints": drop("ServiceMonitor", "spec.endpoints"),
            "a rule without an expression": drop("PrometheusRule", "spec.groups.0.rules.0.expr"),
        },
        "ports": {
            "a targetPort that no container has": put("Service", "spec.ports.0.targetPort", "web"),
            "a probe of a missing port": put(_CACHE, f"{_CONTAINER}.readinessProbe.httpGet.port", 9000),
        },
        "selectors": {
            "a Deployment of other pods": put(_CACHE, "spec.selector.matchLabels", _NOBODY),
            "a Service of every pod": put("Service -context", "spec.selector", _EVERY_POD),
            "a disruption budget of nobody": put("PodDisruptionBudget", "spec.selector.matchLabels", _NOBODY),
            "a policy of nobody": put("NetworkPolicy -context", "spec.podSelector.matchLabels", _NOBODY),
        },
        "entrances": {
            "an Ingress to a missing Service": put("Ingress", f"{_BACKEND}.name", "sj-scrubjay-proxy"),
            "an Ingress to the cache": put("Ingress", f"{_BACKEND}.name", "sj-scrubjay-cache"),
            "an Ingress to a missing port": put("Ingress", f"{_BACKEND}.port", {"name": "https"}),
        },
        "autoscalers": {
            "an autoscaler of nothing": put(
                "HorizontalPodAutoscaler", "spec.scaleTargetRef.name", "sj-cache"
            ),
            "an autoscaler by a metric that is not served": put(
                "HorizontalPodAutoscaler -cache", "spec.metrics.0.pods.metric.name", "scrubjay_in_flight"
            ),
            "an autoscaler without CPU": drop("HorizontalPodAutoscaler -cache", "spec.metrics.1"),
            "replicas against the autoscaler": put(_CACHE, "spec.replicas", 2),
            "an autoscaler upside down": {"cache.autoscaling.minReplicas": 40},
        },
        "secrets": {
            "a missing Secret": put(
                _CACHE, f"{_CONTAINER}.env.DATABASE_URL.valueFrom.secretKeyRef.name", "scrubjay-db"
            ),
            "a missing key": put(_CACHE, f"{_CONTAINER}.env.DATABASE_URL.valueFrom.secretKeyRef.key", "url"),
        },
        "hooks": {
            "a migration after the rollout": put(
                "Job", "metadata.annotations", {"helm.sh/hook": "post-install,post-upgrade"}
            ),
        },
        "mounts": {
            "a mount without a volume": drop("Deployment -agent-memory", f"{_POD}.volumes"),
        },
        "monitors": {
            "a scraper without the token": drop("ServiceMonitor", "spec.endpoints.0.authorization"),
            "a ServiceMonitor of a missing port": put("ServiceMonitor", "spec.endpoints.0.port", "metrics"),
            "an alert on a metric that is not served": put(
                "PrometheusRule", "spec.groups.0.rules.0.expr", "scrubjay_errors > 1"
            ),
        },
        "environment": {
            "a setting that nothing reads": {"cache.config.SCRUBJAY_CACHE_TTL": 72},
            "a setting of another service": {"context.config.SCRUBJAY_CACHE_TTL_HOURS": 72},
            "a setting out of its bounds": {"context.config.SCRUBJAY_MAX_BUDGET": 99999},
            "a setting given twice": {"cache.config.SCRUBJAY_PORT": 9000},
            "context without the cache's address": drop(_CONTEXT, f"{_CONTAINER}.env.SCRUBJAY_CACHE_URL"),
            "migrations without a role": drop(_MIGRATION, f"{_CONTAINER}.env.SCRUBJAY_ROLE_CACHE"),
            "a missing command": put(_CACHE, f"{_CONTAINER}.command", ["python", "-m", "services.cash"]),
        },
        "restricted": {
            "root": put(_CACHE, f"{_POD}.securityContext.runAsUser", 0),
            "a writable root": drop(_CACHE, f"{_CONTAINER}.securityContext.readOnlyRootFilesystem"),
            "added capabilities": put(
                _CACHE, f"{_CONTAINER}.securityContext.capabilities.add", ["NET_ADMIN"]
            ),
            "no seccomp profile": drop(
                "CronJob -eval", f"spec.jobTemplate.{_POD}.securityContext.seccompProfile"
            ),
            "a token of the cluster's API": drop(_MIGRATION, f"{_POD}.automountServiceAccountToken"),
        },
        "resources": {
            "a request above its limit": put(_CACHE, f"{_CONTAINER}.resources.requests.memory", "1Gi"),
            "not a quantity": put(_CACHE, f"{_CONTAINER}.resources.limits.memory", "512mb"),
        },
        "rollouts": {
            "killed while it drains": put(_CACHE, f"{_POD}.terminationGracePeriodSeconds", 10),
            "no sleep before SIGTERM": drop(_CACHE, f"{_CONTAINER}.lifecycle"),
            "restarted when Postgres fails": put(
                _CACHE, f"{_CONTAINER}.livenessProbe.httpGet.path", "/readyz"
            ),
            "a budget that blocks node drains": put("PodDisruptionBudget", "spec.maxUnavailable", 0),
        },
        "schedules": {
            "a schedule of four fields": {"cronJobs.eval.schedule": "17 * * *"},
            "a schedule at an impossible hour": {"cronJobs.eval.schedule": "17 25 * * *"},
        },
        "names": {
            "a name twice": lambda manifests: manifests.append(_find(manifests, "Service")),
        },
        "network": {
            "no default deny": drop("NetworkPolicy -default-deny"),
            "owners open to their namespace": put(
                "NetworkPolicy -owners", "spec.ingress.0.from", [{"podSelector": {}}]
            ),
            "owners open to everybody": drop("NetworkPolicy -owners", "spec.ingress.0.from"),
            "scraping open to a whole cluster": {"networkPolicy.metricsFrom": [{"namespaceSelector": {}}]},
            "a way out to the internet": {"networkPolicy.extraEgress": [{"ports": [{"port": 443}]}]},
            "the wrong port of Postgres": {"networkPolicy.postgresPort": 5433},
            "context cut off from the owners": lambda m: _find(m, "NetworkPolicy -context")["spec"][
                "egress"
            ].pop(),
            "no names resolved": drop("NetworkPolicy -dns"),
            "no policies": {"networkPolicy.enabled": False},
        },
        "values": {
            "no resources": {"cache.resources": None},
            "a misspelt value": {"cache.replica": 3},
            "an entrance to the inward routes": {"publicPaths": ["/api", "/internal"]},
            "no Secrets at all": {"secrets.existing": "", "secrets.existingOwner": ""},
            "an Ingress without a host": {"ingress.hosts": []},
            "metrics that nobody may scrape": {"networkPolicy.metricsFrom": []},
        },
    },
    "trial": {
        "hooks": {
            "the owner's Secret as a plain resource": drop("Secret -owner", "metadata.annotations"),
        },
    },
    "paid-embedder": {
        "entrances": {
            "a route without a backend": drop("HTTPRoute", "spec.rules.0.backendRefs"),
            "a route to agent-memory": put(
                "HTTPRoute", "spec.rules.0.backendRefs", [{"name": "sj-scrubjay-agent-memory", "port": 8082}]
            ),
        },
        "values": {
            "a route without a Gateway": {"httpRoute.parentRefs": []},
        },
    },
}


def count() -> int:
    return sum(len(mistakes) for checks in MISTAKES.values() for mistakes in checks.values())


def unseen() -> Iterator[str]:
    """Every mistake that its check does not detect."""
    for values, checks in MISTAKES.items():
        good = render(value_set(values))
        for check, mistakes in checks.items():
            for name, make in mistakes.items():
                seen = _seen(make, value_set(values), good)
                if check not in seen:
                    yield f"{name}: {check} does not see it, but {', '.join(sorted(seen)) or 'nothing'} does"


def _seen(make: Mutation | Changes, values: Path, good: list[Manifest]) -> set[str]:
    try:
        bad = render(values, make) if isinstance(make, dict) else _changed(make, good)
    except ToolError:
        return {"values"}
    return {finding.check for finding in verify(bad, values, known=good)}


def _changed(make: Mutation, good: list[Manifest]) -> list[Manifest]:
    bad = copy.deepcopy(good)
    make(bad)
    return bad
