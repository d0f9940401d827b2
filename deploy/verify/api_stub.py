"""The part of the Kubernetes API that an ingress controller reads: lists and watches of rendered manifests.

Each Service in `backends` has one endpoint on loopback.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from deploy.verify.manifests import NAMESPACE, Manifest

_KINDS = {
    "ingresses": ("networking.k8s.io/v1", "Ingress"),
    "ingressclasses": ("networking.k8s.io/v1", "IngressClass"),
    "services": ("v1", "Service"),
    "secrets": ("v1", "Secret"),
    "configmaps": ("v1", "ConfigMap"),
    "nodes": ("v1", "Node"),
    "namespaces": ("v1", "Namespace"),
    "endpointslices": ("discovery.k8s.io/v1", "EndpointSlice"),
}
_CLASS = {"metadata": {"name": "traefik"}, "spec": {"controller": "traefik.io/ingress-controller"}}


class ApiStub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, manifests: Sequence[Manifest], backends: Mapping[str, int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.closing = threading.Event()
        slices = [_slice(name, port) for name, port in backends.items()]
        known = [*manifests, *({"kind": "EndpointSlice", **entry} for entry in slices)]
        known += [{"kind": "IngressClass", **_CLASS}, {"kind": "Namespace", "metadata": {"name": NAMESPACE}}]
        self.objects = [_stored(manifest, number) for number, manifest in enumerate(known)]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> ApiStub:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()


def _slice(service: str, port: int) -> Manifest:
    return {
        "metadata": {"name": f"{service}-1", "labels": {"kubernetes.io/service-name": service}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True, "serving": True}}],
    }


def _stored(manifest: Manifest, number: int) -> Manifest:
    meta = {"namespace": NAMESPACE, "uid": f"uid-{number}", "resourceVersion": "1", **manifest["metadata"]}
    stored = {**manifest, "metadata": meta}
    if manifest["kind"] == "Service":
        stored["spec"] = {"type": "ClusterIP", "clusterIP": "10.96.0.10", **manifest["spec"]}
    return stored


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ApiStub

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        resource = address.path.rstrip("/").rsplit("/", 1)[-1]
        if resource == "version":
            self._answer(200, {"major": "1", "minor": "37", "gitVersion": "v1.37.0"})
        elif resource not in _KINDS:
            self._answer(404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404})
        elif parse_qs(address.query).get("watch") == ["true"]:
            self._watch(resource, "sendInitialEvents=true" in address.query)
        else:
            version, kind = _KINDS[resource]
            meta = {"resourceVersion": "1"}
            items = self._items(resource)
            self._answer(
                200, {"apiVersion": version, "kind": f"{kind}List", "metadata": meta, "items": items}
            )

    def do_PUT(self) -> None:
        """Accepts status updates and ignores them."""
        length = int(self.headers.get("content-length", 0))
        self._answer(200, json.loads(self.rfile.read(length) or b"{}"))

    do_PATCH = do_POST = do_PUT

    def log_message(self, format: str, *arguments: Any) -> None: ...

    def _items(self, resource: str) -> list[Manifest]:
        version, kind = _KINDS[resource]
        return [{**item, "apiVersion": version} for item in self.server.objects if item["kind"] == kind]

    def _watch(self, resource: str, initial: bool) -> None:
        """Sends the current items if asked to, then nothing: they never change."""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if initial:
            version, kind = _KINDS[resource]
            for item in self._items(resource):
                self._event("ADDED", item)
            end = {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}
            self._event("BOOKMARK", {"apiVersion": version, "kind": kind, "metadata": end})
        self.server.closing.wait()

    def _event(self, kind: str, item: Manifest) -> None:
        line = json.dumps({"type": kind, "object": item}).encode() + b"\n"
        self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))
        self.wfile.flush()

    def _answer(self, status: int, body: Manifest) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
