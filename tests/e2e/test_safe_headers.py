"""Every answer of every service says that nobody may keep it or guess its type."""

import pytest

from tests.support.cluster import Cluster

PATHS = (
    "/livez",
    "/metrics",
    "/api/timeline",
    "/api/psychic-cache/all/missions",
    "/internal/search",
    "/nowhere",
)


@pytest.mark.parametrize("name", ["context", "cache", "agent_memory"])
@pytest.mark.parametrize("token", [None, "read"])
async def test_answers_are_neither_kept_nor_guessed_at(
    cluster: Cluster, name: str, token: str | None
) -> None:
    async with cluster.client(token, name) as client:
        for path in PATHS:
            headers = (await client.get(path)).headers
            assert headers.getall("x-content-type-options") == ["nosniff"], path  # type: ignore[attr-defined]
            assert headers.getall("cache-control") == ["no-store"], path  # type: ignore[attr-defined]


async def test_files_of_the_documentation_may_be_kept(cluster: Cluster) -> None:
    async with cluster.client(None) as client:
        page = (await client.get("/docs")).headers
        assert page["x-content-type-options"] == "nosniff"
