"""The token between services is changed while they run: an owner accepts two, context shows the first."""

from shared.auth import IDENTITY_HEADER, Principal, to_header
from tests.support.cluster import Client, Cluster
from tests.support.clusters import spare

CALLER = Principal("default", "e2e", frozenset({"read", "write"}))


async def test_the_old_and_the_new_one_are_accepted(cluster: Cluster) -> None:
    both = f"{cluster.tokens.service},brand-new"
    async with spare(cluster, "cache", SCRUBJAY_SERVICE_TOKEN=both) as owner:
        for token, status in ((cluster.tokens.service, 200), ("brand-new", 200), (both, 401), ("", 401)):
            async with Client(owner.url, token) as client:
                client.session.headers[IDENTITY_HEADER] = to_header(CALLER)
                answer = await client.get("/api/psychic-cache/all/missions")
                assert answer.status == status, token


async def test_context_shows_the_first(cluster: Cluster) -> None:
    both = f"{cluster.tokens.service},brand-new"
    async with (
        spare(cluster, "context", SCRUBJAY_SERVICE_TOKEN=both) as door,
        Client(door.url, cluster.tokens.read) as client,
    ):
        assert (await client.get("/api/psychic-cache/all/missions")).status == 200
