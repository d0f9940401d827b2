"""The rendered Ingress under a real controller: what is reachable through it, and what is not."""

from __future__ import annotations

import http.client
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from deploy.verify.api_stub import ApiStub
from deploy.verify.chart import RELEASE, render, value_set
from deploy.verify.findings import Finding, Manifest, of_kind
from deploy.verify.tools import ToolError, script
from local.process import free_port

HOST = "memory.example.com"
_EVENTS, _PAUSE = 3, 0.4
_PUBLIC = (
    "/api/context/assemble",
    "/api/psychic-cache/write",
    "/api/timeline",
    "/schema/openapi.json",
    "/mcp",
)
_CLOSED = ("/", "/metrics", "/livez", "/readyz", "/internal/search", "/api/../metrics", "/api/%2e%2e/metrics")


class _Backend(ThreadingHTTPServer):
    """Says whose stand-in it is; `/api/timeline` is a slow event stream."""

    daemon_threads = True

    def __init__(self, component: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.component = component
        self.asked: Counter[str] = Counter()


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Backend

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        if self.path == "/api/timeline":
            self._stream()
            return
        body = self.server.component.encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for number in range(_EVENTS):
            self.wfile.write(f"id: {number}\ndata: {{}}\n\n".encode())
            self.wfile.flush()
            time.sleep(_PAUSE)

    def log_message(self, format: str, *arguments: Any) -> None: ...


def ingress() -> list[Finding]:
    """Through the team's Ingress, without TLS."""
    manifests = render(value_set("team"), {"ingress.tls": []})
    with _controller(manifests) as (port, backends):
        return list(_reachable(port, backends))


def unseen() -> Iterator[str]:
    """The same requests through Ingresses that are wrong."""
    for name, service, path in (
        ("an Ingress to the cache", f"{RELEASE}-scrubjay-cache", "/api"),
        ("an Ingress to every path", f"{RELEASE}-scrubjay-context", "/"),
    ):
        manifests = render(value_set("team"), {"ingress.tls": []})
        for rule in next(of_kind(manifests, "Ingress"))["spec"]["rules"]:
            rule["http"]["paths"][0]["path"] = path
            rule["http"]["paths"][0]["backend"]["service"]["name"] = service
        with _controller(manifests) as (port, backends):
            if not list(_reachable(port, backends)):
                yield name


def _reachable(port: int, backends: dict[str, _Backend]) -> Iterator[Finding]:
    for path in _PUBLIC:
        status, body, _ = _get(port, path)
        if path != "/api/timeline" and (status, body) != (200, b"context"):
            yield Finding("ingress", f"{path} answers {status} from {body[:40]!r}")
    for path in _CLOSED:
        status, body, _ = _get(port, path)
        if status == 200:
            yield Finding("ingress", f"{path} is open: {body[:40]!r}")
    for host in (f"{RELEASE}-scrubjay-cache", "elsewhere.example.com", "127.0.0.1"):
        status, body, _ = _get(port, "/api/context/assemble", host)
        if status == 200:
            yield Finding("ingress", f"the host {host} is answered by {body[:40]!r}")
    for name in ("cache", "agent-memory"):
        if asked := backends[name].asked:
            yield Finding("ingress", f"{name} was reached: {dict(asked)}")
    status, body, first = _get(port, "/api/timeline")
    if (status, body.count(b"data:")) != (200, _EVENTS):
        yield Finding("ingress", f"the event stream answers {status}: {body!r}")
    elif first > _PAUSE * (_EVENTS - 1):
        yield Finding("ingress", "the event stream is held back until its end")


def _get(port: int, path: str, host: str = HOST) -> tuple[int, bytes, float]:
    """Status, body, and the seconds until its first byte."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        begun = time.monotonic()
        connection.request("GET", path, headers={"host": host})
        answer = connection.getresponse()
        first = answer.read(1)
        waited = time.monotonic() - begun
        return answer.status, first + answer.read(), waited
    finally:
        connection.close()


@contextmanager
def _controller(manifests: Sequence[Manifest]) -> Iterator[tuple[int, dict[str, _Backend]]]:
    """Traefik on a free port of loopback, reading these manifests; and the stand-ins behind it."""
    with ExitStack() as cleanup:
        backends = {name: _Backend(name) for name in ("cache", "agent-memory", "context")}
        for backend in backends.values():
            threading.Thread(target=backend.serve_forever, daemon=True).start()
            cleanup.callback(backend.server_close)
            cleanup.callback(backend.shutdown)
        ports = {f"{RELEASE}-scrubjay-{name}": one.server_port for name, one in backends.items()}
        api = cleanup.enter_context(ApiStub(manifests, ports))
        port, probe = free_port(), free_port()
        log = cleanup.enter_context(tempfile.NamedTemporaryFile("w+", suffix=".log"))
        process = subprocess.Popen(
            [
                script("traefik"),
                f"--entrypoints.web.address=127.0.0.1:{port}",
                f"--entrypoints.traefik.address=127.0.0.1:{probe}",
                f"--providers.kubernetesingress.endpoint={api.url}",
                "--providers.kubernetesingress.token=none",
                "--ping=true",
                "--global.checknewversion=false",
                "--global.sendanonymoususage=false",
            ],
            stdout=log,
            stderr=log,
            env={"PATH": ""},
        )
        cleanup.callback(process.wait)
        cleanup.callback(process.kill)
        _await_routes(port, process, Path(log.name))
        yield port, backends


def _await_routes(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        try:
            if _get(port, "/mcp")[0] == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.1)
    raise ToolError(f"Traefik routes nothing:\n{log.read_text()[-2000:]}")
