"""The language of a mission, where texts are too short to tell theirs."""

from __future__ import annotations

from typing import Any

from tests.integration.conftest import Tenant
from tests.integration.shared.search.test_tenant_language import SHORT, set_language
from tests.support.calls import note
from tests.support.cluster import Client

MISSIONS = "/api/psychic-cache"


async def set_mission_language(admin: Client, mission: str, language: str | None) -> None:
    answer = await admin.call("PUT", f"{MISSIONS}/{mission}/language", {"language": language})
    assert (answer.status, answer.body["data"]) == (200, {"mission_id": mission, "language": language})


async def write(client: Client, text: str, mission: str = "m", **more: Any) -> None:
    answer = await client.post(f"{MISSIONS}/write", note(mission, text) | more)
    assert answer.status == 201, answer


async def finds(client: Client, query: str, *missions: str, **more: Any) -> bool:
    """Whether the words of the query are found in any of the missions, by assembly."""
    scopes = [f"mission:{mission}" for mission in missions or ("m",)]
    body = {"query": query, "caller": "scout", "scopes": scopes, "debug": True, **more}
    answer = await client.post("/api/context/assemble", body)
    assert (answer.status, answer.body["degraded"]) == (200, []), answer
    return any(each["text"] > 0 for each in answer.body["candidates"])


async def test_a_missions_language_gives_its_short_texts_stems(admin_client: Client) -> None:
    for language, (text, question) in SHORT.items():
        await set_mission_language(admin_client, language, language)
        await write(admin_client, text, language)
        assert await finds(admin_client, question, language)
        await write(admin_client, text, "without")
        assert not await finds(admin_client, question, "without")


async def test_each_entry_of_a_batch_has_its_missions(admin_client: Client) -> None:
    await set_mission_language(admin_client, "m", "de")
    text, question = SHORT["de"]
    answer = await admin_client.post(
        f"{MISSIONS}/write/batch", {"entries": [note("m", text), note("other", text)]}
    )
    assert [each["status"] for each in answer.body["data"]["entries"]] == [201, 201]
    assert await finds(admin_client, question)
    assert not await finds(admin_client, question, "other", language="de")


async def test_it_goes_before_the_tenants_and_after_the_writers(admin_client: Client) -> None:
    (german, germans), (finnish, in_finnish) = SHORT["de"], SHORT["fi"]
    await set_language(admin_client, "fi")
    await set_mission_language(admin_client, "m", "de")
    await write(admin_client, german)
    await write(admin_client, finnish)
    assert await finds(admin_client, germans)
    assert not await finds(admin_client, in_finnish)
    await write(admin_client, finnish, language="fi")
    assert await finds(admin_client, in_finnish)
    assert not await finds(admin_client, germans, language="fi")


async def test_a_question_to_several_missions_looks_for_the_stems_of_each(admin_client: Client) -> None:
    for language, (text, _) in SHORT.items():
        await set_mission_language(admin_client, language, language)
        await write(admin_client, text, language)
    for _, question in SHORT.values():
        assert await finds(admin_client, question, *SHORT)


async def test_a_text_that_tells_its_language_wins(admin_client: Client) -> None:
    await set_mission_language(admin_client, "m", "fi")
    await write(admin_client, "Die Rechnung wird am ersten Tag jedes Monats bezahlt.")
    await write(admin_client, "deploy failed on node seven")
    assert await finds(admin_client, "Rechnungen", language="de")
    assert await finds(admin_client, "deploys")


async def test_without_it_the_tenants_holds_again(admin_client: Client) -> None:
    text, question = SHORT["de"]
    await set_language(admin_client, "de")
    await set_mission_language(admin_client, "m", "fi")
    await set_mission_language(admin_client, "m", None)
    await write(admin_client, text)
    assert await finds(admin_client, question)


async def test_a_missions_language_is_its_own(tenants: tuple[Tenant, Tenant]) -> None:
    one, other = [await tenant.client("admin") for tenant in tenants]
    await set_mission_language(one, "m", "de")
    await write(other, "hello")
    answer = await other.call("GET", f"{MISSIONS}/m/language")
    assert answer.body["data"] == {"mission_id": "m", "language": None}
    assert (await one.call("GET", f"{MISSIONS}/m/language")).body["data"]["language"] == "de"
    assert (await one.call("GET", f"{MISSIONS}/unknown/language")).status == 404


async def test_only_an_admin_of_the_whole_mission_sets_it(tenant: Tenant) -> None:
    path = f"{MISSIONS}/m/language"
    for client in (
        await tenant.client("write"),
        await tenant.client("admin", agent="scout"),
        await tenant.client("admin", users=["ann"]),
        await tenant.client("admin", missions=["other"]),
    ):
        assert (await client.call("PUT", path, {"language": "de"})).status == 403
    bound = await tenant.client("admin", missions=["m"])
    await set_mission_language(bound, "m", "de")
    assert (await (await tenant.client("read", missions=["other"])).call("GET", path)).status == 403
    assert (await bound.call("PUT", path, {"language": "klingon"})).status == 400


async def test_a_purge_of_the_mission_takes_its_language_along(admin_client: Client) -> None:
    await set_mission_language(admin_client, "m", "de")
    answer = await admin_client.post("/api/context/purge", {"scope": "mission:m"})
    assert answer.status == 200, answer
    assert (await admin_client.call("GET", f"{MISSIONS}/m/language")).status == 404
