from collections.abc import AsyncIterator

import pytest

from local.database import Database
from tests.support.cluster import Cluster


@pytest.fixture(scope="session")
async def cluster(
    database: Database, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    """One replica of each service; tests that break it use one of their own."""
    async with Cluster(database, redis_url, tmp_path_factory.mktemp("cluster")) as running:
        yield running
