"""What a check says, and how manifests are walked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]
Labels = Mapping[str, str]

NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"


@dataclass(frozen=True)
class Finding:
    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.check}: {self.message}"


def of_kind(manifests: Iterable[Manifest], *kinds: str) -> Iterator[Manifest]:
    return (manifest for manifest in manifests if manifest["kind"] in kinds)


def called(manifests: Iterable[Manifest], kind: str, name: str) -> Manifest | None:
    return next((m for m in of_kind(manifests, kind) if m["metadata"]["name"] == name), None)


def title(manifest: Manifest) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def pod_template(manifest: Manifest) -> Manifest | None:
    """Of a Deployment, a Job or a CronJob."""
    spec = manifest.get("spec", {})
    if manifest["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    if manifest["kind"] not in ("Deployment", "Job", "CronJob"):
        return None
    template: Manifest = spec["template"]
    return template


def pods(manifests: Iterable[Manifest]) -> Iterator[tuple[Manifest, Manifest]]:
    """Each workload with the template of its pods."""
    for manifest in manifests:
        if (template := pod_template(manifest)) is not None:
            yield manifest, template


def containers(manifests: Iterable[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Each container with its workload's title."""
    for manifest, template in pods(manifests):
        for container in template["spec"]["containers"]:
            yield title(manifest), container


def selects(selector: Mapping[str, Any], labels: Labels) -> bool:
    """A label selector as the API reads it; an empty one selects everything."""
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_expression(one, labels) for one in selector.get("matchExpressions") or [])


def _expression(expression: Mapping[str, Any], labels: Labels) -> bool:
    key, operator = expression["key"], expression["operator"]
    if operator == "In":
        return bool(labels.get(key) in expression["values"])
    if operator == "NotIn":
        return bool(labels.get(key) not in expression["values"])
    return bool((key in labels) == (operator == "Exists"))
