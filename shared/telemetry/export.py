"""Sends spans to a collector in batches, from its own thread.

The queue is bounded. When the collector is slow or dead, spans are dropped and no request waits.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.util.re import parse_env_headers

from shared.telemetry import metrics

# About 2 kB a span.
_QUEUE = 4_096
_EVERY_MS = 1_000
_EXPORT_SECONDS = 3.0
# A drain has 10 seconds in all.
_CLOSE_SECONDS = 1.0


class Exporter:
    def __init__(self, service: str, endpoint: str, headers: str, share: float) -> None:
        # The library logs every failed export, and not as JSON.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        name = {"service.name": f"scrubjay-{service}", "service.namespace": "scrubjay"}
        # Not the process's global provider, so that no library can add spans with unknown content.
        self._provider = TracerProvider(
            resource=Resource.create(name),
            sampler=ParentBased(TraceIdRatioBased(share)),
            shutdown_on_exit=False,
        )
        sender = OTLPSpanExporter(
            endpoint=f"{endpoint}/v1/traces",
            headers=parse_env_headers(headers, liberal=True),
            timeout=_EXPORT_SECONDS,
        )
        self._provider.add_span_processor(
            BatchSpanProcessor(
                _CountingExporter(sender), max_queue_size=_QUEUE, schedule_delay_millis=_EVERY_MS
            )
        )
        self.tracer = self._provider.get_tracer("scrubjay")

    async def close(self) -> None:
        """Sends the queued spans, if the collector takes them within a second."""
        thread = threading.Thread(target=self._provider.shutdown, daemon=True)
        thread.start()
        until = time.monotonic() + _CLOSE_SECONDS
        while thread.is_alive() and time.monotonic() < until:
            await asyncio.sleep(0.02)


class _CountingExporter(SpanExporter):
    """Counts the spans that the collector did not take."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            metrics.SPANS_LOST.inc(len(spans))
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)
