"""Sessions through a running gateway: whether what reaches the provider is what the plan says, byte for byte."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from bench.assemble.cluster import Cluster
from bench.gateway_cost.host import Api, requests
from bench.paging.events import Event
from bench.promises.resident import remote_model
from local.servers import temporary_folder
from services.context.gateway.paging.paged import Endpoint, page
from services.context.gateway.paging.plan import Standing
from services.context.gateway.phantom import Endpoint as Answered
from services.context.gateway.phantom import with_tools
from shared.spending.prices import bundled

_TOOLS: dict[Api, bytes] = {
    "anthropic": b'"tools":[{"name":"run","description":"Runs.","input_schema":{"type":"object"}}],',
    "openai": b'"tools":[{"type":"function","function":{"name":"run","parameters":{"type":"object"}}}],',
}
_PATHS: dict[Api, str] = {"anthropic": "/anthropic/v1/messages", "openai": "/openai/v1/chat/completions"}
_ENDPOINTS: dict[Api, Answered] = {"anthropic": "messages", "openai": "chat"}


class Same(NamedTuple):
    requests: int
    differing: int
    shorter: int


class Gateway:
    def __init__(self, port: int, key: str, provider: _Provider) -> None:
        self._provider = provider
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._key = key

    def play(self, events: Sequence[Event], api: Api, head_tokens: int, session: str) -> Same:
        endpoint: Endpoint = _ENDPOINTS[api]
        known: dict[str, Standing] = {}
        count = differing = shorter = 0
        for request in requests(events, api, head_tokens):
            body = b"{" + _TOOLS[api] + request.body[1:]
            paged = page(endpoint, body, known, bundled())
            known.update(paged.plan.moved)
            count += 1
            shorter += len(paged.body) < len(body)
            differing += self._sent(body, api, session) != with_tools(_ENDPOINTS[api], paged.body)
        return Same(count, differing, shorter)

    def _sent(self, body: bytes, api: Api, session: str) -> bytes:
        headers = {"x-scrubjay-key": self._key, "x-scrubjay-session": session}
        self._connection.request("POST", f"/gateway{_PATHS[api]}", body, headers)
        answer = self._connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise OSError(f"the gateway answered {answer.status}: {said[:200]!r}")
        return self._provider.last


class _Provider(ThreadingHTTPServer):
    last = b""


class _Answers(BaseHTTPRequestHandler):
    server: _Provider
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.last = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def running() -> Iterator[Gateway]:
    with ExitStack() as cleanup:
        provider = _Provider(("127.0.0.1", 0), _Answers)
        cleanup.callback(provider.server_close)
        cleanup.callback(provider.shutdown)
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{provider.server_port}"
        cluster = Cluster(cleanup.enter_context(temporary_folder("scrubjay-gateway-")), cleanup)
        names = ("SCRUBJAY_GATEWAY_ANTHROPIC_URL", "SCRUBJAY_GATEWAY_OPENAI_URL")
        settings = {**dict.fromkeys(names, url), "SCRUBJAY_GATEWAY_UNPAGED_SHARE": "0"}
        cluster.start("gateway", {**remote_model(), **settings})
        context = next(each for each in cluster.services["gateway"] if each.name == "context")
        yield Gateway(context.port, cluster.tokens.write, provider)
