"""Who may read the audit."""

from __future__ import annotations

from services.context.audit import queries
from services.context.audit.queries import AuditFilter
from services.context.audit.schemas import Audit, AuditCursor, AuditRow
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import Forbidden
from shared.paging.pages import page_of


class AuditTrail:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self,
        principal: Principal,
        tenant: str | None,
        wanted: AuditFilter,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Audit:
        """Rows of the caller's own tenant, or of `tenant` for who runs the installation. Raises Forbidden."""
        if tenant not in (None, principal.tenant) and not principal.of_environment:
            raise Forbidden("only an admin token of the environment reads the audit of another tenant")
        principal.require_unbounded()
        whose = tenant or principal.tenant
        position = AuditCursor.read(cursor)
        before = None if position is None else position.id
        rows = await self._database.run(
            whose, lambda c: queries.list_audit(c, whose, wanted, before=before, limit=limit + 1), deadline
        )
        page = page_of(rows, limit, lambda row: AuditCursor(id=row["id"]))
        return Audit([AuditRow(**dict(row)) for row in page.rows], page.next)
