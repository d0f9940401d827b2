"""Network policies as a graph: which pods a cluster lets reach which others, on which ports."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

from deploy.verify.manifests import COMPONENT, NAMESPACE, Labels, Manifest, of_kind, pods, selects, title

_NAMESPACE_NAME = "kubernetes.io/metadata.name"


@dataclass(frozen=True)
class Node:
    """A pod in a namespace, or with only an address something outside the cluster."""

    name: str
    namespace: str | None = None
    labels: Labels = field(default_factory=dict)
    address: str | None = None
    ports: Mapping[str, int] = field(default_factory=dict)
    """Its named ports."""


class Edge(NamedTuple):
    source: str
    target: str
    port: int


_OURS = ("cache", "agent-memory", "context")
_PODS = (*_OURS, "migration", "cronjob")
# A neighbour is in the release's namespace, a stranger in another.
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


def _edges(sources: Sequence[str], targets: Sequence[str], port: int) -> set[Edge]:
    return {Edge(source, target, port) for source in sources for target in targets}


_INWARD = _edges(["context"], ["cache"], 8081) | _edges(["context"], ["agent-memory"], 8082)
_SCRAPED = (
    _edges(["prometheus"], ["cache"], 8081)
    | _edges(["prometheus"], ["agent-memory"], 8082)
    | _edges(["prometheus"], ["context"], 8080)
)


# The edges that each value set may open.
_ALLOWED: Mapping[str, set[Edge]] = {
    "trial": _INWARD
    | _edges(_PODS, ["dns"], 53)
    | _edges(_PODS, _EVERYONE, 5432)
    | _edges(_OURS, _EVERYONE, 6379)
    | _edges(["context"], ["internet"], 443)
    | _edges(_EVERYONE, ["context"], 8080),
    "team": _INWARD
    | _SCRAPED
    | _edges(_PODS, ["dns"], 53)
    | _edges(_PODS, ["postgres"], 5432)
    | _edges(_OURS, ["redis"], 6379)
    | _edges(["context"], ["internet"], 443)
    | _edges(["ingress"], ["context"], 8080),
    "paid-embedder": _INWARD
    | _edges([*_OURS, "migration"], ["dns"], 53)
    | _edges([*_OURS, "migration"], ["outside postgres"], 5432)
    | _edges(_OURS, ["outside redis"], 6379)
    | _edges(_OURS, _EVERYONE, 443)
    | _edges(["gateway"], ["context"], 8080),
}


def network(manifests: Sequence[Manifest], value_set: str) -> Iterator[str]:
    """The policies of a value set open exactly the allowed edges."""
    found, allowed = edges(manifests), _ALLOWED[value_set]
    for edge in sorted(found - allowed):
        yield f"{edge.source} reaches {edge.target}:{edge.port}, which no policy should allow"
    for edge in sorted(allowed - found):
        yield f"{edge.source} does not reach {edge.target}:{edge.port}"


def edges(manifests: Sequence[Manifest]) -> set[Edge]:
    """Every open edge between two components, or between a component and another node, on a port that matters."""
    policies = [policy["spec"] for policy in of_kind(manifests, "NetworkPolicy")]
    own = list(components(manifests))
    return {
        Edge(source.name, target.name, port)
        for source, target in permutations((*own, *_OTHERS), 2)
        if source in own or target in own
        for port in {*_PORTS, *target.ports.values()}
        if _leaves(policies, source, target, port) and _enters(policies, source, target, port)
    }


def components(manifests: Sequence[Manifest]) -> Iterator[Node]:
    for workload, template in pods(manifests):
        labels = template["metadata"]["labels"]
        listed = [port for container in template["spec"]["containers"] for port in container.get("ports", [])]
        ports = {port["name"]: port["containerPort"] for port in listed if "name" in port}
        yield Node(labels.get(COMPONENT, title(workload)), NAMESPACE, labels, ports=ports)


def _leaves(policies: Sequence[Manifest], source: Node, target: Node, port: int) -> bool:
    rules = _rules(policies, "Egress", source)
    return rules is None or any(
        _covers_port(rule.get("ports"), port, target) and _covers_peer(rule.get("to"), target)
        for rule in rules
    )


def _enters(policies: Sequence[Manifest], source: Node, target: Node, port: int) -> bool:
    rules = _rules(policies, "Ingress", target)
    return rules is None or any(
        _covers_port(rule.get("ports"), port, target) and _covers_peer(rule.get("from"), source)
        for rule in rules
    )


def _rules(policies: Sequence[Manifest], direction: str, node: Node) -> list[Manifest] | None:
    """The rules of the policies that select a node. None means that no policy does, so everything may pass."""
    selecting = [
        policy
        for policy in policies
        if node.namespace == NAMESPACE
        and direction in _types(policy)
        and selects(policy["podSelector"], node.labels)
    ]
    if not selecting:
        return None
    return [rule for policy in selecting for rule in policy.get(direction.lower()) or []]


def _types(policy: Manifest) -> list[str]:
    types: list[str] = policy.get("policyTypes") or ["Ingress", *(["Egress"] if "egress" in policy else [])]
    return types


def _covers_port(listed: Sequence[Manifest] | None, port: int, target: Node) -> bool:
    return not listed or any(_is_port(entry, port, target) for entry in listed)


def _is_port(entry: Manifest, port: int, target: Node) -> bool:
    if "port" not in entry:
        return True
    first = target.ports.get(entry["port"], 0) if isinstance(entry["port"], str) else int(entry["port"])
    return first <= port <= int(entry.get("endPort", first))


def _covers_peer(peers: Sequence[Manifest] | None, node: Node) -> bool:
    return not peers or any(_is_peer(peer, node) for peer in peers)


def _is_peer(peer: Manifest, node: Node) -> bool:
    if block := peer.get("ipBlock"):
        return node.address is not None and _within(block, node.address)
    if node.namespace is None:
        return False
    same = {"matchLabels": {_NAMESPACE_NAME: NAMESPACE}}
    return selects(peer.get("namespaceSelector", same), {_NAMESPACE_NAME: node.namespace}) and selects(
        peer.get("podSelector", {}), node.labels
    )


def _within(block: Manifest, text: str) -> bool:
    address = ipaddress.ip_address(text)
    excluded = any(address in ipaddress.ip_network(part) for part in block.get("except", []))
    return address in ipaddress.ip_network(block["cidr"]) and not excluded
