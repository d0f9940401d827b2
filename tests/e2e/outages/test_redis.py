"""Redis killed or frozen: nothing waits for it, and the timeline still delivers."""

from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

import pytest
import redis.asyncio as redis

from tests.conftest import Servers
from tests.support.calls import BUSY_SLACK, Stream, lesson, metric, note, question, timed, until, within
from tests.support.cluster import Client, Cluster
from tests.support.clusters import own_cluster, spare


@pytest.fixture(scope="module")
async def cluster(
    servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("redis-away")
    async with own_cluster("redis_away", servers, template, folder) as running:
        yield running


class Outage(NamedTuple):
    begin: Callable[[], object]
    end: Callable[[], object]


@pytest.fixture(params=["killed", "frozen"])
def outage(request: pytest.FixtureRequest, servers: Servers) -> Outage:
    if request.param == "killed":
        return Outage(servers.redis.kill, servers.redis.start)
    return Outage(servers.redis.sigstop, servers.redis.sigcont)


async def test_everything_goes_on_and_rings_resume(
    cluster: Cluster, outage: Outage, redis_url: str, request: pytest.FixtureRequest
) -> None:
    mission = request.node.callspec.id
    async with cluster.client("write") as agent:
        async with Stream(agent, f"/api/timeline?mission={mission}&after=0") as stream:
            outage.begin()
            try:
                await _all_is_served(agent, mission, "without Redis")
                await until(lambda: _has(stream, 2))
                await until(lambda: _lost_rings(cluster))
                # A replica that starts meanwhile is ready, too.
                async with spare(cluster, "cache"):
                    pass
            finally:
                outage.end()
            await _all_is_served(agent, mission, "with Redis again")
            await until(lambda: _has(stream, 4))
        assert [event["kind"] for event in stream.events] == ["cache_write", "assemble"] * 2
        await _rings(agent, mission, redis_url)


async def _all_is_served(agent: Client, mission: str, text: str) -> None:
    calls = {
        "/api/psychic-cache/write": note(mission, f"a finding {text}"),
        "/api/agent-memory/commit": lesson("scout", f"{mission}: a lesson {text}"),
        "/api/context/assemble": question(mission, text),
    }
    for path, body in calls.items():
        done = await timed(agent.post(path, body, headers=within(1000)))
        assert done.status in (200, 201), done
        assert done.seconds < 1 + BUSY_SLACK
        assert done.answer.body.get("degraded", []) == []


async def _has(stream: Stream, count: int) -> None:
    assert len(stream.ids) >= count


async def _lost_rings(cluster: Cluster) -> None:
    async with cluster.client(None, "cache") as probe:
        page = (await probe.get("/metrics")).body
        assert metric(page, "scrubjay_timeline_rings_lost_total") > 0


async def _rings(agent: Client, mission: str, redis_url: str) -> None:
    """A write rings, and the context service listens."""
    async with redis.Redis.from_url(redis_url) as client, client.pubsub() as pubsub:

        async def listened_to() -> None:
            assert await client.pubsub_numpat() > 0

        async def rung() -> None:
            answer = await agent.post("/api/psychic-cache/write", note(mission, "ring"))
            assert answer.status == 201
            message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=1)
            assert message is not None
            assert message["channel"] == b"timeline:default"

        await until(listened_to)
        await pubsub.psubscribe("timeline:*")
        await until(rung)
