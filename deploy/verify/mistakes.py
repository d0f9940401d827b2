"""Mistakes that people make, each of which a check must name: what nobody can fail proves nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from deploy.verify.chart import render, value_set
from deploy.verify.checks import verify
from deploy.verify.findings import Manifest, pod_template
from deploy.verify.tools import ToolError

Manifests = list[Manifest]
Mutation = Callable[[Manifests], Any]


@dataclass(frozen=True)
class Mistake:
    name: str
    check: str
    """Which check must see it; "values" is Helm's own refusal."""
    make: Mutation | dict[str, Any]
    """Of the rendered manifests, or values that a person might give."""
    values: str = "team"


def one(manifests: Manifests, kind: str, ending: str = "") -> Manifest:
    return next(m for m in manifests if m["kind"] == kind and m["metadata"]["name"].endswith(ending))


def spec(manifests: Manifests, kind: str, ending: str = "") -> Manifest:
    found: Manifest = one(manifests, kind, ending)["spec"]
    return found


def pod(manifests: Manifests, ending: str = "-cache", kind: str = "Deployment") -> Manifest:
    template = pod_template(one(manifests, kind, ending))
    assert template is not None
    found: Manifest = template["spec"]
    return found


def container(manifests: Manifests, ending: str = "-cache", kind: str = "Deployment") -> Manifest:
    found: Manifest = pod(manifests, ending, kind)["containers"][0]
    return found


def variable(manifests: Manifests, name: str, ending: str = "-cache", kind: str = "Deployment") -> Manifest:
    found: Manifest = next(v for v in container(manifests, ending, kind)["env"] if v["name"] == name)
    return found


def _without(manifests: Manifests, kind: str, ending: str) -> None:
    manifests.remove(one(manifests, kind, ending))


def _without_variable(manifests: Manifests, name: str, ending: str, kind: str = "Deployment") -> None:
    container(manifests, ending, kind)["env"].remove(variable(manifests, name, ending, kind))


def _backend(manifests: Manifests) -> Manifest:
    found: Manifest = spec(manifests, "Ingress")["rules"][0]["http"]["paths"][0]["backend"]["service"]
    return found


def _rule(manifests: Manifests) -> Manifest:
    found: Manifest = spec(manifests, "PrometheusRule")["groups"][0]["rules"][0]
    return found


MISTAKES = [
    # What schemas see.
    Mistake("a misspelt field", "schema", lambda m: spec(m, "Deployment").update(replica=2)),
    Mistake("a port as text", "schema", lambda m: container(m)["ports"][0].update(containerPort="8081")),
    Mistake(
        "an API version that is gone",
        "schema",
        lambda m: one(m, "HorizontalPodAutoscaler").update(apiVersion="autoscaling/v2beta2"),
    ),
    Mistake(
        "an Ingress path without its type",
        "schema",
        lambda m: spec(m, "Ingress")["rules"][0]["http"]["paths"][0].pop("pathType"),
    ),
    Mistake(
        "an Ingress backend of the old form",
        "schema",
        lambda m: spec(m, "Ingress")["rules"][0]["http"]["paths"][0].update(backend={"serviceName": "x"}),
    ),
    Mistake(
        "a ServiceMonitor without endpoints",
        "model",
        lambda m: spec(m, "ServiceMonitor").update(endpoint=spec(m, "ServiceMonitor").pop("endpoints")),
    ),
    Mistake("a rule without an expression", "model", lambda m: _rule(m).pop("expr")),
    # Names that lead nowhere.
    Mistake(
        "a targetPort that no container has",
        "ports",
        lambda m: spec(m, "Service")["ports"][0].update(targetPort="web"),
    ),
    Mistake(
        "a probe of a port that is not there",
        "ports",
        lambda m: container(m)["readinessProbe"]["httpGet"].update(port=9000),
    ),
    Mistake(
        "a Deployment that selects other pods",
        "selectors",
        lambda m: spec(m, "Deployment", "-cache")["selector"]["matchLabels"].update(
            {"app.kubernetes.io/component": "cash"}
        ),
    ),
    Mistake(
        "a Service that selects every pod of the release",
        "selectors",
        lambda m: spec(m, "Service", "-context")["selector"].pop("app.kubernetes.io/component"),
    ),
    Mistake(
        "a disruption budget of nobody",
        "selectors",
        lambda m: spec(m, "PodDisruptionBudget")["selector"]["matchLabels"].update(
            {"app.kubernetes.io/name": "x"}
        ),
    ),
    Mistake(
        "a network policy of nobody",
        "selectors",
        lambda m: spec(m, "NetworkPolicy", "-context")["podSelector"]["matchLabels"].update(
            {"app.kubernetes.io/name": "x"}
        ),
    ),
    Mistake(
        "an Ingress to a Service that is not there",
        "doors",
        lambda m: _backend(m).update(name="sj-scrubjay-door"),
    ),
    Mistake("an Ingress to the cache", "doors", lambda m: _backend(m).update(name="sj-scrubjay-cache")),
    Mistake(
        "an Ingress to a port that is not there",
        "doors",
        lambda m: _backend(m).update(port={"name": "https"}),
    ),
    Mistake(
        "a route with a misspelt backend",
        "doors",
        lambda m: spec(m, "HTTPRoute")["rules"][0].update(
            backendRef=spec(m, "HTTPRoute")["rules"][0].pop("backendRefs")
        ),
        "paid-embedder",
    ),
    Mistake(
        "a route to agent-memory",
        "doors",
        lambda m: spec(m, "HTTPRoute")["rules"][0]["backendRefs"][0].update(
            name="sj-scrubjay-agent-memory", port=8082
        ),
        "paid-embedder",
    ),
    Mistake(
        "an autoscaler of nothing",
        "autoscalers",
        lambda m: spec(m, "HorizontalPodAutoscaler")["scaleTargetRef"].update(name="sj-cache"),
    ),
    Mistake(
        "an autoscaler by a metric that nobody serves",
        "autoscalers",
        lambda m: spec(m, "HorizontalPodAutoscaler", "-cache")["metrics"][0]["pods"]["metric"].update(
            name="scrubjay_in_flight"
        ),
    ),
    Mistake(
        "an autoscaler without CPU",
        "autoscalers",
        lambda m: spec(m, "HorizontalPodAutoscaler", "-cache")["metrics"].pop(),
    ),
    Mistake(
        "replicas against the autoscaler",
        "autoscalers",
        lambda m: spec(m, "Deployment", "-cache").update(replicas=2),
    ),
    Mistake("an autoscaler upside down", "autoscalers", {"cache.autoscaling.minReplicas": 40}),
    Mistake(
        "a Secret that is not there",
        "secrets",
        lambda m: variable(m, "DATABASE_URL")["valueFrom"]["secretKeyRef"].update(name="scrubjay-db"),
    ),
    Mistake(
        "a key that the Secret has not",
        "secrets",
        lambda m: variable(m, "DATABASE_URL")["valueFrom"]["secretKeyRef"].update(key="url"),
    ),
    Mistake(
        "the owner's Secret as a plain resource",
        "hooks",
        lambda m: one(m, "Secret", "-owner")["metadata"].pop("annotations"),
        "trial",
    ),
    Mistake(
        "a migration after the rollout",
        "hooks",
        lambda m: one(m, "Job")["metadata"]["annotations"].update(
            {"helm.sh/hook": "post-install,post-upgrade"}
        ),
    ),
    Mistake("a mount without a volume", "mounts", lambda m: pod(m, "-agent-memory").pop("volumes")),
    Mistake(
        "a ServiceMonitor of a port that is not there",
        "monitors",
        lambda m: spec(m, "ServiceMonitor")["endpoints"][0].update(port="metrics"),
    ),
    Mistake(
        "an alert on a metric that nobody serves",
        "monitors",
        lambda m: _rule(m).update(expr="scrubjay_errors > 1"),
    ),
    # Settings.
    Mistake("a setting that the code does not know", "environment", {"cache.config.SCRUBJAY_CACHE_TTL": 72}),
    Mistake("a setting of another service", "environment", {"context.config.SCRUBJAY_CACHE_TTL_HOURS": 72}),
    Mistake("a setting out of its bounds", "environment", {"context.config.SCRUBJAY_MAX_BUDGET": 99999}),
    Mistake("a setting given twice", "environment", {"cache.config.SCRUBJAY_PORT": 9000}),
    Mistake(
        "context without the cache's address",
        "environment",
        lambda m: _without_variable(m, "SCRUBJAY_CACHE_URL", "-context"),
    ),
    Mistake(
        "migrations without a role",
        "environment",
        lambda m: _without_variable(m, "SCRUBJAY_ROLE_CACHE", "-migration", "Job"),
    ),
    Mistake(
        "a command that is not there",
        "environment",
        lambda m: container(m).update(command=["python", "-m", "services.cash"]),
    ),
    # The pods.
    Mistake("root", "restricted", lambda m: pod(m)["securityContext"].update(runAsUser=0)),
    Mistake(
        "a root that can be written",
        "restricted",
        lambda m: container(m)["securityContext"].pop("readOnlyRootFilesystem"),
    ),
    Mistake(
        "kept capabilities",
        "restricted",
        lambda m: container(m)["securityContext"]["capabilities"].update(add=["NET_ADMIN"]),
    ),
    Mistake(
        "no seccomp profile",
        "restricted",
        lambda m: pod(m, "-eval", "CronJob")["securityContext"].pop("seccompProfile"),
    ),
    Mistake(
        "a token of the cluster's API",
        "restricted",
        lambda m: pod(m, "-migration", "Job").pop("automountServiceAccountToken"),
    ),
    Mistake(
        "a request above its limit",
        "resources",
        lambda m: container(m)["resources"]["requests"].update(memory="1Gi"),
    ),
    Mistake("no quantity", "resources", lambda m: container(m)["resources"]["limits"].update(memory="512mb")),
    Mistake("no resources", "values", {"cache.resources": None}),
    Mistake("killed while it drains", "rollouts", lambda m: pod(m).update(terminationGracePeriodSeconds=10)),
    Mistake("no sleep before SIGTERM", "rollouts", lambda m: container(m).pop("lifecycle")),
    Mistake(
        "restarted for a database that is away",
        "rollouts",
        lambda m: container(m)["livenessProbe"]["httpGet"].update(path="/readyz"),
    ),
    Mistake(
        "a budget that blocks node drains",
        "rollouts",
        lambda m: spec(m, "PodDisruptionBudget").update(maxUnavailable=0),
    ),
    Mistake("a schedule of four fields", "schedules", {"cronJobs.eval.schedule": "17 * * *"}),
    Mistake("a name twice", "names", lambda m: m.append(copy.deepcopy(one(m, "Service")))),
    # The network.
    Mistake("no default deny", "network", lambda m: _without(m, "NetworkPolicy", "-default-deny")),
    Mistake(
        "owners open to their namespace",
        "network",
        lambda m: spec(m, "NetworkPolicy", "-owners")["ingress"][0].update({"from": [{"podSelector": {}}]}),
    ),
    Mistake(
        "owners open to everybody",
        "network",
        lambda m: spec(m, "NetworkPolicy", "-owners")["ingress"][0].pop("from"),
    ),
    Mistake(
        "scraping open to a whole cluster",
        "network",
        {"networkPolicy.metricsFrom": [{"namespaceSelector": {}}]},
    ),
    Mistake(
        "a way out to the internet", "network", {"networkPolicy.extraEgress": [{"ports": [{"port": 443}]}]}
    ),
    Mistake("the wrong port of Postgres", "network", {"networkPolicy.postgresPort": 5433}),
    Mistake(
        "context cut off from the cache",
        "network",
        lambda m: spec(m, "NetworkPolicy", "-context")["egress"].pop(),
    ),
    Mistake("no names resolved", "network", lambda m: _without(m, "NetworkPolicy", "-dns")),
    Mistake("no policies", "network", {"networkPolicy.enabled": False}),
    # What Helm refuses by itself.
    Mistake("a misspelt value", "values", {"cache.replica": 3}),
    Mistake("a door to the inward routes", "values", {"publicPaths": ["/api", "/internal"]}),
    Mistake("no Secrets at all", "values", {"secrets.existing": "", "secrets.existingOwner": ""}),
    Mistake("an Ingress without a host", "values", {"ingress.hosts": []}),
    Mistake("a route without a Gateway", "values", {"httpRoute.parentRefs": []}, "paid-embedder"),
    Mistake("metrics that nobody may scrape", "values", {"networkPolicy.metricsFrom": []}),
]


def unseen() -> Iterator[str]:
    """Every mistake that its check does not name."""
    good = {name: render(value_set(name)) for name in sorted({mistake.values for mistake in MISTAKES})}
    for mistake in MISTAKES:
        seen = _seen(mistake, good[mistake.values])
        if mistake.check not in seen:
            yield f"{mistake.name}: {mistake.check} does not see it, but {', '.join(sorted(seen)) or 'nothing'}"


def _seen(mistake: Mistake, good: Manifests) -> set[str]:
    values = value_set(mistake.values)
    if isinstance(mistake.make, dict):
        try:
            bad = render(values, mistake.make)
        except ToolError:
            return {"values"}
    else:
        bad = copy.deepcopy(good)
        mistake.make(bad)
    return {finding.check for finding in verify(bad, values, known=good)}
