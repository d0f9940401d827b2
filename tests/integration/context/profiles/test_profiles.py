"""Profiles stand first in the blocks for their subjects, and only admins and the subjects' own keys change them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from shared.database.postgres import Connection
from shared.render import parse_block
from tests.integration.conftest import Tenant
from tests.support.calls import note, question, until
from tests.support.cluster import Client

PROFILES = "/api/context/profiles"
OF_ANA = {"user_id": "ana b.", "text": "Ana runs payments in Madrid. She wants numbers first."}
OF_SCOUT = {"agent_name": "scout", "text": "Scout reads logs, and writes no code."}
ANAS = "profile:user:ana%20b."
SCOUTS = "profile:agent:scout"


async def put(client: Client, body: Any) -> Any:
    answer = await client.call("PUT", PROFILES, body)
    assert answer.status == 200, answer
    return answer.body


async def delete(client: Client, **subject: str) -> int:
    query = "&".join(f"{name}={quote(value)}" for name, value in subject.items())
    return (await client.call("DELETE", f"{PROFILES}?{query}")).status


async def assemble(client: Client, **more: Any) -> Any:
    """From owners that had the time to answer."""

    async def whole() -> Any:
        answer = await client.post("/api/context/assemble", question("m", **more))
        assert (answer.status, answer.body.get("degraded")) == (200, []), answer
        return answer.body

    return await until(whole, 60)


def handles(assembly: Any) -> list[str]:
    return [source["handle"] for source in assembly["sources"]]


async def test_profiles_of_the_caller_and_the_user_stand_first(client: Client, admin_client: Client) -> None:
    await client.post("/api/psychic-cache/write", note("m", "The failover of the orders database took 9 s."))
    for body in (
        OF_ANA,
        OF_SCOUT,
        {"agent_name": "medic", "text": "Medic."},
        {"user_id": "bob", "text": "Bob."},
    ):
        await put(admin_client, body)
    assembly = await assemble(client, user_id="ana b.")
    assert handles(assembly)[:2] == [SCOUTS, ANAS]
    assert len(handles(assembly)) == 3
    assert dict(parse_block(assembly["context_block"]))[ANAS] == OF_ANA["text"]
    first = assembly["context_block"].splitlines()[0]
    assert first.startswith(f"[{SCOUTS} 20")
    assert f" profile {assembly['nonce']}] Scout" in first
    assert handles(await assemble(client))[0] == SCOUTS
    assert len(handles(await assemble(client))) == 2
    assert handles(await assemble(client, caller="nobody"))[0].startswith("cache:")


async def test_a_profile_makes_no_answer_relevant(client: Client, admin_client: Client) -> None:
    await put(admin_client, OF_SCOUT)
    assembly = await assemble(client, text="What does scout write?")
    assert handles(assembly) == [SCOUTS]
    assert assembly["low_relevance"] is True


async def test_a_long_profile_keeps_to_its_share_of_the_budget(client: Client, admin_client: Client) -> None:
    await put(admin_client, {"agent_name": "scout", "text": "Scout reads logs every day. " * 100})
    await put(admin_client, {"user_id": "ana", "text": "Ana reads numbers every day. " * 100})
    for _ in range(3):
        await client.post(
            "/api/psychic-cache/write", note("m", "The orders database needs a failover. " * 20)
        )
    assembly = await assemble(client, user_id="ana", token_budget=1_000)
    first, second, third = assembly["sources"][:3]
    assert (first["store"], second["store"], third["store"]) == ("profile", "profile", "psychic_cache")
    assert first["cut"]
    assert second["cut"]
    assert 100 < first["tokens"] + second["tokens"] <= 150


async def test_a_profile_follows_as_of_and_its_deletion(client: Client, admin_client: Client) -> None:
    before = (await put(admin_client, {"agent_name": "medic", "text": "Medic."}))["updated_at"]
    await put(admin_client, OF_SCOUT)
    assert handles(await assemble(client, as_of=before)) == []
    assert handles(await assemble(client)) == [SCOUTS]
    assert await delete(admin_client, agent_name="scout") == 204
    assert handles(await assemble(client)) == []
    assert await delete(admin_client, agent_name="scout") == 204


async def test_a_profile_tells_where_it_is_from(tenant: Tenant, admin_client: Client) -> None:
    own = await tenant.client("write", agent="scout")
    claimed = await put(own, {**OF_SCOUT, "source_kind": "user"})
    assert (claimed["source_kind"], claimed["source_claim"]) == ("agent", "user")
    assert "profile (claimed user) " in (await assemble(own))["context_block"]
    await put(admin_client, {**OF_SCOUT, "source_kind": "derived"})
    assert "profile (derived) " in (await assemble(own))["context_block"]


async def test_its_handle_leads_to_it_and_takes_feedback(client: Client, admin_client: Client) -> None:
    await put(admin_client, OF_ANA)
    assembly = await assemble(client, user_id="ana b.")
    (handle,) = handles(assembly)
    item = (await client.get(f"/api/context/sources/{quote(handle, safe='')}")).body
    assert (item["store"], item["item"]["text"]) == ("profile", OF_ANA["text"])
    feedback = {"assembly_id": assembly["assembly_id"], "used_source_ids": [handle]}
    assert (await client.post("/api/context/feedback", feedback)).status == 200
    explained = (await client.get(f"/api/context/log/{assembly['assembly_id']}")).body
    assert [one["outcome"] for one in explained["candidates"]] == ["taken"]
    changes = {"token_budget": 900}
    replayed = (await client.post(f"/api/context/log/{assembly['assembly_id']}/replay", changes)).body
    assert (replayed["added"], replayed["removed"]) == ([], [])


OWNERS = [
    # bounds and access of a key, and whether it sets the agent's and the user's profile
    ("admin", {}, True, True),
    ("write", {}, False, False),
    ("read", {"agent": "scout"}, False, False),
    ("write", {"agent": "scout"}, True, False),
    ("admin", {"agent": "scout"}, True, False),
    ("write", {"agent": "medic"}, False, False),
    ("admin", {"agent": "medic"}, False, False),
    ("write", {"users": ["ana b."]}, False, True),
    ("write", {"users": ["ana b.", "bob"]}, False, False),
    ("admin", {"users": ["ana b.", "bob"]}, False, True),
    ("admin", {"users": ["bob"]}, False, False),
    ("write", {"agent": "scout", "users": ["ana b."]}, False, False),
    ("admin", {"missions": ["m"]}, False, False),
    ("write", {"agent": "scout", "missions": ["m"]}, False, False),
]


@pytest.mark.parametrize(("access", "bounds", "agents", "users"), OWNERS, ids=str)
async def test_who_sets_a_profile(
    tenant: Tenant, access: Any, bounds: dict[str, Any], agents: bool, users: bool
) -> None:
    client = await tenant.client(access, **bounds)
    for body, allowed in ((OF_SCOUT, agents), (OF_ANA, users)):
        answer = await client.call("PUT", PROFILES, body)
        assert answer.status == (200 if allowed else 403), answer
        subject = {name: value for name, value in body.items() if name != "text"}
        assert await delete(client, **subject) == (204 if allowed else 403)


async def test_a_key_reads_the_profiles_within_its_bounds(tenant: Tenant, admin_client: Client) -> None:
    for body in (
        OF_ANA,
        OF_SCOUT,
        {"agent_name": "medic", "text": "Medic."},
        {"user_id": "bob", "text": "Bob."},
    ):
        await put(admin_client, body)

    async def seen(client: Client, query: str = "") -> list[str]:
        answer = await client.get(f"{PROFILES}{query}")
        assert answer.status == 200, answer
        return [one["agent_name"] or one["user_id"] for one in answer.body["data"]]

    assert await seen(admin_client) == ["medic", "scout", "ana b.", "bob"]
    assert await seen(admin_client, "?user_id=bob") == ["bob"]
    assert await seen(await tenant.client("read", agent="scout")) == ["scout", "ana b.", "bob"]
    bobs = await tenant.client("read", users=["bob"])
    assert await seen(bobs) == ["medic", "scout", "bob"]
    assert (await bobs.get(f"{PROFILES}?user_id=ana%20b.")).status == 403
    assert (await bobs.get(f"/api/context/sources/{quote(ANAS, safe='')}")).status == 404
    page = (await admin_client.get(f"{PROFILES}?limit=3")).body
    rest = (await admin_client.get(f"{PROFILES}?limit=3&cursor={page['next']}")).body
    assert [one["user_id"] for one in rest["data"]] == ["bob"]
    assert rest["next"] is None


async def test_other_tenants_see_none_of_it(tenants: tuple[Tenant, Tenant]) -> None:
    mine, theirs = [await tenant.client("admin") for tenant in tenants]
    await put(mine, OF_SCOUT)
    assert (await theirs.get(PROFILES)).body["data"] == []
    assert handles(await assemble(theirs)) == []


@pytest.mark.parametrize(
    "body",
    [
        {"text": "nobody"},
        {**OF_ANA, **OF_SCOUT},
        {"agent_name": "scout", "text": ""},
        {"agent_name": " scout", "text": "a"},
        {"agent_name": "scout", "text": "a" * 4_001},
    ],
    ids=["no subject", "two subjects", "no text", "a space first", "too long"],
)
async def test_what_is_no_profile(admin_client: Client, body: Any) -> None:
    assert (await admin_client.call("PUT", PROFILES, body)).status == 400
    assert (await admin_client.call("DELETE", PROFILES)).status == 400


async def test_a_purge_of_the_subject_takes_it(tenant: Tenant, admin_client: Client, sql: Connection) -> None:
    for body in (OF_ANA, OF_SCOUT):
        await put(admin_client, body)
    await assemble(admin_client, user_id="ana b.")
    for subject in ({"user_id": "ana b."}, {"scope": "agent:scout"}):
        receipt = await admin_client.post("/api/context/purge", subject)
        assert receipt.body["erased"]["context"]["profiles"] == 1, receipt
        assert handles(await assemble(admin_client, user_id="ana b.")) != [ANAS]
    assert await sql.fetchval("select count(*) from context.profiles where tenant = $1", tenant.name) == 0
    audited = (await admin_client.get("/api/context/audit?action=profile_set")).body["data"]
    assert [row["target"] for row in audited] == ["agent", "user"]


async def test_the_audit_says_how_long_a_profile_is_but_not_what_it_says(admin_client: Client) -> None:
    await put(admin_client, OF_SCOUT)
    assert await delete(admin_client, agent_name="scout") == 204
    deleted, made = (await admin_client.get("/api/context/audit?target=agent:scout")).body["data"]
    assert (deleted["action"], made["action"]) == ("profile_delete", "profile_set")
    assert made["after"] == deleted["before"] == {"characters": len(OF_SCOUT["text"]), "background": False}


async def test_a_profile_holds_no_secret(admin_client: Client) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "a1B2c3"
    profile = await put(admin_client, {"agent_name": "scout", "text": f"The token is {secret}."})
    assert secret not in profile["text"]
    assert profile["masked"][0]["field"] == "text"
