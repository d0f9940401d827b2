"""The language of a tenant, where texts are too short to tell theirs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note
from tests.support.cluster import Client

LANGUAGE = "/api/context/language"
WRITE = "/api/psychic-cache/write"
# A text, and a question that finds it only by its stem.
SHORT = {"de": ("Kunde Berlin", "Kunden"), "fi": ("talo palaa", "taloissa")}


async def set_language(admin: Client, language: str | None) -> None:
    answer = await admin.call("PUT", LANGUAGE, {"language": language})
    assert (answer.status, answer.body) == (200, {"language": language})


async def by_words(client: Client, query: str, **more: Any) -> set[str]:
    """The stores in which the words of the query are found."""
    body = {"query": query, "caller": "scout", "scopes": ["mission:m"], "debug": True, **more}
    answer = await client.post("/api/context/assemble", body)
    assert answer.status == 200, answer
    return {each["store"] for each in answer.body["candidates"] if each["text"] > 0}


async def write(client: Client, text: str, **more: Any) -> None:
    for path, body in ((WRITE, note("m", text)), ("/api/agent-memory/commit", lesson("scout", text))):
        answer = await client.post(path, body | more)
        assert answer.status == 201, answer


@pytest.mark.parametrize("language", SHORT)
async def test_a_tenants_language_gives_its_short_texts_stems(tenant: Tenant, language: str) -> None:
    admin = await tenant.client("admin")
    text, question = SHORT[language]
    await set_language(admin, language)
    await write(admin, text)
    assert await by_words(admin, question) == {"psychic_cache", "agent_memory_own"}


@pytest.mark.parametrize("language", SHORT)
async def test_without_it_they_are_read_as_english(tenant: Tenant, language: str) -> None:
    admin = await tenant.client("admin")
    text, question = SHORT[language]
    await set_language(admin, language)
    await set_language(admin, None)
    await write(admin, text)
    assert await by_words(admin, question) == set()


async def test_a_writers_language_wins_over_the_tenants(admin_client: Client) -> None:
    await set_language(admin_client, "fi")
    text, question = SHORT["de"]
    await write(admin_client, text)
    assert await by_words(admin_client, question, language="de") == set()
    await write(admin_client, "Kunde Hamburg", language="de")
    assert await by_words(admin_client, question, language="de") == {"psychic_cache", "agent_memory_own"}


async def test_a_text_that_tells_its_language_wins_over_the_tenants(admin_client: Client) -> None:
    await set_language(admin_client, "fi")
    await write(admin_client, "Die Rechnung wird am ersten Tag jedes Monats bezahlt.")
    assert await by_words(admin_client, "Rechnungen") == {"psychic_cache", "agent_memory_own"}


async def test_english_is_found_as_before(admin_client: Client) -> None:
    await set_language(admin_client, "de")
    await write(admin_client, "deploy failed on node seven")
    assert await by_words(admin_client, "deploys") == {"psychic_cache", "agent_memory_own"}


async def test_a_tenants_language_is_its_own(tenants: tuple[Tenant, Tenant]) -> None:
    one, other = [await tenant.client("admin") for tenant in tenants]
    await set_language(one, "de")
    assert (await other.call("GET", LANGUAGE)).body == {"language": None}
    assert (await one.call("GET", LANGUAGE)).body == {"language": "de"}


async def test_only_an_admin_whose_key_is_not_bound_sets_it(tenant: Tenant) -> None:
    for client in (await tenant.client("write"), await tenant.client("admin", agent="scout")):
        assert (await client.call("PUT", LANGUAGE, {"language": "de"})).status == 403
    assert (await (await tenant.client("admin")).call("GET", LANGUAGE)).body == {"language": None}


async def test_an_unknown_language_is_refused(admin_client: Client) -> None:
    assert (await admin_client.call("PUT", LANGUAGE, {"language": "klingon"})).status == 400
