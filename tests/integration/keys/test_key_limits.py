"""Rates and quotas of keys, over replicas and without Redis, as a caller sees them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
import redis.asyncio as redis

from local.process import free_port
from services.context.keys import limits
from services.context.keys.limits import Rates, take
from shared.database import doorbell
from tests.integration.conftest import Tenant
from tests.integration.keys.test_grants import WRITE, assert_problem
from tests.support.calls import begun_anew, note, until
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import spare

READ = "/api/psychic-cache/all/missions"
SLOW = 0.001
"""A rate so low that nothing comes back during a test."""


@pytest.fixture
async def rates(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rates]:
    """It waits for Redis as long as that takes, so that it never counts alone."""
    monkeypatch.setattr(limits, "_PATIENCE_SECONDS", 60.0)
    made = Rates(doorbell.connect(redis_url))
    yield made
    await made.close()


async def test_replicas_share_a_rate(rates: Rates, redis_url: str) -> None:
    other = Rates(doorbell.connect(redis_url))
    taken = []
    for _ in range(10):
        taken += await asyncio.gather(*(one.take("shared", SLOW, 20) for one in (rates, other) * 2))
    await other.close()
    assert Counter(one.wait > 0 for one in taken) == {False: 20, True: 20}
    assert sorted(one.remaining for one in taken) == [*[0] * 21, *range(1, 20)]


@pytest.mark.parametrize(("rate", "burst"), [(1, 1), (3.3, 10), (1_000, 2), (0.01, 5)])
async def test_redis_counts_as_this_process_does(
    rates: Rates, redis_url: str, rate: float, burst: int
) -> None:
    due = longest = 0.0
    clock = redis.Redis.from_url(redis_url)
    for _ in range(burst + 3):
        before = await _time_of(clock)
        there = await rates.take(f"same:{rate}", rate, burst)
        longest = max(longest, await _time_of(clock) - before)
        due, wait, full = take(due, before, rate, burst)
        # Redis looked at its clock a moment later.
        assert there.wait == pytest.approx(wait, abs=0.01 + longest)
        assert there.reset == pytest.approx(full, abs=0.01 + longest)
    await clock.aclose()


async def _time_of(clock: redis.Redis) -> float:
    seconds, micros = await clock.time()
    return float(seconds + micros / 1e6)


async def test_what_redis_keeps_goes_away(rates: Rates, redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    await rates.take("gone", SLOW, 1)
    assert 0 < await client.pttl("rate:gone") <= 1_000 / SLOW
    await client.aclose()


async def test_without_redis_each_replica_counts_for_itself() -> None:
    away = Rates(doorbell.connect(f"redis://127.0.0.1:{free_port()}"))
    taken = [await away.take("k", SLOW, 3) for _ in range(5)]
    assert [one.wait > 0 for one in taken] == [False, False, False, True, True]
    await away.close()


async def test_a_redis_that_hangs_is_not_waited_for() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    away = Rates(doorbell.connect(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    started = time.monotonic()
    taken = await asyncio.gather(*(away.take("k", SLOW, 3) for _ in range(5)))
    assert sum(one.wait > 0 for one in taken) == 2
    assert time.monotonic() - started < 5
    server.close()


async def many(client: Client, count: int) -> list[Answer]:
    return [await client.get(READ) for _ in range(count)]


@begun_anew
async def test_a_rate_is_told_and_held(tenant: Tenant) -> None:
    client = await tenant.client("read", requests_per_second=SLOW, burst=3)
    answers = await many(client, 5)
    assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
    assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["2", "1", "0", "0", "0"]
    assert_problem(answers[-1], 429)
    assert answers[-1].body["limit"] == "requests_per_second"
    assert answers[-1].headers["ratelimit-limit"] == "3"
    assert int(answers[-1].headers["retry-after"]) > 0.9 / SLOW
    assert 'comment="requests_per_second"' in answers[-1].headers["ratelimit-policy"]


@begun_anew
async def test_a_refused_caller_may_come_back_when_it_was_told(tenant: Tenant) -> None:
    client = await tenant.client("read", requests_per_second=1, burst=1)
    first, refused = await many(client, 2)
    assert (first.status, refused.status) == (200, 429)
    await asyncio.sleep(int(refused.headers["retry-after"]))
    assert (await client.get(READ)).status == 200


@begun_anew
async def test_each_route_and_each_key_is_limited(tenant: Tenant, cluster: Cluster) -> None:
    for path in (READ, "/api/dispatch", "/api/timeline", "/api/context/log"):
        client = await tenant.client("read", requests_per_second=SLOW, burst=1)
        assert [(await client.get(path)).status for _ in range(2)] == [200, 429], path
    async with cluster.client("read") as unlimited:
        answer = await unlimited.get(READ)
        assert answer.status == 200
        assert "ratelimit-limit" not in answer.headers


@begun_anew
async def test_two_replicas_hold_one_rate(tenant: Tenant, cluster: Cluster) -> None:
    token = await tenant.key("read", requests_per_second=SLOW, burst=10)
    async with (
        spare(cluster, "context") as other,
        Client(cluster.url(), token) as here,
        Client(other.url, token) as there,
    ):
        answers = await asyncio.gather(many(here, 15), many(there, 15))
    assert Counter(answer.status for each in answers for answer in each) == {200: 10, 429: 20}


@begun_anew
async def test_a_quota_ends_the_day(tenant: Tenant, cluster: Cluster) -> None:
    token = await tenant.key("read", requests_per_day=20)
    async with Client(cluster.url(), token) as here:
        answers = await many(here, 25)
        assert Counter(answer.status for answer in answers) == {200: 20, 429: 5}
        assert answers[-1].body["limit"] == "requests_per_day"
        assert 0 < int(answers[-1].headers["retry-after"]) <= 86_400
        async with spare(cluster, "context") as other, Client(other.url, token) as there:

            async def heard_of_it() -> None:
                assert (await there.get(READ)).status == 429

            await until(heard_of_it)


@begun_anew
async def test_tokens_written_have_a_quota(tenant: Tenant) -> None:
    client = await tenant.client("write", tokens_per_day=300)
    statuses = [(await client.post(WRITE, note("m", "x" * 400))).status for _ in range(5)]
    assert statuses == [201, 201, 201, 429, 429]
    answer = await client.get(READ)
    assert answer.status == 200, "reading is not writing"


@begun_anew
async def test_an_installation_has_defaults(tenant: Tenant, cluster: Cluster) -> None:
    settings: dict[str, Any] = {
        "SCRUBJAY_KEY_REQUESTS_PER_SECOND": str(SLOW),
        "SCRUBJAY_KEY_BURST": "2",
        "SCRUBJAY_KEY_REQUESTS_PER_DAY": "1000",
    }
    plain, own = await tenant.key("read"), await tenant.key("read", requests_per_second=1_000.0)
    async with spare(cluster, "context", **settings) as limited:
        async with Client(limited.url, plain) as client:
            assert [answer.status for answer in await many(client, 3)] == [200, 200, 429]
        async with Client(limited.url, own) as client:
            answers = await many(client, 3)
            assert [answer.status for answer in answers] == [200] * 3
            assert 'w=86400;comment="requests_per_day"' in answers[0].headers["ratelimit-policy"]
