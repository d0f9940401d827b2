"""The embedder dead, hanging or failing: writes go on, text search finds them, vectors follow."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.conftest import Servers
from tests.support.calls import BUSY_SLACK, lesson, note, question, timed, until, within
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import own_cluster
from tests.support.fakes.fake_openai import FakeOpenAI

# A breaker that opened meanwhile tries again within a few seconds, the background worker after it.
RECOVERY_SECONDS = 30


class Embedder:
    """A fake API that breaks and comes back at the same address."""

    def __init__(self) -> None:
        self._api = FakeOpenAI()
        self._api.__enter__()

    @property
    def url(self) -> str:
        return self._api.url

    def breaks(self, way: str) -> None:
        if way == "dead":
            self.stop()
        else:
            self._api.mode = way

    def recovers(self) -> None:
        self.stop()
        self._api = FakeOpenAI(self._api.port)
        self._api.__enter__()

    def stop(self) -> None:
        self._api.__exit__()


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    running = Embedder()
    yield running
    running.stop()


@pytest.fixture(scope="module")
async def cluster(
    embedder: Embedder, servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    settings = {
        "SCRUBJAY_EMBEDDER": "openai",
        "OPENAI_BASE_URL": embedder.url,
        "OPENAI_API_KEY": FakeOpenAI.key,
    }
    folder = tmp_path_factory.mktemp("embedder-away")
    async with own_cluster("embedder_away", servers, template, folder, settings=settings) as running:
        yield running


@pytest.mark.parametrize("way", ["dead", "hang", "500"])
async def test_text_is_enough_and_vectors_follow(cluster: Cluster, embedder: Embedder, way: str) -> None:
    mission = f"embedder-{way}"
    # No text occurs twice: the vectors of what was embedded before are remembered.
    async with cluster.client("write") as agent, cluster.client("admin") as admin:
        embedder.breaks(way)
        try:
            written = await _writes(agent, mission)
            committed = await _commits(agent, mission)
            await _is_found_by_text(agent, mission, written, committed)
            await _does_not_wait_for_vectors(agent, mission)
        finally:
            embedder.recovers()
        await until(lambda: _has_vectors(admin, mission, written, committed), RECOVERY_SECONDS)
        again = await agent.post(
            "/api/psychic-cache/write?wait=indexed", note(mission, f"a last finding of {mission}")
        )
        assert again.body["data"]["indexed"]


async def _writes(agent: Client, mission: str) -> str:
    done = await timed(
        agent.post(
            "/api/psychic-cache/write", note(mission, f"the replica {mission} lags"), headers=within(500)
        )
    )
    assert done.status == 201, done.answer
    assert done.seconds < 0.5 + BUSY_SLACK
    assert not done.answer.body["data"]["indexed"]
    return f"cache:{done.answer.body['data']['id']}"


async def _commits(agent: Client, mission: str) -> str:
    body = lesson(mission, f"Look at the lag of the replica {mission} first.")
    done = await timed(agent.post("/api/agent-memory/commit", body, headers=within(1500)))
    assert (done.status, done.answer.body["status"]) == (201, "pending"), done.answer
    assert done.seconds < 1.5 + BUSY_SLACK
    return f"own:{done.answer.body['memory_id']}"


async def _is_found_by_text(agent: Client, mission: str, written: str, committed: str) -> None:
    asked = {"mission_id": mission, "query": f"lag of the replica {mission}"}
    done = await timed(agent.post("/api/psychic-cache/query", asked))
    assert done.status == 200, done.answer
    assert done.seconds < 2 + BUSY_SLACK
    found = done.answer.body["data"]
    assert [f"cache:{entry['id']}" for entry in found["entries"]] == [written]
    assert found["degraded"][0].startswith("embedder")

    done = await timed(
        agent.post("/api/agent-memory/query", {"agent_name": mission, "query": asked["query"]})
    )
    assert done.status == 200, done.answer
    assert done.seconds < 2 + BUSY_SLACK
    assert [f"own:{memory['id']}" for memory in done.answer.body["memories"]] == [committed]
    assert done.answer.body["degraded"][0].startswith("embedder")

    for milliseconds in (1000, 2000):
        done = await timed(_assemble(agent, mission, headers=within(milliseconds)))
        assert done.status == 200, done.answer
        assert done.seconds < milliseconds / 1000 + BUSY_SLACK
        assert [one["source"] for one in done.answer.body["degraded"]] == ["embedder"]
        assert {source["handle"] for source in done.answer.body["sources"]} >= {written, committed}


async def _does_not_wait_for_vectors(agent: Client, mission: str) -> None:
    done = await timed(
        agent.post(
            "/api/psychic-cache/write?wait=indexed",
            note(mission, f"another finding of {mission}"),
            headers=within(800),
        )
    )
    assert (done.status, done.answer.body["data"]["indexed"]) == (201, False), done.answer
    assert done.seconds < 0.8 + BUSY_SLACK


async def _has_vectors(admin: Client, mission: str, *handles: str) -> None:
    answer = await _assemble(admin, mission, debug=True)
    assert answer.body["degraded"] == []
    cosines = {one["handle"]: one.get("cosine") for one in answer.body["candidates"]}
    assert all(cosines[handle] is not None for handle in handles), cosines


async def _assemble(
    client: Client, mission: str, headers: dict[str, str] | None = None, **more: bool
) -> Answer:
    body = {**question(mission, f"what of the lag of the replica {mission}"), "caller": mission, **more}
    return await client.post("/api/context/assemble", body, headers=headers)
