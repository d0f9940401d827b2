"""Other names of entities, the history of one, and what is near it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import Tenant
from tests.integration.facts.test_facts import Json, facts, state, values
from tests.support.cluster import Client


async def alias(client: Client, name: str, entity: str, status: int = 201, **more: Any) -> Any:
    answer = await client.post("/api/kg/aliases", {"alias": name, "entity": entity, **more})
    assert answer.status == status, answer
    return answer.body


async def test_both_names_are_one_entity_once_they_are_merged(client: Client) -> None:
    await state(client, "add", "Bob", "lives in", "Porto", valid_from="2020-01-01T00:00:00Z")
    await state(client, "add", "Robert", "lives in", "Porto", valid_from="2022-01-01T00:00:00Z")
    await state(client, "add", "Ana", "knows", "Bob")
    assert (await alias(client, "Bob", "Robert"))["merged"] == 2
    assert (await alias(client, "bob", "ROBERT"))["status"] == "known"
    for name in ("Bob", "Robert"):
        assert await values(client, entity=name) == {"Porto", "Bob"}
    moved = await state(client, "write", "Bob", "lives in", "Faro")
    assert len(moved["closed"]) == 1
    assert await values(client, entity="Robert", predicate="lives in") == {"Faro"}


async def test_a_name_of_one_entity_is_not_given_to_another(client: Client) -> None:
    await alias(client, "Bob", "Robert")
    await alias(client, "Bob", "Bobby", status=409)
    assert (await alias(client, "Robert", "Bob"))["status"] == "known"


async def test_names_of_names_lead_to_one_entity(client: Client) -> None:
    await state(client, "add", "Bobby", "owns", "a boat")
    await alias(client, "Bobby", "Bob")
    await alias(client, "Bob", "Robert")
    for name in ("Bobby", "Bob", "Robert"):
        assert await values(client, entity=name) == {"a boat"}


async def test_an_agent_merges_nothing_of_another_agents(tenant: Tenant, client: Client) -> None:
    await state(client, "add", "Bob", "owns", "a boat", scope="mission:apollo", agent_name="ana")
    mallory = await tenant.client("write", agent="mallory")
    await alias(mallory, "Bob", "nobody", status=403, scope="mission:apollo")
    bob = await tenant.client("write", users=["bob"])
    await alias(bob, "Bob", "nobody", status=403, scope="mission:apollo")
    assert await values(client, entity="Bob") == {"a boat"}


@pytest.mark.parametrize("bounds", [{"agent": "mallory"}, {"missions": ["moria"]}])
async def test_a_bound_key_merges_nothing_into_what_others_stated(
    tenant: Tenant, client: Client, bounds: Json
) -> None:
    """It would close a fact that it may not close, and take the fact with it as it parts the names again."""
    place: Json = {"scope": "user:ana"}
    derived = await state(client, "add", "Ana", "lives in", "Lisbon", source_kind="derived", **place)
    mallory = await tenant.client("write", **bounds)
    await state(mallory, "add", "zz", "lives in", "Lisbon", valid_from="1900-01-01T00:00:00Z", **place)
    for name in ("zz", "what nobody speaks of"):
        await alias(mallory, name, "Ana", status=403, **place)
    assert [fact["id"] for fact in await facts(client, entity="Ana")] == [derived["id"]]
    assert (await alias(mallory, "zz", "another name of it", **place))["merged"] == 1


async def test_an_agents_key_closes_nothing_of_another_agents(tenant: Tenant, client: Client) -> None:
    place = {"scope": "mission:apollo"}
    firm = await state(client, "write", "gate", "is", "closed", agent_name="ana", **place)
    mallory = await tenant.client("write", agent="mallory")
    told = await state(mallory, "write", "gate", "is", "open", **place)
    assert (told["closed"], told["disputes"]) == ([], [firm["id"]])
    answer = await mallory.post("/api/kg/invalidate", {"id": firm["id"]})
    assert answer.body == {"closed": [], "kept": [firm["id"]]}, answer
    assert all(fact["disputed"] for fact in await facts(client, entity="gate"))


async def test_the_history_of_an_entity_is_read_in_pages(client: Client) -> None:
    for year in ("2020", "2022", "2024"):
        await state(client, "write", "Ana", "lives in", f"place {year}", valid_from=f"{year}-01-01T00:00:00Z")
    seen, cursor = [], ""
    for _ in range(3):
        answer = await client.get(f"/api/kg/timeline?entity=ana&limit=1{cursor}")
        assert answer.status == 200, answer
        seen += [fact["object"] for fact in answer.body["data"]]
        cursor = f"&cursor={answer.body['next']}"
    assert seen == ["place 2020", "place 2022", "place 2024"]
    assert answer.body["next"] is None


async def test_neighbours_are_found_hop_by_hop(client: Client) -> None:
    for one, other in (("a", "b"), ("b", "c"), ("c", "d")):
        await state(client, "add", f"node {one}", "leads to", f"node {other}")
    answer = await client.get("/api/kg/neighbours?entity=node%20a&hops=2")
    assert [(fact["object"], fact["hop"]) for fact in answer.body["data"]] == [("node b", 1), ("node c", 2)]
    answer = await client.get("/api/kg/neighbours?entity=node%20a&hops=4&limit=2")
    assert answer.body["truncated"]


async def test_predicates_and_counts(client: Client) -> None:
    await state(client, "write", "Ana", "lives in", "Lisbon")
    await state(client, "write", "Rui", "lives_in", "Porto")
    await state(client, "write", "Ana", "lives in", "Faro")
    answer = await client.get("/api/kg/predicates")
    assert answer.body == {"data": [{"predicate": "lives in", "facts": 2, "subjects": 2}], "next": None}
    counted = (await client.get("/api/kg/stats")).body
    assert (counted["facts"], counted["believed"], counted["recorded"]) == (2, 3, 4)


async def part(client: Client, name: str, status: int = 200, **more: Any) -> Any:
    answer = await client.post("/api/kg/aliases/remove", {"alias": name, **more})
    assert answer.status == status, answer
    return answer.body


async def seen(client: Client, **asked: Any) -> set[tuple[str, ...]]:
    return {
        (fact["subject"], fact["predicate"], fact["object"], fact["valid_from"], str(fact["valid_to"]))
        for fact in await facts(client, every_time=True, **asked)
    }


async def test_a_wrong_merge_is_undone_by_both_times(client: Client) -> None:
    await state(client, "add", "Bob", "owns", "a boat")
    await state(client, "write", "Bob", "lives in", "Porto", valid_from="2020-01-01T00:00:00Z")
    await state(client, "write", "Bob", "lives in", "Faro", valid_from="2022-01-01T00:00:00Z")
    await state(client, "write", "Robert", "works at", "Acme", valid_from="2021-01-01T00:00:00Z")
    await state(client, "add", "Ana", "knows", "Bob")
    then = (await facts(client))[0]["recorded_at"]
    before = {
        (name, known_at): await seen(client, entity=name, known_at=known_at)
        for name in ("Bob", "Robert", "Ana")
        for known_at in (None, then)
    }
    await alias(client, "Bob", "Robert")
    assert await seen(client, entity="Bob") == before["Bob", None] | before["Robert", None]
    later = await state(client, "add", "bob", "speaks", "Portuguese")
    moved = await part(client, "BOB")
    assert moved["moved"] == 5
    (spoken,) = [fact for fact in await facts(client, entity="Bob") if fact["id"] == later["id"]]
    assert spoken["subject"] == "bob"
    answer = await client.post("/api/kg/invalidate", {"id": later["id"]})
    assert answer.status == 200, answer
    for (name, known_at), expected in before.items():
        found = {row for row in await seen(client, entity=name, known_at=known_at) if row[1] != "speaks"}
        assert found == expected
    assert (await client.get("/api/kg/aliases?name=bob")).body["data"] == []
    await part(client, "Bob", status=404)


async def test_what_was_stated_under_both_names_stays_with_the_entity(client: Client) -> None:
    await state(client, "add", "Robert", "owns", "a boat")
    await state(client, "add", "Bob", "owns", "a boat")
    await state(client, "add", "Bob", "owns", "a car")
    await alias(client, "Bob", "Robert")
    assert (await part(client, "Bob"))["moved"] == 1
    assert await values(client, entity="Robert") == {"a boat"}
    assert await values(client, entity="Bob") == {"a car"}


async def test_a_key_parts_only_what_it_could_merge(tenant: Tenant, client: Client) -> None:
    place: Json = {"scope": "mission:apollo"}
    await alias(client, "Bob", "Robert", agent_name="ana", **place)
    await state(client, "add", "Bob", "owns", "a boat", agent_name="ana", **place)
    for bound, status in (
        (await tenant.client("write", agent="mallory"), 403),
        (await tenant.client("write", users=["bob"]), 403),
        (await tenant.client("write", missions=["moria"]), 403),
    ):
        await part(bound, "Bob", status=status, **place)
    await part(client, "Bob", status=409, source_kind="document", **place)
    await part(client, "Bob", status=404)
    assert await values(client, entity="Robert") == {"a boat"}
    ana = await tenant.client("write", agent="ana")
    assert (await part(ana, "Bob", **place))["moved"] == 1


async def test_a_fact_is_read_by_its_id(tenant: Tenant, client: Client) -> None:
    told = await state(client, "write", "Ana", "lives in", "Madrid", valid_from="2020-01-01T00:00:00Z")
    await state(client, "write", "Ana", "lives in", "Lisbon", valid_from="2022-01-01T00:00:00Z")
    answer = await client.get(f"/api/kg/{told['id']}")
    assert answer.status == 200, answer
    assert (answer.body["id"], answer.body["object"]) == (told["id"], "Madrid")
    assert answer.body["valid_to"] == "2022-01-01T00:00:00Z"
    kept = await state(client, "add", "Ana", "owns", "a secret", scope="mission:apollo", user_id="ana")
    for bound in ({"missions": ["moria"]}, {"users": ["bob"]}):
        elsewhere = await tenant.client("read", **bound)
        assert (await elsewhere.get(f"/api/kg/{kept['id']}")).status == 404
    for unknown in (0, 999_999_999, 2**70):
        assert (await client.get(f"/api/kg/{unknown}")).status == 404
