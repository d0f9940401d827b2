"""What a restricted namespace asks of pods, and what a rollout needs of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deploy.verify.findings import Finding, Manifest, containers, of_kind, pods, title

# What a process may take after SIGTERM (shared/web/app.py).
DRAIN_SECONDS = 10
_FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_UNITS = {"": 1.0, "m": 1e-3, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "k": 1e3, "M": 1e6, "G": 1e9}


def restricted(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """The Pod Security Standard "restricted", and a read-only root."""
    for workload, template in pods(manifests):
        spec = template["spec"]
        context = spec.get("securityContext", {})
        if context.get("runAsNonRoot") is not True or not context.get("runAsUser"):
            yield Finding("restricted", f"{title(workload)} may run as root")
        if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield Finding("restricted", f"{title(workload)} has no seccomp profile")
        if spec.get("automountServiceAccountToken") is not False:
            yield Finding("restricted", f"{title(workload)} gets a token of the cluster's API")
        if any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
            yield Finding("restricted", f"{title(workload)} shares a namespace of its node")
        for volume in spec.get("volumes", []):
            if "hostPath" in volume:
                yield Finding("restricted", f"{title(workload)} mounts a folder of its node")
    for where, container in containers(manifests):
        context = container.get("securityContext", {})
        if context.get("privileged") or context.get("allowPrivilegeEscalation") is not False:
            yield Finding("restricted", f"{where} may gain privileges")
        if context.get("readOnlyRootFilesystem") is not True:
            yield Finding("restricted", f"{where} may write to its root")
        capabilities = context.get("capabilities", {})
        if capabilities.get("drop") != ["ALL"] or capabilities.get("add"):
            yield Finding("restricted", f"{where} keeps capabilities")


def resources(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """Requests are there, and not above limits; autoscalers on CPU need them."""
    for where, container in containers(manifests):
        asked = container.get("resources", {}).get("requests", {})
        limits = container.get("resources", {}).get("limits", {})
        if not {"cpu", "memory"} <= asked.keys() or "memory" not in limits:
            yield Finding("resources", f"{where} lacks requests, or a limit of memory")
        for name in asked.keys() & limits.keys():
            most = _quantity(limits[name])
            least = _quantity(asked[name])
            if most is None or least is None:
                yield Finding("resources", f"{where}: {name} is no quantity")
            elif least > most:
                yield Finding("resources", f"{where} asks for more {name} than its limit")


def _quantity(text: object) -> float | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z]*)", str(text))
    if match is None or match[2] not in _UNITS:
        return None
    return float(match[1]) * _UNITS[match[2]]


def rollouts(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """A pod that leaves has time to; a new one takes requests only when it can; no node drain is blocked."""
    for workload, template in pods(manifests):
        if workload["kind"] != "Deployment":
            continue
        grace = template["spec"].get("terminationGracePeriodSeconds", 30)
        for container in template["spec"]["containers"]:
            if container.get("readinessProbe", {}).get("httpGet", {}).get("path") != "/readyz":
                yield Finding("rollouts", f"{title(workload)} does not ask /readyz whether it is ready")
            if container.get("livenessProbe", {}).get("httpGet", {}).get("path") != "/livez":
                yield Finding("rollouts", f"{title(workload)} is restarted for what its dependencies do")
            slept = (
                container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["", "0"])
            )
            if int(slept[1]) < 1:
                yield Finding("rollouts", f"{title(workload)} stops before proxies know")
            if grace <= int(slept[1]) + DRAIN_SECONDS:
                yield Finding("rollouts", f"{title(workload)} is killed before it has drained")
        if workload["spec"].get("strategy", {}).get("rollingUpdate", {}).get("maxUnavailable") != 0:
            yield Finding("rollouts", f"{title(workload)} goes below its replicas in a rollout")
    for budget in of_kind(manifests, "PodDisruptionBudget"):
        if budget["spec"].get("maxUnavailable") in (0, "0%") or "minAvailable" in budget["spec"]:
            yield Finding("rollouts", f"{title(budget)} may block the drain of a node")


def schedules(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    for job in of_kind(manifests, "CronJob"):
        fields = job["spec"]["schedule"].split()
        if len(fields) != len(_FIELDS) or not all(map(_is_field, fields, _FIELDS)):
            yield Finding("schedules", f"{title(job)}: {job['spec']['schedule']!r} is no schedule")
        if job["spec"].get("concurrencyPolicy") != "Forbid":
            yield Finding("schedules", f"{title(job)} may run beside itself")


def _is_field(field: str, bounds: tuple[int, int]) -> bool:
    for part in field.split(","):
        match = re.fullmatch(r"(\*|\d+(?:-\d+)?)(?:/\d+)?", part)
        if match is None:
            return False
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        if any(not bounds[0] <= number <= bounds[1] for number in numbers):
            return False
    return True


def names(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """Two of one kind and name overwrite each other; one beyond 63 characters fits no label."""
    seen: set[tuple[str, str]] = set()
    for manifest in manifests:
        key = manifest["kind"], manifest["metadata"]["name"]
        if key in seen:
            yield Finding("names", f"{title(manifest)} is there twice")
        if len(key[1]) > 63:
            yield Finding("names", f"{title(manifest)} has a name beyond 63 characters")
        seen.add(key)
