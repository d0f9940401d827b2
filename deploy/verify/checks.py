"""All checks of one rendering of the chart."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from deploy.verify import hardening, references
from deploy.verify.findings import Finding, Manifest, of_kind
from deploy.verify.network import Edge, Node, network
from deploy.verify.schemas import schemas
from deploy.verify.tools import CHART, ROOT
from deploy.verify.variables import environment

_METRIC = re.compile(r"scrubjay_[a-z0-9_]+")
_PARTS = ("_bucket", "_count", "_sum")

_OURS = ("cache", "agent-memory", "context")
_PODS = (*_OURS, "migration", "cronjob")
# A neighbour lives in the release's namespace, a stranger in another one.
_OTHERS = (
    Node("ingress", "ingress"),
    Node("gateway", "gateways"),
    Node("prometheus", "monitoring", {"app.kubernetes.io/name": "prometheus"}),
    Node("postgres", "databases", {"app": "postgres"}),
    Node("redis", "databases", {"app": "redis"}),
    Node("dns", "kube-system", {"k8s-app": "kube-dns"}),
    Node("neighbour", "agents", {"app": "neighbour"}),
    Node("stranger", "elsewhere", {"app": "stranger"}),
    Node("outside postgres", address="10.20.0.7"),
    Node("outside redis", address="10.20.1.7"),
    Node("internet", address="203.0.113.9"),
    Node("cloud metadata", address="169.254.169.254"),
)
_EVERYONE = tuple(node.name for node in _OTHERS)
_PORTS = (53, 80, 443, 5432, 6379)
_INWARD: set[Edge] = {("context", "cache", 8081), ("context", "agent-memory", 8082)}


def _edges(sources: Sequence[str], targets: Sequence[str], port: int) -> set[Edge]:
    return {(source, target, port) for source in sources for target in targets}


# What each value set opens, and nothing else.
ALLOWED: dict[str, set[Edge]] = {
    "trial": _INWARD
    | _edges(_PODS, ["dns"], 53)
    | _edges(_PODS, _EVERYONE, 5432)
    | _edges(_OURS, _EVERYONE, 6379)
    | _edges(_EVERYONE, ["context"], 8080),
    "team": _INWARD
    | _edges(_PODS, ["dns"], 53)
    | _edges(_PODS, ["postgres"], 5432)
    | _edges(_OURS, ["redis"], 6379)
    | _edges(["ingress"], ["context"], 8080)
    | {("prometheus", "cache", 8081), ("prometheus", "agent-memory", 8082), ("prometheus", "context", 8080)},
    "paid-embedder": _INWARD
    | _edges([*_OURS, "migration"], ["dns"], 53)
    | _edges([*_OURS, "migration"], ["outside postgres"], 5432)
    | _edges(_OURS, ["outside redis"], 6379)
    | _edges(_OURS, _EVERYONE, 443)
    | _edges(["gateway"], ["context"], 8080),
}


def verify(manifests: Sequence[Manifest], values: Path, *, known: Sequence[Manifest] = ()) -> list[Finding]:
    """Everything that is wrong with what the chart made of a value set; the schemas of `known` ones were checked."""
    findings = list(schemas([manifest for manifest in manifests if manifest not in known]))
    if findings:
        # The other checks walk manifests that are what their schemas say.
        return findings
    metrics = _metrics()
    name = values.name.removesuffix("-values.yaml")
    return [
        *references.ports(manifests),
        *references.selectors(manifests),
        *references.doors(manifests),
        *references.autoscalers(manifests, metrics),
        *references.secrets(manifests, _existing_secrets(values)),
        *references.mounts(manifests),
        *references.monitors(manifests, metrics, _queried(manifests)),
        *references.hooks(manifests),
        *hardening.restricted(manifests),
        *hardening.resources(manifests),
        *hardening.rollouts(manifests),
        *hardening.schedules(manifests),
        *hardening.names(manifests),
        *environment(manifests),
        *network(manifests, _OTHERS, ALLOWED[name], _PORTS),
    ]


def _existing_secrets(values: Path) -> dict[str, set[str]]:
    """The Secrets that a value set names, with the keys that the chart's schema says they have."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    keys = set(schema["properties"]["secrets"]["properties"]["values"]["propertyNames"]["enum"])
    given: dict[str, Any] = yaml.safe_load(values.read_text()).get("secrets", {})
    known = {}
    if name := given.get("existing"):
        known[name] = keys - {"owner-url"} if given.get("existingOwner") else keys
    if name := given.get("existingOwner"):
        known[name] = {"owner-url"}
    return known


@cache
def _metrics() -> set[str]:
    """Every metric that the code names, with the parts of histograms."""
    found: set[str] = set()
    for folder in ("shared", "services"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and _METRIC.fullmatch(node.value)
                ):
                    found |= {node.value, *(node.value + part for part in _PARTS)}
    return found


def _queried(manifests: Sequence[Manifest]) -> set[str]:
    return {
        name
        for manifest in of_kind(manifests, "PrometheusRule")
        for group in manifest["spec"]["groups"]
        for rule in group["rules"]
        for name in _METRIC.findall(str(rule["expr"]))
    }
