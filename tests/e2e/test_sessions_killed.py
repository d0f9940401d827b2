"""A session's trail stands kills of the service that writes it."""

from __future__ import annotations

from pathlib import Path

from local.database import Database
from tests.support.cluster import Cluster
from tests.support.sessions.killing import began, disturbed
from tests.support.sessions.writing import WRITERS, compared

KILLS, SEED = 3, 19


async def test_kills_lose_nothing_that_was_acknowledged(
    fresh_database: Database, redis_url: str, tmp_path: Path
) -> None:
    cluster = Cluster(fresh_database, redis_url, tmp_path, replicas=2)
    async with cluster, cluster.client() as client:
        session = await began(client, "killed")
        ledger = await disturbed(cluster, fresh_database.admin, session, KILLS, SEED)
        assert await compared(client, session, ledger) == {}
    assert ledger.tries > ledger.requests > KILLS * WRITERS
