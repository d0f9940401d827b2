"""What a restricted namespace and a rollout require of pods."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from deploy.verify.manifests import Manifest, containers, of_kind, pods, title

# Seconds that a process may take after SIGTERM (shared/web/serving/server.py).
DRAIN_SECONDS = 10
_LONGEST_LABEL = 63
_CRON_FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_UNITS = {"": 1.0, "m": 1e-3, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "k": 1e3, "M": 1e6, "G": 1e9}


def restricted(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Pods meet the Pod Security Standard "restricted", have no API token and a read-only root."""
    for workload, template in pods(manifests):
        for fault in _pod_faults(template["spec"]):
            yield f"{title(workload)} {fault}"
    for where, container in containers(manifests):
        for fault in _container_faults(container.get("securityContext", {})):
            yield f"{where} {fault}"


def _pod_faults(spec: Manifest) -> Iterator[str]:
    context = spec.get("securityContext", {})
    if context.get("runAsNonRoot") is not True or not context.get("runAsUser"):
        yield "may run as root"
    if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        yield "has no seccomp profile"
    if spec.get("automountServiceAccountToken") is not False:
        yield "gets a token for the cluster's API"
    if any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
        yield "shares a namespace with its node"
    if any("hostPath" in volume for volume in spec.get("volumes", [])):
        yield "mounts a folder of its node"


def _container_faults(context: Manifest) -> Iterator[str]:
    if context.get("privileged") or context.get("allowPrivilegeEscalation") is not False:
        yield "may gain privileges"
    if context.get("readOnlyRootFilesystem") is not True:
        yield "may write to its root"
    capabilities = context.get("capabilities", {})
    if capabilities.get("drop") != ["ALL"] or capabilities.get("add"):
        yield "keeps capabilities"


def resources(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Each container requests CPU and memory within its limits."""
    for where, container in containers(manifests):
        requests = container.get("resources", {}).get("requests", {})
        limits = container.get("resources", {}).get("limits", {})
        if not {"cpu", "memory"} <= requests.keys() or "memory" not in limits:
            yield f"{where} lacks a request of CPU or memory, or a limit of memory"
        for name in requests.keys() & limits.keys():
            request, limit = _quantity(requests[name]), _quantity(limits[name])
            if request is None or limit is None:
                yield f"{where}: its {name} is not a quantity"
            elif request > limit:
                yield f"{where} requests more {name} than its limit"


def _quantity(text: object) -> float | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z]*)", str(text))
    if match is None or match[2] not in _UNITS:
        return None
    return float(match[1]) * _UNITS[match[2]]


def rollouts(manifests: Sequence[Manifest]) -> Iterator[str]:
    """A stopping pod has time to drain, a new pod gets requests only when ready, and no node drain is blocked."""
    for deployment in of_kind(manifests, "Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        for container in pod["containers"]:
            for fault in (*_probe_faults(container), *_stop_faults(pod, container)):
                yield f"{title(deployment)} {fault}"
        if deployment["spec"].get("strategy", {}).get("rollingUpdate", {}).get("maxUnavailable") != 0:
            yield f"{title(deployment)} has fewer pods than replicas during a rollout"
    for budget in of_kind(manifests, "PodDisruptionBudget"):
        if budget["spec"].get("maxUnavailable") in (0, "0%") or "minAvailable" in budget["spec"]:
            yield f"{title(budget)} may block the drain of a node"


def _probe_faults(container: Manifest) -> Iterator[str]:
    if _probed(container, "readinessProbe") != "/readyz":
        yield "does not ask /readyz whether it is ready"
    if _probed(container, "livenessProbe") != "/livez":
        yield "restarts when a dependency fails"


def _probed(container: Manifest, probe: str) -> str | None:
    path: str | None = container.get(probe, {}).get("httpGet", {}).get("path")
    return path


def _stop_faults(pod: Manifest, container: Manifest) -> Iterator[str]:
    command = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
    slept = int(command[1])
    if slept < 1:
        yield "stops before proxies know that it is leaving"
    if pod.get("terminationGracePeriodSeconds", 30) <= slept + DRAIN_SECONDS:
        yield "is killed before it has drained"


def schedules(manifests: Sequence[Manifest]) -> Iterator[str]:
    for job in of_kind(manifests, "CronJob"):
        fields = job["spec"]["schedule"].split()
        if len(fields) != len(_CRON_FIELDS) or not all(map(_is_field, fields, _CRON_FIELDS)):
            yield f"{title(job)}: {job['spec']['schedule']!r} is not a schedule"
        if job["spec"].get("concurrencyPolicy") != "Forbid":
            yield f"{title(job)} may overlap with its own previous run"


def _is_field(field: str, bounds: tuple[int, int]) -> bool:
    parts = [re.fullmatch(r"(?:\*|(\d+)(?:-(\d+))?)(?:/\d+)?", part) for part in field.split(",")]
    numbers = [int(number) for part in parts if part for number in part.groups() if number]
    return all(parts) and all(bounds[0] <= number <= bounds[1] for number in numbers)


def names(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Two manifests of one kind and name overwrite each other; a long name does not fit into a label."""
    for name, count in Counter(map(title, manifests)).items():
        if count > 1:
            yield f"{name} is rendered {count} times"
    for manifest in manifests:
        if len(manifest["metadata"]["name"]) > _LONGEST_LABEL:
            yield f"{title(manifest)} has a name of more than {_LONGEST_LABEL} characters"
