"""An OpenTelemetry collector over HTTP, with a thread of its own: it keeps spans, or takes its time."""

import gzip
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Recorded(NamedTuple):
    trace: str
    id: str
    parent: str
    name: str
    kind: str
    service: str
    attributes: dict[str, Any]
    failed: bool
    links: int


class FakeCollector:
    """`delay` is in seconds, for each export."""

    def __init__(self, port: int, *, delay: float = 0.0) -> None:
        self.spans: list[Recorded] = []
        self.exports = 0
        self.url = f"http://127.0.0.1:{port}"
        self.headers: dict[str, str] = {}
        self._delay = delay
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def of(self, trace: str) -> list[Recorded]:
        return [span for span in self.spans if span.trace == trace]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.headers = {name.lower(): value for name, value in self.headers.items()}
                collector.exports += 1
                time.sleep(collector._delay)
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.spans += _read(body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def tree(spans: list[Recorded]) -> dict[str, list[Recorded]]:
    """Spans by their parent's id."""
    children: dict[str, list[Recorded]] = defaultdict(list)
    for span in spans:
        children[span.parent].append(span)
    return children


def _read(body: bytes) -> list[Recorded]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        Recorded(
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            name=span.name,
            kind=type(span).SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
            service=_values(resource.resource.attributes)["service.name"],
            attributes=_values(span.attributes),
            failed=span.status.code == 2,
            links=len(span.links),
        )
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}
