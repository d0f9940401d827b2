"""Reads and sets a tenant's language."""

from __future__ import annotations

from services.context.keys import Keys
from services.context.languages import queries
from services.context.languages.schemas import TenantLanguage
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Deed
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.text import Language


class Languages:
    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys

    async def language(self, principal: Principal, deadline: Deadline) -> TenantLanguage:
        found = await self._database.run(
            principal.tenant, lambda c: queries.language_of(c, principal.tenant), deadline
        )
        return TenantLanguage(found)

    async def set_language(
        self, principal: Principal, language: Language | None, deadline: Deadline
    ) -> TenantLanguage:
        """Raises Forbidden for a key that is bound, because the language holds for the whole tenant."""
        principal.require_unbounded()

        async def work(c: Connection) -> None:
            before = await queries.language_of(c, principal.tenant)
            if language is None:
                await queries.reset_language(c, principal.tenant)
            else:
                await queries.put_language(c, principal.tenant, language, principal.key)
            deed = Deed(
                action="language_set",
                target="tenant",
                before={"language": before},
                after={"language": language},
            )
            await audit.record(c, principal, deed)

        await self._database.transaction(principal.tenant, work, deadline)
        self._keys.forget()
        return TenantLanguage(language)
