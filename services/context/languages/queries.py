"""SQL of tenants' languages."""

from __future__ import annotations

from shared.database.postgres import Connection
from shared.text import Language

LANGUAGE = "select language from context.languages where tenant = $1"


async def language_of(c: Connection, tenant: str) -> Language | None:
    found: Language | None = await c.fetchval(LANGUAGE, tenant)
    return found


PUT_LANGUAGE = """
insert into context.languages (tenant, language, set_by) values ($1, $2, $3)
on conflict (tenant) do update set language = $2, set_by = $3, updated_at = clock_timestamp()
"""


async def put_language(c: Connection, tenant: str, language: Language, key: str) -> None:
    await c.execute(PUT_LANGUAGE, tenant, language, key)


RESET_LANGUAGE = "delete from context.languages where tenant = $1"


async def reset_language(c: Connection, tenant: str) -> None:
    await c.execute(RESET_LANGUAGE, tenant)
