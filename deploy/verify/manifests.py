"""Renders the chart's manifests with Helm and walks them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from deploy.verify.tools import CHART, helm, run

Manifest = dict[str, Any]
Labels = Mapping[str, str]

RELEASE, NAMESPACE = "sj", "agents"
COMPONENT = "app.kubernetes.io/component"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def value_sets() -> list[Path]:
    return sorted((CHART / "ci").glob("*-values.yaml"))


def value_set(name: str) -> Path:
    return CHART / "ci" / f"{name}-values.yaml"


def lint(values: Path) -> None:
    """Raises ToolError."""
    run([helm(), "lint", "--strict", "--quiet", CHART, "--values", values])


def render(values: Path, changes: Mapping[str, Any] | None = None) -> list[Manifest]:
    """`changes` are further values by path, such as `cache.port`. Raises ToolError if Helm refuses them."""
    sets: Sequence[str] = [
        part
        for path, value in (changes or {}).items()
        for part in ("--set-json", f"{path}={json.dumps(value)}")
    ]
    text = run([helm(), "template", RELEASE, CHART, "--namespace", NAMESPACE, "--values", values, *sets])
    return [manifest for manifest in yaml.load_all(text, Loader=_LOADER) if manifest]


def of_kind(manifests: Iterable[Manifest], *kinds: str) -> Iterator[Manifest]:
    return (manifest for manifest in manifests if manifest["kind"] in kinds)


def named(manifests: Iterable[Manifest], kind: str, name: str) -> Manifest | None:
    return next((m for m in of_kind(manifests, kind) if m["metadata"]["name"] == name), None)


def title(manifest: Manifest) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def pod_template(manifest: Manifest) -> Manifest | None:
    """The template of a Deployment, a Job or a CronJob."""
    if manifest["kind"] not in ("Deployment", "Job", "CronJob"):
        return None
    job = manifest["kind"] == "CronJob"
    template: Manifest = (manifest["spec"]["jobTemplate"] if job else manifest)["spec"]["template"]
    return template


def pods(manifests: Iterable[Manifest]) -> Iterator[tuple[Manifest, Manifest]]:
    """Each workload with its pod template."""
    for manifest in manifests:
        if (template := pod_template(manifest)) is not None:
            yield manifest, template


def containers(manifests: Iterable[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Each container with its workload's title."""
    for manifest, template in pods(manifests):
        for container in template["spec"]["containers"]:
            yield title(manifest), container


def selected(manifests: Iterable[Manifest], selector: Manifest) -> Iterator[tuple[Manifest, Manifest]]:
    """The workloads whose pods a label selector selects, each with its template."""
    for workload, template in pods(manifests):
        if selects(selector, template["metadata"]["labels"]):
            yield workload, template


def selects(selector: Mapping[str, Any], labels: Labels) -> bool:
    """Evaluates a label selector as the API does: an empty one selects everything."""
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_matches(expression, labels) for expression in selector.get("matchExpressions") or [])


def _matches(expression: Mapping[str, Any], labels: Labels) -> bool:
    key, operator = expression["key"], expression["operator"]
    if operator == "In":
        return bool(labels.get(key) in expression["values"])
    if operator == "NotIn":
        return bool(labels.get(key) not in expression["values"])
    return bool((key in labels) == (operator == "Exists"))


def pod_ports(template: Manifest) -> set[int | str]:
    return {port for container in template["spec"]["containers"] for port in container_ports(container)}


def container_ports(container: Manifest) -> set[int | str]:
    """Both numbers and names."""
    listed = container.get("ports", [])
    return {port["containerPort"] for port in listed} | {port["name"] for port in listed if "name" in port}
