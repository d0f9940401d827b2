"""What schemas do not see: names that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deploy.verify.findings import (
    COMPONENT,
    Finding,
    Labels,
    Manifest,
    called,
    containers,
    of_kind,
    pods,
    selects,
    title,
)

_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


def ports(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """targetPort, probes and network policies name ports that the containers have."""
    for service in of_kind(manifests, "Service"):
        for port in service["spec"]["ports"]:
            for workload, template in _selected(manifests, service["spec"]["selector"]):
                if port.get("targetPort", port["port"]) not in _ports(template):
                    yield Finding(
                        "ports", f"{title(service)}: {title(workload)} has no port {port.get('targetPort')}"
                    )
    for where, container in containers(manifests):
        for probe in _PROBES:
            port = container.get(probe, {}).get("httpGet", {}).get("port")
            if port is not None and port not in _numbers_and_names(container):
                yield Finding("ports", f"{where}: its {probe} asks port {port}, which it has not")
    for policy in of_kind(manifests, "NetworkPolicy"):
        named = {
            port["port"]
            for rule in policy["spec"].get("ingress") or []
            for port in rule.get("ports") or []
            if isinstance(port.get("port"), str)
        }
        for workload, template in _selected_by(manifests, policy["spec"]["podSelector"]):
            if missing := named - _ports(template):
                yield Finding("ports", f"{title(policy)}: {title(workload)} has no port {missing}")


def selectors(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """Whatever selects pods selects some, and a Deployment its own only."""
    for workload, template in pods(manifests):
        if workload["kind"] != "Deployment":
            continue
        labels = template["metadata"]["labels"]
        own = workload["spec"]["selector"]
        if not selects(own, labels):
            yield Finding("selectors", f"{title(workload)} does not select its own pods")
        for other, foreign in pods(manifests):
            if other is not workload and selects(own, foreign["metadata"]["labels"]):
                yield Finding("selectors", f"{title(workload)} selects the pods of {title(other)}")
        for constraint in template["spec"].get("topologySpreadConstraints", []):
            if not selects(constraint["labelSelector"], labels):
                yield Finding(
                    "selectors", f"{title(workload)}: a spread constraint counts other pods than its own"
                )
    for manifest in of_kind(manifests, "Service", "PodDisruptionBudget", "NetworkPolicy"):
        if not list(_selected_by(manifests, _pod_selector(manifest))):
            yield Finding("selectors", f"{title(manifest)} selects no pod")
    for service in of_kind(manifests, "Service"):
        for workload, _ in _selected(manifests, service["spec"]["selector"]):
            if workload["kind"] != "Deployment":
                yield Finding("selectors", f"{title(service)} selects the pods of {title(workload)}")


def _pod_selector(manifest: Manifest) -> Manifest:
    spec = manifest["spec"]
    if manifest["kind"] == "Service":
        return {"matchLabels": spec["selector"]}
    selector: Manifest = spec["podSelector" if manifest["kind"] == "NetworkPolicy" else "selector"]
    return selector


def doors(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """An Ingress or HTTPRoute leads to an existing port of the context service and to nothing else."""
    for ingress in of_kind(manifests, "Ingress"):
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                yield from _leads_to_context(manifests, ingress, backend["name"], backend["port"])
    for route in of_kind(manifests, "HTTPRoute"):
        backends = [one for rule in route["spec"]["rules"] for one in rule.get("backendRefs", [])]
        if not backends:
            yield Finding("doors", f"{title(route)} has no backend")
        for one in backends:
            yield from _leads_to_context(manifests, route, one["name"], {"number": one.get("port")})


def _leads_to_context(
    manifests: Sequence[Manifest], door: Manifest, name: str, port: Manifest
) -> Iterator[Finding]:
    service = called(manifests, "Service", name)
    if service is None:
        yield Finding("doors", f"{title(door)} leads to Service {name}, which is not there")
        return
    if service["spec"]["selector"].get(COMPONENT) != "context":
        yield Finding("doors", f"{title(door)} leads to {title(service)}: only context has a door")
    known = [(one.get("name"), one["port"]) for one in service["spec"]["ports"]]
    if not any(port.get("name") == has or port.get("number") == number for has, number in known):
        yield Finding("doors", f"{title(door)}: {title(service)} has no port {port}")


def autoscalers(manifests: Sequence[Manifest], metrics: set[str]) -> Iterator[Finding]:
    """Their target exists and leaves the number of replicas to them; their metrics are served."""
    for scaler in of_kind(manifests, "HorizontalPodAutoscaler"):
        target = scaler["spec"]["scaleTargetRef"]
        workload = called(manifests, target["kind"], target["name"])
        if workload is None:
            yield Finding("autoscalers", f"{title(scaler)} scales {target['name']}, which is not there")
            continue
        if "replicas" in workload["spec"]:
            yield Finding("autoscalers", f"{title(workload)} sets replicas against {title(scaler)}")
        if scaler["spec"]["minReplicas"] > scaler["spec"]["maxReplicas"]:
            yield Finding("autoscalers", f"{title(scaler)}: minReplicas is above maxReplicas")
        kinds = [metric["type"] for metric in scaler["spec"]["metrics"]]
        if "Resource" not in kinds:
            yield Finding(
                "autoscalers", f"{title(scaler)} has nothing to go by where no custom metric is served"
            )
        for metric in scaler["spec"]["metrics"]:
            name = metric.get("pods", {}).get("metric", {}).get("name")
            if name is not None and name not in metrics:
                yield Finding("autoscalers", f"{title(scaler)}: no service has a metric {name}")


def secrets(manifests: Sequence[Manifest], existing: dict[str, set[str]]) -> Iterator[Finding]:
    """Secrets that pods read are made here or are said to exist, and have the key."""
    known = dict(existing)
    for secret in of_kind(manifests, "Secret"):
        keys = {*secret.get("stringData", {}), *secret.get("data", {})}
        known[secret["metadata"]["name"]] = keys
    for where, container in containers(manifests):
        for variable in container.get("env", []):
            reference = variable.get("valueFrom", {}).get("secretKeyRef")
            if reference is None or reference.get("optional"):
                continue
            if reference["key"] not in known.get(reference["name"], set()):
                wanted = f"{reference['name']}/{reference['key']}"
                yield Finding("secrets", f"{where}: {variable['name']} is in {wanted}, which is not there")


def mounts(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    for workload, template in pods(manifests):
        volumes = {volume["name"] for volume in template["spec"].get("volumes", [])}
        mounted = {
            mount["name"]
            for container in template["spec"]["containers"]
            for mount in container.get("volumeMounts", [])
        }
        for name in mounted - volumes:
            yield Finding("mounts", f"{title(workload)} mounts {name}, which is no volume of it")
        for name in volumes - mounted:
            yield Finding("mounts", f"{title(workload)}: nothing mounts {name}")


def monitors(manifests: Sequence[Manifest], metrics: set[str], queried: set[str]) -> Iterator[Finding]:
    """A ServiceMonitor selects every Service by a port it has; rules ask for metrics that are served."""
    for monitor in of_kind(manifests, "ServiceMonitor"):
        for service in of_kind(manifests, "Service"):
            if not selects(monitor["spec"]["selector"], service["metadata"]["labels"]):
                yield Finding("monitors", f"{title(monitor)} does not select {title(service)}")
            named = {port.get("name") for port in service["spec"]["ports"]}
            for endpoint in monitor["spec"]["endpoints"]:
                if endpoint["port"] not in named:
                    yield Finding(
                        "monitors", f"{title(monitor)}: {title(service)} has no port {endpoint['port']}"
                    )
    for name in queried - metrics:
        yield Finding("monitors", f"a rule asks for {name}, which no service has")


def hooks(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """The migration runs before each release, after the Secret that it reads, when that is made here."""
    for job in of_kind(manifests, "Job"):
        before = _hook(job)
        if not {"pre-install", "pre-upgrade"} <= before.keys():
            yield Finding("hooks", f"{title(job)} does not run before installs and upgrades")
            continue
        for _, container in containers([job]):
            for variable in container.get("env", []):
                name = variable.get("valueFrom", {}).get("secretKeyRef", {}).get("name")
                secret = called(manifests, "Secret", name) if name else None
                if secret and _hook(secret).get("pre-install", 1) >= before["pre-install"]:
                    yield Finding("hooks", f"{title(job)} runs before {title(secret)} is there")


def _hook(manifest: Manifest) -> dict[str, int]:
    """The weight by event."""
    annotations = manifest["metadata"].get("annotations", {})
    events = annotations.get("helm.sh/hook", "")
    weight = int(annotations.get("helm.sh/hook-weight", "0"))
    return {event.strip(): weight for event in events.split(",") if event.strip()}


def _selected(manifests: Sequence[Manifest], labels: Labels) -> Iterator[tuple[Manifest, Manifest]]:
    return _selected_by(manifests, {"matchLabels": labels})


def _selected_by(manifests: Sequence[Manifest], selector: Manifest) -> Iterator[tuple[Manifest, Manifest]]:
    for workload, template in pods(manifests):
        if selects(selector, template["metadata"]["labels"]):
            yield workload, template


def _ports(template: Manifest) -> set[int | str]:
    return {one for container in template["spec"]["containers"] for one in _numbers_and_names(container)}


def _numbers_and_names(container: Manifest) -> set[int | str]:
    return {one for port in container.get("ports", []) for one in (port["containerPort"], port.get("name"))}
