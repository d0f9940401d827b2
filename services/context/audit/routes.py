"""HTTP of the audit."""

from __future__ import annotations

from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import Parameter

from services.context.audit.queries import AuditFilter
from services.context.audit.schemas import Audit
from services.context.audit.service import AuditTrail
from shared.database.audit import Action
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit, Since, Until
from shared.provenance import utc
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN

_TENANT = Parameter(
    min_length=1,
    max_length=200,
    description="Another tenant than the caller's own: for an admin token of the environment only.",
)
_ACTOR = Parameter(min_length=1, max_length=200, description="Only what this key did, as `key:12`.")
_TARGET = Parameter(
    min_length=1, max_length=250, description="Only what was done to this: a scope, `key:12` or `tenant`."
)


@get("/audit", opt=ADMIN)
async def audit(
    audit_trail: NamedDependency[AuditTrail],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    action: Annotated[Action | None, Parameter(description="Only actions of this kind.")] = None,
    actor: Annotated[str | None, _ACTOR] = None,
    target: Annotated[str | None, _TARGET] = None,
    since: Since = None,
    until: Until = None,
    tenant: Annotated[str | None, _TENANT] = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Audit:
    """List what admins did, newest first: who, what, when, and the settings before and after.

    For keys without bounds. Nobody can change or remove a row, and only a purge takes names out.
    """
    wanted = AuditFilter(action, actor, target, utc(since, "since"), utc(until, "until"))
    return await audit_trail.list(principal, tenant, wanted, cursor, limit, deadline)
