"""Checks what schemas cannot: that every name refers to something that exists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from deploy.verify.manifests import (
    COMPONENT,
    Manifest,
    container_ports,
    containers,
    named,
    of_kind,
    pod_ports,
    pods,
    selected,
    selects,
    title,
)
from deploy.verify.variables import constants

_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
_METRIC = re.compile(r"scrubjay_[a-z0-9_]+")
_HISTOGRAM_PARTS = ("", "_bucket", "_count", "_sum")


def ports(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Services, probes and network policies name only ports that the containers have."""
    for service in of_kind(manifests, "Service"):
        targets = {port.get("targetPort", port["port"]) for port in service["spec"]["ports"]}
        yield from _missing_ports(manifests, service, targets)
    for policy in of_kind(manifests, "NetworkPolicy"):
        yield from _missing_ports(manifests, policy, _named_ports(policy))
    for where, container in containers(manifests):
        for probe in _PROBES:
            port = container.get(probe, {}).get("httpGet", {}).get("port")
            if port is not None and port not in container_ports(container):
                yield f"{where}: its {probe} asks port {port}, which it does not have"


def _missing_ports(
    manifests: Sequence[Manifest], selecting: Manifest, wanted: set[int | str]
) -> Iterator[str]:
    for workload, template in selected(manifests, _pod_selector(selecting)):
        for port in wanted - pod_ports(template):
            yield f"{title(selecting)}: {title(workload)} has no port {port}"


def _named_ports(policy: Manifest) -> set[int | str]:
    rules = policy["spec"].get("ingress") or []
    listed = {port["port"] for rule in rules for port in rule.get("ports") or []}
    return {port for port in listed if isinstance(port, str)}


def selectors(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Every selector matches pods. A Deployment selects only its own, and a Service only those of Deployments."""
    for deployment in of_kind(manifests, "Deployment"):
        yield from _own_pods_only(manifests, deployment)
    for manifest in of_kind(manifests, "Service", "PodDisruptionBudget", "NetworkPolicy"):
        workloads = [workload for workload, _ in selected(manifests, _pod_selector(manifest))]
        if not workloads:
            yield f"{title(manifest)} selects no pod"
        for workload in workloads:
            if manifest["kind"] == "Service" and workload["kind"] != "Deployment":
                yield f"{title(manifest)} selects the pods of {title(workload)}"


def _own_pods_only(manifests: Sequence[Manifest], deployment: Manifest) -> Iterator[str]:
    spec = deployment["spec"]
    labels = spec["template"]["metadata"]["labels"]
    if not selects(spec["selector"], labels):
        yield f"{title(deployment)} does not select its own pods"
    for other, _ in selected(manifests, spec["selector"]):
        if other is not deployment:
            yield f"{title(deployment)} selects the pods of {title(other)}"
    for constraint in spec["template"]["spec"].get("topologySpreadConstraints", []):
        if not selects(constraint["labelSelector"], labels):
            yield f"{title(deployment)}: a spread constraint counts other pods than its own"


def _pod_selector(manifest: Manifest) -> Manifest:
    spec = manifest["spec"]
    if manifest["kind"] == "Service":
        return {"matchLabels": spec["selector"]}
    selector: Manifest = spec["podSelector" if manifest["kind"] == "NetworkPolicy" else "selector"]
    return selector


def entrances(manifests: Sequence[Manifest]) -> Iterator[str]:
    """An Ingress or HTTPRoute leads only to an existing port of the context service."""
    for ingress in of_kind(manifests, "Ingress"):
        paths = [path for rule in ingress["spec"]["rules"] for path in rule["http"]["paths"]]
        for backend in (path["backend"]["service"] for path in paths):
            yield from _leads_to_context(manifests, ingress, backend["name"], backend["port"])
    for route in of_kind(manifests, "HTTPRoute"):
        backends = [backend for rule in route["spec"]["rules"] for backend in rule.get("backendRefs", [])]
        if not backends:
            yield f"{title(route)} has no backend"
        for backend in backends:
            yield from _leads_to_context(manifests, route, backend["name"], {"number": backend.get("port")})


def _leads_to_context(
    manifests: Sequence[Manifest], entrance: Manifest, name: str, port: Manifest
) -> Iterator[str]:
    service = named(manifests, "Service", name)
    if service is None:
        yield f"{title(entrance)} leads to Service {name}, which does not exist"
        return
    if service["spec"]["selector"].get(COMPONENT) != "context":
        yield f"{title(entrance)} leads to {title(service)}; only context may be reached from outside"
    known = service["spec"]["ports"]
    if port not in [{"name": own.get("name")} for own in known] + [{"number": own["port"]} for own in known]:
        yield f"{title(entrance)}: {title(service)} has no port {port}"


def autoscalers(manifests: Sequence[Manifest]) -> Iterator[str]:
    """An autoscaler's target exists and sets no replicas itself, and its metrics are served."""
    for scaler in of_kind(manifests, "HorizontalPodAutoscaler"):
        spec = scaler["spec"]
        target = named(manifests, spec["scaleTargetRef"]["kind"], spec["scaleTargetRef"]["name"])
        if target is None:
            yield f"{title(scaler)} scales {spec['scaleTargetRef']['name']}, which does not exist"
        elif "replicas" in target["spec"]:
            yield f"{title(target)} sets replicas against {title(scaler)}"
        if spec["minReplicas"] > spec["maxReplicas"]:
            yield f"{title(scaler)}: minReplicas is above maxReplicas"
        if "Resource" not in (metric["type"] for metric in spec["metrics"]):
            yield f"{title(scaler)} cannot scale when no custom metric is served"
        wanted = {metric["pods"]["metric"]["name"] for metric in spec["metrics"] if "pods" in metric}
        for name in wanted - served_metrics():
            yield f"{title(scaler)}: no service has a metric {name}"


def secrets(manifests: Sequence[Manifest], existing: Mapping[str, set[str]]) -> Iterator[str]:
    """Every Secret that a pod reads is rendered or in `existing` (keys by Secret), and has the key."""
    known = dict(existing)
    for secret in of_kind(manifests, "Secret"):
        known[secret["metadata"]["name"]] = {*secret.get("stringData", {}), *secret.get("data", {})}
    for where, container in containers(manifests):
        for variable, reference in _secret_references(container):
            name, key = reference["name"], reference["key"]
            if not reference.get("optional") and key not in known.get(name, set()):
                yield f"{where}: {variable} reads {name}/{key}, which does not exist"


def _secret_references(container: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Each variable read from a Secret, with its reference."""
    for variable in container.get("env", []):
        if reference := variable.get("valueFrom", {}).get("secretKeyRef"):
            yield variable["name"], reference


def mounts(manifests: Sequence[Manifest]) -> Iterator[str]:
    for workload, template in pods(manifests):
        spec = template["spec"]
        volumes = {volume["name"] for volume in spec.get("volumes", [])}
        mounted = {
            mount["name"] for container in spec["containers"] for mount in container.get("volumeMounts", [])
        }
        for name in mounted - volumes:
            yield f"{title(workload)} mounts {name}, but has no such volume"
        for name in volumes - mounted:
            yield f"{title(workload)} has a volume {name} that nothing mounts"


def monitors(manifests: Sequence[Manifest]) -> Iterator[str]:
    """A ServiceMonitor selects every Service by an existing port and sends the token that /metrics needs.

    Alert rules name only metrics that are served.
    """
    for monitor in of_kind(manifests, "ServiceMonitor"):
        wanted = {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]}
        for service in of_kind(manifests, "Service"):
            if not selects(monitor["spec"]["selector"], service["metadata"]["labels"]):
                yield f"{title(monitor)} does not select {title(service)}"
            for port in wanted - {port.get("name") for port in service["spec"]["ports"]}:
                yield f"{title(monitor)}: {title(service)} has no port {port}"
        yield from _scraping(manifests, monitor)
    for name in _queried_metrics(manifests) - served_metrics():
        yield f"a rule names {name}, a metric that no service serves"


def _scraping(manifests: Sequence[Manifest], monitor: Manifest) -> Iterator[str]:
    sent = [endpoint.get("authorization", {}).get("credentials") for endpoint in monitor["spec"]["endpoints"]]
    for where, container in containers(manifests):
        for variable, needed in _secret_references(container):
            if variable == "SCRUBJAY_METRICS" and sent != [needed] * len(sent):
                yield f"{title(monitor)} does not send the token that {where} needs"


def _queried_metrics(manifests: Sequence[Manifest]) -> set[str]:
    groups = [group for rule in of_kind(manifests, "PrometheusRule") for group in rule["spec"]["groups"]]
    expressions = [str(rule["expr"]) for group in groups for rule in group["rules"]]
    return {name for expression in expressions for name in _METRIC.findall(expression)}


@cache
def served_metrics() -> set[str]:
    """Every metric in the code, with the series of histograms."""
    metrics = constants("shared", _METRIC) | constants("services", _METRIC)
    return {metric + part for metric in metrics for part in _HISTOGRAM_PARTS}


def hooks(manifests: Sequence[Manifest]) -> Iterator[str]:
    """The migration runs before each release, and after any Secrets that the chart renders for it."""
    for job in of_kind(manifests, "Job"):
        weights = _hook_weights(job)
        if not {"pre-install", "pre-upgrade"} <= weights.keys():
            yield f"{title(job)} does not run before installs and upgrades"
            continue
        for _, container in containers([job]):
            for _, reference in _secret_references(container):
                secret = named(manifests, "Secret", reference["name"])
                if secret and _hook_weights(secret).get("pre-install", 1) >= weights["pre-install"]:
                    yield f"{title(job)} runs before {title(secret)} exists"


def _hook_weights(manifest: Manifest) -> dict[str, int]:
    """By event."""
    annotations = manifest["metadata"].get("annotations", {})
    weight = int(annotations.get("helm.sh/hook-weight", "0"))
    events = (event.strip() for event in annotations.get("helm.sh/hook", "").split(","))
    return {event: weight for event in events if event}
