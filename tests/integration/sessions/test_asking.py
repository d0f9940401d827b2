"""A question is answered with the lines that answer it, and the object stays as it is."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from services.cache.sessions.paging.passages import answer as passage_of
from shared.tokens import estimate_tokens
from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import admitted, began, ok
from tests.integration.sessions.test_paging import module, read
from tests.support.cluster import Client

QUESTION = "What is charge_limit for refunds?"
CODE = "\n".join(
    [
        "def settle(event):",
        *(f"    total_{line} = event.amount * {line}" for line in range(40)),
        "    charge_limit = 250  # refunds above it need a second person",
        *(f"    rest_{line} = event.rest - {line}" for line in range(40)),
    ]
)


async def test_what_was_evicted_answers_and_stays_evicted(client: Client) -> None:
    session = await began(client)
    for name in ("first", "second"):
        await read(client, session, name)
    held = (await admitted(client, session, CODE, object_type="tool_result"))["id"]
    await ok(client, "POST", f"{session}/objects/{held}/release", {"fidelity": 4})
    found = await ok(client, "POST", f"{session}/query", {"question": QUESTION})
    assert "charge_limit = 250" in found["answer"]
    assert found["answer"] in CODE
    assert found["object_id"] == held
    lines = CODE.split("\n")[found["first_line"] - 1 : found["last_line"]]
    assert found["answer"] == "\n".join(lines)
    assert found["current_fidelity"] == 4
    assert found["answer_tokens"] == estimate_tokens(found["answer"])
    stays = (await ok(client, "GET", f"{session}/objects/{held}"))["data"]
    assert (stays["current_fidelity"], stays["micro_fault_count"], stays["fault_count"]) == (4, 1, 0)
    assert found["answer_tokens"] + found["avoided_tokens"] == stays["tokens_l0"]
    counted = (await ok(client, "GET", session))["data"]
    assert (counted["total_micro_faults"], counted["total_faults"]) == (1, 0)
    (fault,) = (await ok(client, "GET", f"{session}/faults"))["data"]
    kept = ("object_id", "answer", "answer_tokens", "avoided_tokens")
    assert {name: fault[name] for name in kept} == {name: found[name] for name in kept}
    assert (fault["fault_type"], fault["question"]) == ("micro_fault", QUESTION)


async def test_lines_are_those_of_the_source(client: Client) -> None:
    session = await began(client)
    await read(client, session, "ledger")
    found = await ok(client, "POST", f"{session}/query", {"question": "Where is ledger_2 defined?"})
    assert found["source_key"] == "src/ledger.py"
    lines = module("ledger").split("\n")[found["first_line"] - 1 : found["last_line"]]
    assert found["answer"] == "\n".join(lines)
    assert lines[0] == "def ledger_2(event):"


@pytest.mark.parametrize(
    "question", ["Who won the football cup in Berlin?", "a", "?!", "x" * 8_000, "\n" * 8_000]
)
async def test_no_answer_is_an_answer(client: Client, question: str) -> None:
    session = await began(client)
    await read(client, session, "ledger")
    found = await ok(client, "POST", f"{session}/query", {"question": question})
    assert (found["answer"], found["recorded"]) == (None, False)
    assert (await ok(client, "GET", f"{session}/faults"))["data"] == []


async def test_of_two_versions_the_current_one_answers(client: Client) -> None:
    session = await began(client)
    for limit in (250, 300):
        body = {"source_key": "src/limits.py"}
        await admitted(client, session, f"charge_limit = {limit}  # refunds\n", **body)
    found = await ok(client, "POST", f"{session}/query", {"question": QUESTION})
    assert "300" in found["answer"]


async def test_one_object_can_be_asked(client: Client) -> None:
    session = await began(client)
    ids = [(await admitted(client, session, f"charge_limit = {limit} for refunds"))["id"] for limit in (1, 2)]
    for place, each in enumerate(ids, 1):
        found = await ok(client, "POST", f"{session}/query", {"question": QUESTION, "object_id": each})
        assert found["answer"] == f"charge_limit = {place} for refunds"
    unknown = {"question": QUESTION, "object_id": str(uuid4())}
    assert (await client.call("POST", f"{session}/query", unknown)).status == 404


async def test_a_key_that_only_reads_asks_without_a_trace(tenant: Tenant, client: Client) -> None:
    session = await began(client)
    await admitted(client, session, CODE)
    found = await ok(await tenant.client("read"), "POST", f"{session}/query", {"question": QUESTION})
    assert "charge_limit = 250" in found["answer"]
    assert not found["recorded"]
    assert (await ok(client, "GET", f"{session}/faults"))["data"] == []


async def test_a_closed_session_can_be_asked(client: Client) -> None:
    session = await began(client)
    await admitted(client, session, CODE)
    await ok(client, "POST", f"{session}/complete", {})
    found = await ok(client, "POST", f"{session}/query", {"question": QUESTION})
    assert found["recorded"]


async def test_questions_at_once_are_all_counted(client: Client) -> None:
    session = await began(client)
    held = (await admitted(client, session, CODE))["id"]
    asked = [ok(client, "POST", f"{session}/query", {"question": QUESTION}) for _ in range(8)]
    assert all(found["object_id"] == held for found in await asyncio.gather(*asked))
    assert (await ok(client, "GET", f"{session}/objects/{held}"))["data"]["micro_fault_count"] == 8
    assert len((await ok(client, "GET", f"{session}/faults"))["data"]) == 8


async def test_another_session_is_not_asked(tenants: tuple[Tenant, Tenant], client: Client) -> None:
    session, elsewhere = await began(client), await began(client)
    await admitted(client, elsewhere, CODE)
    assert (await ok(client, "POST", f"{session}/query", {"question": QUESTION}))["answer"] is None
    stranger = await tenants[1].client("admin")
    assert (await stranger.call("POST", f"{elsewhere}/query", {"question": QUESTION})).status == 404


def test_a_long_line_is_quoted_around_the_word() -> None:
    found = passage_of(QUESTION, '{"x":' + '"padding",' * 5_000 + '"charge_limit":250,' + '"y",' * 5_000)
    assert found is not None
    assert '"charge_limit":250' in found.text
    assert found.tokens <= 400
