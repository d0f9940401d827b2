"""The vector of a question belongs to the tenant that asked it."""

from __future__ import annotations

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import question, until
from tests.support.fakes.fake_openai import FakeOpenAI

QUESTION = "Is the merger with the heron off?"


async def test_another_tenants_question_is_embedded_again(
    tenants: tuple[Tenant, Tenant], embedding_api: FakeOpenAI, sql: Connection
) -> None:
    one, other = [await tenant.client("read") for tenant in tenants]
    for client in (one, one, other):
        answer = await client.post("/api/context/assemble", question("m", QUESTION))
        assert (answer.status, answer.body["degraded"]) == (200, []), answer
    assert embedding_api.texts().count(QUESTION) == 2

    async def kept() -> None:
        names = [tenant.name for tenant in tenants]
        rows = await sql.fetch("select tenant from context.embedding_cache where tenant = any($1)", names)
        assert sorted(row["tenant"] for row in rows) == sorted(names)

    await until(kept)
