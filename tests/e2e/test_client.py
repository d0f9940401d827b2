"""The Python client on a running cluster: every call, and what it does when replies are lost and streams break."""

import asyncio
import inspect
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

import scrubjay
from local.database import ROOT, Database
from scrubjay import AsyncClient, AsyncPages, Client
from scrubjay.models import Decision, Event, ExportedMemory
from tests.support.calls import until
from tests.support.cluster import Cluster
from tests.support.clusters import locked, spare
from tests.support.cutting import Cutter
from tests.support.openapi import DOCUMENT, operations
from tools.client.calls import Operation
from tools.openapi.examples import EXAMPLES
from tools.openapi.examples_cache import Example
from tools.openapi.playing import part, resolved

EVENTS = 60
OPERATIONS = {one.id: Operation(one.method, one.path, one.told, DOCUMENT) for one in operations()}
_missions = itertools.count(1)


def _decision(mission: str, content: str = "Roll back to 4.2.1") -> Decision:
    return Decision(mission_id=mission, content=content, decision_rationale="it worked", agent_name="scout")


def _mission() -> str:
    return f"client-{next(_missions)}"


def _method(client: object, example: Example) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
    """The method for an example, and what it takes by place and by name."""
    one = OPERATIONS[example.operation]
    method = getattr(getattr(client, one.group, client), one.name, None) or getattr(client, one.name)
    if one.line:
        return method, [example.body], example.parameters
    if one.body is not None and one.flat is None:
        return method, [example.body], example.parameters
    by_name = {**(example.body or {}), **example.parameters}
    if "mission_id" in by_name and "{mission_id}" in one.path:
        by_name["mission"] = by_name.pop("mission_id")
    placed = [p for p in inspect.signature(method).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return method, [by_name.pop(p.name, None) for p in placed], by_name


def _kept(answer: Any, path: str) -> Any:
    return part(scrubjay._data.encode(answer), path)


async def test_every_call_answers_with_its_model(cluster: Cluster) -> None:
    kept: dict[str, Any] = {}
    played = set()
    async with AsyncClient(cluster.url(), cluster.tokens.admin) as client:
        for example in EXAMPLES:
            if example.accept == "text/event-stream":
                continue
            method, by_place, by_name = _method(client, example)
            answered = method(*resolved(by_place, kept), **resolved(by_name, kept))
            answer = await (answered.page() if isinstance(answered, AsyncPages) else answered)
            kept |= {name: _kept(answer, path) for name, path in example.keep.items()}
            played.add(example.operation)
    assert played == OPERATIONS.keys()


@pytest.mark.parametrize("readme", ["README.md", "clients/python/README.md"])
async def test_the_example_in_the_readme(
    cluster: Cluster, readme: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / readme).read_text(), re.S)[:1]
    monkeypatch.setenv("SCRUBJAY_URL", cluster.url())
    monkeypatch.setenv("SCRUBJAY_TOKEN", cluster.tokens.write)
    await asyncio.to_thread(exec, example, {})
    assert "already applied" in capsys.readouterr().out


async def test_the_client_that_waits(cluster: Cluster) -> None:
    mission = _mission()

    def talk() -> None:
        with Client(cluster.url(), cluster.tokens.admin) as client:
            written = client.cache.write(_decision(mission), wait="indexed")
            assert written.data.indexed
            found = client.cache.query(mission_id=mission, query="What was rolled back?")
            assert [entry.id for entry in found.data.entries] == [written.data.id]
            assembly = client.assemble(
                query="What was rolled back?", caller="scout", mission_namespace=mission
            )
            assert f"cache:{written.data.id}" in assembly.context_block
            client.feedback(assembly_id=assembly.assembly_id, used_source_ids=[assembly.sources[0].handle])
            client.agent_memory.commit(
                agent_name=mission, memory_type="lesson_learned", content="Roll back first"
            )
            lines = client.agent_memory.export(agent_name=mission)
            assert isinstance(lines[0], ExportedMemory)
            client.agent_memory.forget(agent_name=mission)
            assert client.agent_memory.import_(lines).imported == 1
            assert client.cache.stats(mission).data.entry_count == 1
            assert client.purge(scope=f"mission:{mission}").erased["cache"]

    await asyncio.to_thread(talk)


async def test_a_write_whose_reply_is_lost_happens_once(cluster: Cluster) -> None:
    mission = _mission()
    async with Cutter(cluster.url()) as cutter, AsyncClient(cutter.url, cluster.tokens.write) as client:
        cutter.replies = 2
        written = await client.cache.write(_decision(mission))
        assert cutter.cuts == 2
        entries = await client.cache.entries(mission).page()
        assert [entry.id for entry in entries.data] == [written.data.id]
        cutter.replies = 1
        with pytest.raises(scrubjay.NotReachedError):
            await client.cache.delete_entry(written.data.id)
        with pytest.raises(scrubjay.NotFoundError):
            await client.cache.entry(written.data.id)


async def test_a_full_service_is_asked_again(cluster: Cluster) -> None:
    mission = _mission()
    async with (
        spare(cluster, "context", SCRUBJAY_IN_FLIGHT="2") as small,
        AsyncClient(small.url, cluster.tokens.write, retries=20) as client,
        AsyncClient(small.url, cluster.tokens.write, retries=0) as hasty,
    ):
        hurried = await asyncio.gather(
            *(hasty.cache.write(_decision(mission, f"hasty {n}")) for n in range(12)), return_exceptions=True
        )
        assert any(isinstance(one, scrubjay.TooManyError) for one in hurried)
        await asyncio.gather(*(client.cache.write(_decision(mission, f"patient {n}")) for n in range(6)))
        entries = (await client.cache.entries(mission).page()).data
        assert sum(entry.content.startswith("patient") for entry in entries) == 6


async def test_a_timeout_holds_for_all_tries(cluster: Cluster, database: Database) -> None:
    async with AsyncClient(cluster.url(), cluster.tokens.write) as client:
        mission = _mission()
        async with locked(database, "cache.psychic_cache"), asyncio.timeout(5):
            with pytest.raises(scrubjay.UnavailableError) as caught:
                await client.cache.write(_decision(mission), timeout=0.6)
        assert caught.value.problem.extra["dependency"] in ("postgres", "cache")


async def test_refusals_are_exceptions_of_their_own(cluster: Cluster) -> None:
    async with AsyncClient(cluster.url(), cluster.tokens.read) as client:
        with pytest.raises(scrubjay.ForbiddenError):
            await client.cache.write(_decision(_mission()))
        with pytest.raises(scrubjay.NotFoundError) as missing:
            await client.explain(2**40)
        assert missing.value.request_id
        with pytest.raises(scrubjay.InvalidError) as invalid:
            await client.assemble(query="", caller="scout")
        assert [error.field for error in invalid.value.errors] == ["query"]
        assert invalid.value.problem.type == "/problems/invalid"
    async with AsyncClient(cluster.url(), "sj_unknown") as client:
        with pytest.raises(scrubjay.UnauthorizedError):
            await client.timeline().page()
        with pytest.raises(scrubjay.UnauthorizedError):
            await anext(client.events())
    async with AsyncClient("http://127.0.0.1:9", "none", retries=1) as client:
        with pytest.raises(scrubjay.NotReachedError):
            await client.timeline().page()


async def _read(client: AsyncClient, mission: str, count: int, **more: Any) -> list[int]:
    read = []
    async for event in client.events(mission=mission, **more):
        read.append(event.seq)
        if len(read) == count:
            break
    return read


async def test_a_stream_that_is_cut_misses_nothing(cluster: Cluster) -> None:
    mission = _mission()
    async with (
        Cutter(cluster.url()) as cutter,
        AsyncClient(cutter.url, cluster.tokens.read) as watcher,
        AsyncClient(cluster.url(), cluster.tokens.write) as client,
    ):
        cutter.every = 6_000
        reading = asyncio.create_task(_read(watcher, mission, EVENTS, after=0))
        for number in range(EVENTS):
            await client.cache.write(_decision(mission, f"event {number}"))
        async with asyncio.timeout(60):
            read = await reading
        page = await client.timeline(mission=mission, after=0, limit=1_000).page()
    assert cutter.cuts >= 2
    assert read == [event.seq for event in page.data]


async def test_a_stream_that_is_cut_before_its_first_event_misses_nothing(cluster: Cluster) -> None:
    mission = _mission()
    async with Cutter(cluster.url()) as cutter, AsyncClient(cluster.url(), cluster.tokens.write) as client:

        def watch() -> Event:
            with Client(cutter.url, cluster.tokens.read) as watcher:
                return next(watcher.events(mission=mission))

        # Enough for the head of the answer and where the stream begins, not for an event.
        cutter.every = 450
        watching = asyncio.create_task(asyncio.to_thread(watch))
        await cutter.begun.wait()
        await asyncio.sleep(1)  # until all of the head is there
        written = await client.cache.write(_decision(mission))
        while not cutter.cuts:
            await asyncio.sleep(0.01)
        cutter.every = None
        async with asyncio.timeout(60):
            event = await watching
    assert event.payload["id"] == written.data.id


async def test_an_iterator_walks_every_page(cluster: Cluster) -> None:
    mission = _mission()
    async with AsyncClient(cluster.url(), cluster.tokens.write) as client:
        for number in range(7):
            await client.cache.write(_decision(mission, f"entry {number}"))
        awaited = [entry.content async for entry in client.cache.entries(mission, limit=3)]
        assert awaited == [f"entry {number}" for number in reversed(range(7))]
        pages = [len(page.data) async for page in client.cache.entries(mission, limit=3).pages()]
        assert pages == [3, 3, 1]

        async def are_told() -> None:
            """Events get their numbers a moment after they are written."""
            told = [event.payload["id"] async for event in client.timeline(mission=mission, after=0, limit=3)]
            assert len(told) == len(set(told)) == 7

        await until(are_told)

    def waits() -> list[str]:
        with Client(cluster.url(), cluster.tokens.read) as client:
            assert mission in {entry.mission_id for entry in client.cache.entries(limit=5)}
            return [entry.content for entry in client.cache.entries(mission=mission, limit=2)]

    assert await asyncio.to_thread(waits) == awaited


async def test_a_client_for_one_agent_fills_in_what_is_left_out(cluster: Cluster) -> None:
    mission = _mission()

    def talk() -> None:
        with Client(cluster.url(), cluster.tokens.write) as client:
            scout = client.agent("scout", mission=mission)
            written = scout.cache.write(
                Decision(content="Roll back", decision_rationale="it worked"), wait="indexed"
            )
            scout.cache.write_batch(entries=[Decision(content="Wait", decision_rationale="it is late")])
            scout.remember("I learned that a rollback takes a minute")
            scout.agent_memory.commit(content="Roll back first", memory_type="lesson_learned")
            assert {entry.agent_name for entry in scout.cache.entries()} == {"scout"}
            assert scout.cache.stats().data.entry_count >= 2
            found = scout.assemble("What was rolled back?")
            assert f"cache:{written.data.id}" in found.context_block
            assert {memory.agent_name for memory in scout.agent_memory.list()} == {"scout"}
            with pytest.raises(ValueError, match="name the mission"):
                client.cache.stats()
            scout.assemble("What was rolled back?", caller="ana")

    async def are_logged() -> None:
        async with AsyncClient(cluster.url(), cluster.tokens.read) as client:
            callers = {assembly.caller async for assembly in client.log(mission=mission)}
        assert callers == {"scout", "ana"}

    await asyncio.to_thread(talk)
    await until(are_logged)
