"""Runs the rendered Ingress under a real controller and checks what is reachable through it."""

from __future__ import annotations

import http.client
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from deploy.verify.api_stub import ApiStub
from deploy.verify.manifests import RELEASE, Manifest, of_kind, render, value_set
from deploy.verify.tools import ToolError, script
from local.process import free_port

HOST = "memory.example.com"
_EVENTS = 3
_PATIENCE = 30.0
_STREAM = "/api/timeline"
_PUBLIC = ("/", "/api/context/assemble", "/api/psychic-cache/write", "/schema/openapi.json", "/mcp")
# Not reachable from outside, through an Ingress or the compose file's proxy.
CLOSED = ("/metrics", "/livez", "/readyz", "/internal/search", "/api/../metrics", "/api/%2e%2e/metrics")


class _Backend(ThreadingHTTPServer):
    """Answers with the name of its component. The timeline is a stream that goes on once its first event is read."""

    daemon_threads = True

    def __init__(self, component: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.component = component
        self.asked: Counter[str] = Counter()
        self.first_is_read, self.buffered = threading.Event(), False


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Backend

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        if self.path == _STREAM:
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
            self.server.buffered |= not self.server.first_is_read.wait(_PATIENCE)

    def log_message(self, format: str, *arguments: Any) -> None: ...


def ingress() -> list[str]:
    """Checks the Ingress of the team's value set, without TLS."""
    with _controller(_team()) as (port, backends):
        return list(_reachable(port, backends))


def unseen() -> Iterator[str]:
    """Wrong Ingresses that the same requests do not detect."""
    for name, component, path in (
        ("an Ingress to the cache", "cache", "/api"),
        ("an Ingress to every path", "context", "/"),
    ):
        manifests = _team()
        for rule in next(of_kind(manifests, "Ingress"))["spec"]["rules"]:
            changed = next(each for each in rule["http"]["paths"] if each["pathType"] == "Prefix")
            changed["path"] = path
            changed["backend"]["service"]["name"] = _service(component)
        with _controller(manifests) as (port, backends):
            if not list(_reachable(port, backends)):
                yield name


def _team() -> list[Manifest]:
    return render(value_set("team"), {"ingress.tls": []})


def _service(component: str) -> str:
    return f"{RELEASE}-scrubjay-{component}"


def _reachable(port: int, backends: dict[str, _Backend]) -> Iterator[str]:
    for path in _PUBLIC:
        status, body = _get(port, path)
        if (status, body) != (200, b"context"):
            yield f"{path} answers {status} from {body[:40]!r}"
    for path in CLOSED:
        status, body = _get(port, path)
        if status == 200:
            yield f"{path} is open: {body[:40]!r}"
    for host in (_service("cache"), "elsewhere.example.com", "127.0.0.1"):
        status, body = _get(port, "/api/context/assemble", host)
        if status == 200:
            yield f"the host {host} is answered by {body[:40]!r}"
    yield from _streams(port, backends)
    for name in ("cache", "agent-memory"):
        if asked := backends[name].asked:
            yield f"{name} was reached: {dict(asked)}"


def _streams(port: int, backends: dict[str, _Backend]) -> Iterator[str]:
    def first_is_read() -> None:
        for backend in backends.values():
            backend.first_is_read.set()

    status, body = _get(port, _STREAM, first_is_read=first_is_read)
    if (status, body.count(b"data:")) != (200, _EVENTS):
        yield f"the event stream answers {status}: {body!r}"
    elif any(backend.buffered for backend in backends.values()):
        yield "the event stream is buffered until its end"


def _get(
    port: int, path: str, host: str = HOST, first_is_read: Callable[[], None] = lambda: None
) -> tuple[int, bytes]:
    """The status and the body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4 * _PATIENCE)
    try:
        connection.request("GET", path, headers={"host": host})
        answer = connection.getresponse()
        first = answer.read(1)
        first_is_read()
        return answer.status, first + answer.read()
    finally:
        connection.close()


@contextmanager
def _controller(manifests: Sequence[Manifest]) -> Iterator[tuple[int, dict[str, _Backend]]]:
    """Traefik on a free loopback port, with these manifests, and the backends that it routes to."""
    with ExitStack() as cleanup:
        backends = {
            name: cleanup.enter_context(_served(name)) for name in ("cache", "agent-memory", "context")
        }
        ports = {_service(name): backend.server_port for name, backend in backends.items()}
        api = cleanup.enter_context(ApiStub(manifests, ports))
        port = cleanup.enter_context(_traefik(api.url))
        yield port, backends


@contextmanager
def _served(component: str) -> Iterator[_Backend]:
    with _Backend(component) as backend:
        threading.Thread(target=backend.serve_forever, daemon=True).start()
        try:
            yield backend
        finally:
            backend.shutdown()


@contextmanager
def _traefik(api: str) -> Iterator[int]:
    """Yields the port once it routes."""
    port, probe = free_port(), free_port()
    argv: list[str | Path] = [
        script("traefik"),
        f"--entrypoints.web.address=127.0.0.1:{port}",
        f"--entrypoints.traefik.address=127.0.0.1:{probe}",
        f"--providers.kubernetesingress.endpoint={api}",
        "--providers.kubernetesingress.token=none",
        "--ping=true",
        "--global.checknewversion=false",
        "--global.sendanonymoususage=false",
    ]
    with (
        tempfile.NamedTemporaryFile("w+", suffix=".log") as log,
        subprocess.Popen(argv, stdout=log, stderr=log, env={"PATH": ""}) as process,
    ):
        try:
            _await_routes(port, process, Path(log.name))
            yield port
        finally:
            process.kill()


def _await_routes(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 2 * _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            if _get(port, "/mcp")[0] == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.1)
    raise ToolError(f"Traefik routes nothing:\n{log.read_text()[-2000:]}")
