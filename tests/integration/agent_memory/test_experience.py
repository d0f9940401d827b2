"""What an agent read often stays below what answers its question: the project's decisions serve as memories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.agent_memory import settled
from tests.support.calls import lesson, until
from tests.support.cluster import Client

DECISIONS = Path(__file__).parents[3] / "docs/decisions"
# Later decisions leave the texts as they are.
LAST = 399
# A fifth of the questions is asked in each pass, so that their memories are read far more than others.
SIZE, PASSES, EVERY = 80, 10, 5
Search = Callable[[Client, str], Awaitable[list[int]]]


class Lesson(NamedTuple):
    """A decision as an agent remembers it, and the line of the index that asks for it."""

    content: str
    question: str


def lessons() -> Iterator[Lesson]:
    for number, name, question in re.findall(
        r"^- \[(\d+)\]\((.+?)\) (.+)$", (DECISIONS / "README.md").read_text(), re.M
    ):
        if int(number) > LAST:
            continue
        body = (DECISIONS / name).read_text().partition("## Decision")[2].partition("## ")[0]
        yield Lesson(" ".join(body.split())[:600], question)


async def query(client: Client, question: str) -> list[int]:
    answer = await client.post("/api/agent-memory/query", {"agent_name": "scout", "query": question})
    assert answer.status == 200, answer
    return [memory["id"] for memory in answer.body["memories"]]


async def assemble(client: Client, question: str) -> list[int]:
    body = {"query": question, "caller": "scout", "log": False, "debug": True}
    answer = await client.post("/api/context/assemble", body)
    assert answer.status == 200, answer
    ordered = sorted(answer.body["candidates"], key=lambda candidate: -candidate["score"])
    return [candidate["id"] for candidate in ordered if candidate["store"] == "agent_memory_own"]


async def first(client: Client, search: Search, questions: Mapping[int, str]) -> int:
    """Of how many questions the memory comes first."""
    found = [await search(client, question) for question in questions.values()]
    return sum(id_ in ids[:1] for id_, ids in zip(questions, found, strict=True))


@pytest.mark.parametrize("search", [query, assemble])
async def test_what_is_read_often_does_not_outvote_what_is_relevant(
    tenant: Tenant, sql: Connection, search: Search
) -> None:
    client = await tenant.client("admin")
    known = list(lessons())[:SIZE]
    written = await client.post(
        "/api/agent-memory/batch", {"memories": [lesson("scout", one.content) for one in known]}
    )
    ids = [result["memory_id"] for result in written.body["results"]]
    assert len(set(ids)) == SIZE
    await settled(sql, tenant.name)
    questions = {id_: one.question for id_, one in zip(ids, known, strict=True)}
    before = await first(client, assemble, questions)
    # Texts of decisions change now and then; what counts is what reading changes.
    assert before > 0.7 * SIZE
    read = Counter[int]()
    for _ in range(PASSES):
        for id_ in ids[::EVERY]:
            read.update(await query(client, questions[id_]))
    await until(lambda: counted(sql, tenant.name, read.total()))
    assert await first(client, search, questions) >= before - 1


async def counted(sql: Connection, tenant: str, accesses: int) -> None:
    total = "select sum(access_count) from memory.accesses where tenant = $1"
    assert await sql.fetchval(total, tenant) == accesses
