"""Facts over HTTP: one value or many, closed and never erased, by both times, with their disputes."""

from __future__ import annotations

from typing import Any

from tests.support.cluster import Client

Json = dict[str, Any]


def triple(subject: str, predicate: str, value: str, **more: Any) -> Json:
    return {"subject": subject, "predicate": predicate, "object": value, **more}


async def state(client: Client, route: str, *names: str, **more: Any) -> Json:
    answer = await client.post(f"/api/kg/{route}", triple(*names, **more))
    assert answer.status == 201, answer
    return answer.body  # type: ignore[no-any-return]


async def facts(client: Client, **asked: Any) -> list[Json]:
    answer = await client.post("/api/kg/query", asked)
    assert answer.status == 200, answer
    return answer.body["data"]  # type: ignore[no-any-return]


async def values(client: Client, **asked: Any) -> set[str]:
    return {fact["object"] for fact in await facts(client, **asked)}


async def test_the_last_value_written_closes_the_others(client: Client) -> None:
    first = await state(client, "write", "Ana", "lives in", "Madrid")
    second = await state(client, "write", " ANA ", "lives_in", "Lisbon")
    assert (first["status"], second["closed"]) == ("created", [first["id"]])
    assert await values(client, entity="ana") == {"Lisbon"}
    assert await values(client, entity="ana", every_time=True) == {"Madrid", "Lisbon"}


async def test_values_that_are_added_stand_beside_each_other(client: Client) -> None:
    first = await state(client, "add", "Ana", "speaks", "Spanish")
    again = await state(client, "add", "Ana", "speaks", "spanish")
    await state(client, "add", "Ana", "speaks", "French")
    assert (again["id"], again["status"]) == (first["id"], "known")
    assert await values(client, entity="Ana", predicate="speaks") == {"Spanish", "French"}


async def test_a_statement_about_the_past_leaves_what_came_later(client: Client) -> None:
    await state(client, "write", "Ana", "works at", "Acme", valid_from="2024-01-01T00:00:00Z")
    await state(client, "write", "Ana", "works at", "Initech", valid_from="2020-01-01T00:00:00Z")
    assert await values(client, entity="Ana") == {"Acme"}
    assert await values(client, entity="Ana", at="2022-06-01T00:00:00Z") == {"Initech"}


async def test_a_value_for_a_while_leaves_what_held_before_and_after(client: Client) -> None:
    await state(client, "write", "Ana", "lives in", "Madrid", valid_from="2020-01-01T00:00:00Z")
    while_there = {"valid_from": "2021-01-01T00:00:00Z", "valid_to": "2022-01-01T00:00:00Z"}
    await state(client, "write", "Ana", "lives in", "Paris", **while_there)
    for year, place in (("2020", "Madrid"), ("2021", "Paris"), ("2023", "Madrid")):
        assert await values(client, entity="Ana", at=f"{year}-06-01T00:00:00Z") == {place}


async def test_what_was_believed_stays_readable(client: Client) -> None:
    told = await state(client, "write", "Ana", "lives in", "Madrid", valid_from="2020-01-01T00:00:00Z")
    (then,) = await facts(client, entity="Ana")
    closing = {"id": told["id"], "at": "2023-01-01T00:00:00Z"}
    answer = await client.post("/api/kg/invalidate", closing)
    assert (answer.status, answer.body) == (200, {"closed": [told["id"]], "kept": []}), answer
    assert await facts(client, entity="Ana") == []
    (now,) = await facts(client, entity="Ana", at="2022-01-01T00:00:00Z")
    assert (now["id"], now["valid_to"]) == (told["id"], "2023-01-01T00:00:00Z")
    (believed,) = await facts(client, entity="Ana", known_at=then["recorded_at"])
    assert (believed["id"], believed["valid_to"]) == (told["id"], None)


async def test_a_less_trusted_source_closes_nothing_and_stands_as_disputed(client: Client) -> None:
    firm = await state(client, "write", "Ana", "born in", "Porto", source_kind="user")
    weak = await state(client, "write", "Ana", "born in", "Faro", source_kind="document")
    assert (weak["closed"], weak["disputes"]) == ([], [firm["id"]])
    disputed = {fact["object"]: fact.get("disputed", False) for fact in await facts(client, entity="Ana")}
    assert disputed == {"Porto": False, "Faro": True}
    names = {"subject": "Ana", "source_kind": "tool"}
    answer = await client.post("/api/kg/invalidate", names)
    assert answer.body == {"closed": [weak["id"]], "kept": [firm["id"]]}, answer
    assert await values(client, entity="Ana") == {"Porto"}


async def test_every_wrong_field_is_named(client: Client) -> None:
    wrong = triple(
        "  ", "", "x" * 5_000, scope="team:a", valid_from="2024-01-01", valid_to="2023-01-01T00:00:00Z"
    )
    answer = await client.post("/api/kg/add", wrong)
    assert answer.status == 400, answer
    assert {error["field"] for error in answer.body["errors"]} >= {"predicate", "object", "valid_from"}
    late = triple(
        " ", "is", "x", scope="team:a", valid_from="2024-01-01T00:00:00Z", valid_to="2023-01-01T00:00:00Z"
    )
    answer = await client.post("/api/kg/add", late)
    assert {error["field"] for error in answer.body["errors"]} == {"subject", "scope", "valid_to"}, answer


async def test_facts_are_read_in_pages(client: Client) -> None:
    body = {"facts": [triple("Ana", "owns", f"thing {number}") for number in range(5)]}
    answer = await client.post("/api/kg/batch", body)
    assert answer.status == 201, answer
    first = (await client.post("/api/kg/query", {"entity": "Ana", "limit": 3})).body
    rest = (await client.post("/api/kg/query", {"entity": "Ana", "limit": 3, "cursor": first["next"]})).body
    assert len(first["data"]) == 3
    assert rest["next"] is None
    assert {fact["object"] for fact in [*first["data"], *rest["data"]]} == {f"thing {n}" for n in range(5)}
