"""Overload is shed and slow clients hurt nobody, in short; `make proof-overload` is the whole of it.

Ratios within one run, with room for a busy machine.
"""

from collections.abc import AsyncIterator

import pytest

from tests.conftest import Servers
from tests.support.cluster import Cluster
from tests.support.clusters import own_cluster
from tests.support.overloading import beside_slow_clients, fill, overload

SEED = 18
SLOWER, MEMORY = 8.0, 1.4


@pytest.fixture(scope="module")
async def cluster(
    servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    async with own_cluster("overload", servers, template, tmp_path_factory.mktemp("overload")) as running:
        await fill(running, SEED)
        yield running


async def test_overload_is_shed_and_slow_clients_hurt_nobody(cluster: Cluster) -> None:
    seen = await overload(cluster, seconds=2.0, rounds=2, seed=SEED)
    await beside_slow_clients(cluster, seconds=2.0, rounds=1, seed=SEED, seen=seen)
    assert seen.violations(SLOWER, MEMORY) == [], seen
    assert seen.refused > seen.n / 3
    assert max(seen.served) > 0.1
