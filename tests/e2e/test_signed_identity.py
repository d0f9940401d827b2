"""What reaches an owner directly: only an identity that the context service signed, for this owner, a moment ago."""

import base64

import msgspec
import pytest

from shared.auth import Principal
from shared.identity import HEADER, VALID_SECONDS, Signer
from tests.support.cluster import Client, Cluster
from tests.support.clusters import spare

CALLER = Principal("default", "e2e", frozenset({"read", "write"}))
OTHER = Principal("other", "e2e", frozenset({"read", "write", "admin"}))
MISSIONS = "/api/psychic-cache/all/missions"
OWNERS = pytest.mark.parametrize("owner", ["cache", "agent_memory"])


async def status(cluster: Cluster, owner: str, headers: dict[str, str]) -> int:
    async with Client(cluster.url(owner), None) as stranger:
        asked = {"query": "q", "agent": "ana", "stores": {}}
        return (await stranger.post("/internal/search", asked, headers=headers)).status


def of_other(signed: str) -> str:
    """The same signature under the name of another tenant."""
    _, expires, signature = signed.split(".")
    payload = base64.urlsafe_b64encode(msgspec.json.encode(OTHER)).decode()
    return f"{payload}.{expires}.{signature}"


@OWNERS
async def test_an_owner_believes_only_what_was_signed_for_it(cluster: Cluster, owner: str) -> None:
    signed = cluster.tokens.identity(owner, CALLER)[HEADER]
    secret = getattr(cluster.tokens, owner)
    late = str(int(signed.split(".")[1]) + 1)
    forged = {
        "none": "",
        "unsigned": base64.b64encode(msgspec.json.encode(OTHER)).decode(),
        "altered": of_other(signed),
        "prolonged": signed.replace(signed.split(".")[1], late),
        "cut": signed[:-1],
        "signed for the other owner": cluster.tokens.identity(
            "cache" if owner == "agent_memory" else "agent_memory", CALLER
        )[HEADER],
        "signed for the other owner with this secret": Signer("context", [secret]).header(CALLER),
        "expired": Signer(owner, [secret], valid_seconds=-1).header(CALLER),
        "signed with a guess": Signer(owner, ["guess"]).header(CALLER),
        "the secret itself": secret,
    }
    assert await status(cluster, owner, {HEADER: signed}) not in (401, 403)
    answers = {name: await status(cluster, owner, {HEADER: header}) for name, header in forged.items()}
    assert answers == dict.fromkeys(forged, 401)


@OWNERS
async def test_the_secret_alone_opens_nothing(cluster: Cluster, owner: str) -> None:
    secret = getattr(cluster.tokens, owner)
    for headers in (
        {"authorization": f"Bearer {secret}"},
        {"authorization": f"Bearer {secret}", HEADER: base64.b64encode(msgspec.json.encode(OTHER)).decode()},
    ):
        assert await status(cluster, owner, headers) == 401


async def test_both_secrets_are_accepted_while_they_change(cluster: Cluster) -> None:
    both = f"{cluster.tokens.cache},brand-new"
    async with spare(cluster, "cache", SCRUBJAY_CACHE_SECRET=both) as owner:
        for secret, expected in ((cluster.tokens.cache, 200), ("brand-new", 200), (both, 401), ("x", 401)):
            async with Client(owner.url, None) as client:
                headers = {HEADER: Signer("cache", [secret]).header(CALLER)}
                assert (await client.get(MISSIONS, headers=headers)).status == expected, secret


async def test_context_signs_with_the_first(cluster: Cluster) -> None:
    both = f"{cluster.tokens.cache},brand-new"
    async with (
        spare(cluster, "context", SCRUBJAY_CACHE_SECRET=both) as door,
        Client(door.url, cluster.tokens.read) as client,
    ):
        assert (await client.get(MISSIONS)).status == 200


def test_an_identity_is_short_lived() -> None:
    assert VALID_SECONDS <= 60
