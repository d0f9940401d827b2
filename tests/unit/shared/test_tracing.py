"""What a statement is called in a trace, and the settings of tracing."""

from types import SimpleNamespace

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, TraceFlags

from services.agent_memory.memories import queries as memories
from services.agent_memory.memories import queries_search as memories_search
from services.context.assembly import queries as context
from services.context.timeline import queries as timeline
from shared.settings import SettingsError
from shared.telemetry import tracing
from shared.telemetry.query_spans import summarize
from shared.telemetry.tracing import TracingSettings


@pytest.mark.parametrize(
    ("sql", "operation", "summary"),
    [
        (context.CALLER_WEIGHTS, "SELECT", "SELECT context.source_weights"),
        (timeline.NUMBER_EVENTS, "SELECT", "SELECT timeline.number_tenant"),
        ("BEGIN; SET LOCAL statement_timeout = 1234", "BEGIN", "BEGIN"),
        ("COMMIT", "COMMIT", "COMMIT"),
        ("insert into cache.a (x) values ($1)", "INSERT", "INSERT cache.a"),
        (
            "select count(*) from sessions.events e join cache.a using (id)",
            "SELECT",
            "SELECT sessions.events cache.a",
        ),
        ("with x as (select 1) update memory.b set y = $1", "UPDATE", "UPDATE memory.b"),
        ("with x as (select updated from memory.b) select * from x", "SELECT", "SELECT memory.b"),
        ("select set_config('jit', 'off', false)", "SELECT", "SELECT set_config"),
        ("", "", ""),
    ],
)
def test_a_statement_is_called_by_what_it_does_to_what(sql: str, operation: str, summary: str) -> None:
    assert summarize(sql) == (operation, summary)


def test_names_of_statements_are_short_and_without_literals() -> None:
    constants = [
        value
        for module in (context, memories, memories_search)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and " " in value
    ]
    assert len(constants) > 10
    for sql in constants:
        summary = summarize(sql).text
        assert len(summary) < 150
        assert "'" not in summary
        assert "$" not in summary


def test_settings() -> None:
    assert TracingSettings.from_env({}).endpoint is None
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/", "OTEL_TRACES_SAMPLER_ARG": "0.1"}
    assert TracingSettings.from_env(given) == TracingSettings("http://collector:4318", "", 0.1)
    for wrong in (
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"},
        {"OTEL_TRACES_SAMPLER_ARG": "2"},
        {"OTEL_TRACES_SAMPLER_ARG": "all"},
    ):
        with pytest.raises(SettingsError) as refused:
            TracingSettings.from_env(wrong)
        assert next(iter(wrong)) in str(refused.value)


def test_an_unsampled_request_hides_no_work_of_a_sampled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    finished = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(finished))
    monkeypatch.setattr(tracing, "_exporter", SimpleNamespace(tracer=provider.get_tracer("test")))
    unsampled = SpanContext(1, 1, is_remote=False)
    sampled = SpanContext(2, 2, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    with tracing.going_on("log", [None, unsampled, sampled]):
        pass
    (span,) = finished.get_finished_spans()
    assert span.parent == sampled
    assert [link.context for link in span.links] == [unsampled]
