"""The first request to services that have just become ready is answered as any later one."""

from __future__ import annotations

from pathlib import Path

from local.database import Database
from tests.support.cluster import Cluster


async def test_the_first_assembly_is_not_degraded(
    fresh_database: Database, redis_url: str, tmp_path: Path
) -> None:
    async with Cluster(fresh_database, redis_url, tmp_path) as cluster, cluster.client("read") as client:
        question = {"query": "Why do cards decline after the database failover?", "caller": "scout"}
        first = await client.post("/api/context/assemble", question)
        assert first.status == 200, first
        assert first.body["degraded"] == []
