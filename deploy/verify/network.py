"""Network policies as a graph: who reaches whom, on which port, judged as a cluster would."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from deploy.verify.chart import NAMESPACE
from deploy.verify.findings import COMPONENT, Finding, Labels, Manifest, of_kind, pods, selects, title

_NAMESPACE_NAME = "kubernetes.io/metadata.name"


@dataclass(frozen=True)
class Node:
    """A pod of some namespace, or with an address alone something outside of the cluster."""

    name: str
    namespace: str | None = None
    labels: Labels = field(default_factory=dict)
    address: str | None = None
    ports: Mapping[str, int] = field(default_factory=dict)
    """Its named ports."""


Edge = tuple[str, str, int]
"""From, to, port."""


def components(manifests: Sequence[Manifest]) -> list[Node]:
    nodes = []
    for workload, template in pods(manifests):
        labels = template["metadata"]["labels"]
        ports = {
            port["name"]: port["containerPort"]
            for container in template["spec"]["containers"]
            for port in container.get("ports", [])
            if "name" in port
        }
        nodes.append(Node(labels.get(COMPONENT, title(workload)), NAMESPACE, labels, ports=ports))
    return nodes


def edges(manifests: Sequence[Manifest], others: Sequence[Node], wanted: Sequence[int]) -> set[Edge]:
    """Every edge between two components, or a component and another node, on a port that matters."""
    policies = list(of_kind(manifests, "NetworkPolicy"))
    own = components(manifests)
    found: set[Edge] = set()
    for source in (*own, *others):
        for target in (*own, *others):
            if source is target or not (source in own or target in own):
                continue
            for port in {*wanted, *target.ports.values()}:
                if _leaves(policies, source, target, port) and _enters(policies, source, target, port):
                    found.add((source.name, target.name, port))
    return found


def network(
    manifests: Sequence[Manifest], others: Sequence[Node], allowed: set[Edge], ports: Sequence[int]
) -> Iterator[Finding]:
    """Exactly the allowed edges."""
    found = edges(manifests, others, ports)
    for source, target, port in sorted(found - allowed):
        yield Finding("network", f"{source} reaches {target}:{port}, which no policy should allow")
    for source, target, port in sorted(allowed - found):
        yield Finding("network", f"{source} does not reach {target}:{port}")


def _leaves(policies: Sequence[Manifest], source: Node, target: Node, port: int) -> bool:
    return _allowed(policies, "Egress", source, target, target, port)


def _enters(policies: Sequence[Manifest], source: Node, target: Node, port: int) -> bool:
    return _allowed(policies, "Ingress", target, source, target, port)


def _allowed(
    policies: Sequence[Manifest], direction: str, subject: Node, peer: Node, target: Node, port: int
) -> bool:
    """Whether the policies about `subject` let it speak with `peer`; without any, everything may pass."""
    about = [
        policy["spec"]
        for policy in policies
        if subject.namespace == NAMESPACE
        and direction in _types(policy["spec"])
        and selects(policy["spec"]["podSelector"], subject.labels)
    ]
    if not about:
        return True
    side = "to" if direction == "Egress" else "from"
    return any(
        _port_matches(rule.get("ports"), port, target) and _peer_matches(rule.get(side), peer)
        for spec in about
        for rule in spec.get(direction.lower()) or []
    )


def _types(spec: Manifest) -> list[str]:
    types: list[str] = spec.get("policyTypes") or ["Ingress", *(["Egress"] if "egress" in spec else [])]
    return types


def _port_matches(listed: Sequence[Manifest] | None, port: int, target: Node) -> bool:
    if not listed:
        return True
    return any(_covers(one, port, target) for one in listed)


def _covers(listed: Manifest, port: int, target: Node) -> bool:
    if "port" not in listed:
        return True
    given = listed["port"]
    first = target.ports.get(given, 0) if isinstance(given, str) else int(given)
    return first <= port <= int(listed.get("endPort", first))


def _peer_matches(peers: Sequence[Manifest] | None, node: Node) -> bool:
    return not peers or any(_is(peer, node) for peer in peers)


def _is(peer: Manifest, node: Node) -> bool:
    if block := peer.get("ipBlock"):
        if node.address is None:
            return False
        address = ipaddress.ip_address(node.address)
        outside = any(address in ipaddress.ip_network(part) for part in block.get("except", []))
        return address in ipaddress.ip_network(block["cidr"]) and not outside
    if node.namespace is None:
        return False
    if "namespaceSelector" in peer:
        if not selects(peer["namespaceSelector"], {_NAMESPACE_NAME: node.namespace}):
            return False
    elif node.namespace != NAMESPACE:
        return False
    return "podSelector" not in peer or selects(peer["podSelector"], node.labels)
