"""Traces reach a collector whole, without content; a collector that is dead or slow changes no answer."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from local.process import free_port
from tests.conftest import Servers
from tests.support.calls import lesson, note, question, until
from tests.support.cluster import Answer, Cluster
from tests.support.clusters import own_cluster, spare
from tests.support.fakes.fake_collector import FakeCollector, Recorded, tree

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
CALLER = "0af7651916cd43dd8448eb211c80319c"
CALLERS_SPAN = "b7ad6b7169203331"
CANARY = "canary4711"


@pytest.fixture(scope="module")
def collector() -> Iterator[FakeCollector]:
    with FakeCollector(free_port()) as collector:
        yield collector


@pytest.fixture(scope="module")
async def traced(
    collector: FakeCollector, servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    settings = {ENDPOINT: collector.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-team=memory"}
    folder = tmp_path_factory.mktemp("traced")
    async with own_cluster("traced", servers, template, folder, settings=settings) as cluster:
        async with cluster.client("write") as agent:
            said = note("traces", f"the deploy failed, says {CANARY}")
            assert (await agent.post("/api/psychic-cache/write?wait=indexed", said)).status == 201
            assert (await agent.post("/api/agent-memory/commit", lesson("traces", CANARY))).status == 201
        yield cluster


async def assemble(cluster: Cluster, **headers: str) -> Answer:
    async with cluster.client("write") as agent:
        asked = question("traces", f"why did the deploy fail {CANARY}")
        answer = await agent.post("/api/context/assemble", asked, headers=headers)
    assert answer.status == 200
    assert answer.body["degraded"] == []
    return answer


async def whole(collector: FakeCollector, trace: str) -> list[Recorded]:
    """The spans of a trace, when the last of them has come: the doorbell of the log."""

    async def there() -> None:
        assert any(span.name == "PUBLISH" for span in collector.of(trace))
        assert any(span.kind == "server" and span.service == "scrubjay-cache" for span in collector.of(trace))
        assert any(span.name == "search_memory agent_memory" for span in collector.of(trace))

    await until(there)
    return collector.of(trace)


async def test_the_trace_of_an_assemble_shows_every_hop_and_statement(
    traced: Cluster, collector: FakeCollector
) -> None:
    sent = f"00-{CALLER}-{CALLERS_SPAN}-01"
    answer = await assemble(traced, traceparent=sent)
    assert answer.headers["x-trace-id"] == CALLER
    children = tree(await whole(collector, CALLER))

    (root,) = children[CALLERS_SPAN]
    assert (root.service, root.kind, root.name) == (
        "scrubjay-context",
        "server",
        "POST /api/context/assemble",
    )
    (operation,) = children[root.id]
    assert operation.attributes["gen_ai.operation.name"] == "search_memory"
    inside = children[operation.id]
    assert {"SELECT context.source_weights", "SELECT context.caller_budget_config"} <= names(inside)
    assert any(one.attributes.get("gen_ai.operation.name") == "embeddings" for one in inside)
    logged = next(one for one in inside if one.name == "log assemblies")
    assert names(children[logged.id]) == {
        "INSERT context.context_assembly_log timeline.was_erased timeline.events",
        "PUBLISH",
    }

    calls = [one for one in inside if one.name == "POST /internal/search"]
    assert all(one.kind == "client" for one in calls)
    reached = {}
    for call in calls:
        (server,) = children[call.id]
        assert (server.kind, server.name) == ("server", "POST /internal/search")
        (search,) = children[server.id]
        assert search.attributes["gen_ai.operation.name"] == "search_memory"
        reached[server.service] = names(children[search.id])
    assert reached.keys() == {"scrubjay-cache", "scrubjay-agent-memory"}
    assert (
        "SELECT cache.searchable_chunks cache.searchable_vectors cache.searchable_words cache.psychic_vec"
        in reached["scrubjay-cache"]
    )
    assert any("memory.agent_memory_vec" in name for name in reached["scrubjay-agent-memory"])
    assert {"trace", "x-team"} & collector.headers.keys() == {"x-team"}


async def test_statements_are_told_by_the_conventions_and_no_content_is(
    traced: Cluster, collector: FakeCollector
) -> None:
    trace = (await assemble(traced)).headers["x-trace-id"]
    spans = await whole(collector, trace)
    statements = [one for one in spans if one.attributes.get("db.system.name") == "postgresql"]
    assert len(statements) >= 4
    for one in statements:
        assert one.kind == "client"
        assert one.name == one.attributes["db.query.summary"]
        assert one.name.split()[0] == one.attributes["db.operation.name"]
    assert not any(one.failed for one in spans)
    told = json.dumps(collector.spans)
    for secret in (CANARY, '"traces"', "mission:", traced.tokens.write, traced.tokens.cache):
        assert secret not in told


async def test_a_callers_decision_not_to_sample_holds(traced: Cluster, collector: FakeCollector) -> None:
    unsampled = CALLER.replace("0", "1")
    answer = await assemble(traced, traceparent=f"00-{unsampled}-{CALLERS_SPAN}-00")
    assert answer.headers["x-trace-id"] == unsampled
    later = (await assemble(traced)).headers["x-trace-id"]
    await whole(collector, later)
    assert collector.of(unsampled) == []


async def test_a_failure_is_marked_and_its_log_line_names_the_trace(
    traced: Cluster, collector: FakeCollector
) -> None:
    async with spare(traced, "context", SCRUBJAY_CACHE_URL=f"http://127.0.0.1:{free_port()}") as lone:
        async with traced.client("write") as agent:
            url = f"{lone.url}/api/psychic-cache/traces/stats"
            async with agent.session.get(url) as response:
                assert response.status == 503
                trace = response.headers["x-trace-id"]

        async def logged() -> None:
            assert trace in lone.log.read_text()

        await until(logged)
    # A service that ends sends what it has.
    spans = {one.kind: one for one in collector.of(trace)}
    assert spans["server"].failed
    assert spans["server"].attributes["http.response.status_code"] == 503
    assert spans["client"].failed
    assert spans["client"].attributes["error.type"] == "Unreachable"


@pytest.mark.parametrize("state", ["dead", "slow"])
async def test_answers_come_as_before_when_the_collector_is(state: str, traced: Cluster) -> None:
    with FakeCollector(free_port(), delay=60) as slow:
        url = slow.url if state == "slow" else f"http://127.0.0.1:{free_port()}"
        async with spare(traced, "context", **{ENDPOINT: url}) as replica, traced.client("write") as agent:
            took = []
            for number in range(24):
                begun = time.monotonic()
                async with agent.session.post(
                    f"{replica.url}/api/context/assemble", json=question("traces", f"question {number}")
                ) as response:
                    assert response.status == 200
                    assert (await response.json())["degraded"] == []
                took.append(time.monotonic() - begun)
                if number == 12:
                    # Past the first export, which now hangs or is tried again.
                    await until(lambda: exported(slow, state))
            assert sorted(took)[12] < 2
            begun = time.monotonic()
            await traced.stop(replica)
            assert replica.returncode == 0
            assert time.monotonic() - begun < replica.stop_seconds


async def exported(collector: FakeCollector, state: str) -> None:
    assert state == "dead" or collector.exports


def test_nothing_is_imported_without_a_collector() -> None:
    services = "services.cache.app, services.agent_memory.app, services.context.app"
    code = (
        f"import sys, {services}; from shared.telemetry import tracing;"
        "tracing.start('x', tracing.TracingSettings());"
        "wanted = ('shared.telemetry.export', 'opentelemetry.exporter', 'opentelemetry.sdk.trace');"
        "print([one for one in sys.modules if one.startswith(wanted)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def names(spans: list[Recorded]) -> set[str]:
    return {span.name for span in spans}
