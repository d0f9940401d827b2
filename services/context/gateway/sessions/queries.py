"""The SQL of sessions' states."""

from __future__ import annotations

from typing import NamedTuple

from shared.auth import Principal
from shared.database import tenancy
from shared.database.postgres import Connection


class Whose(NamedTuple):
    """A session belongs to the key that speaks in it: another key's session of the same name is another one."""

    tenant: str
    caller: str
    session: str
    scopes: tuple[str, ...]
    """Where a purge finds it."""

    @classmethod
    def of(cls, principal: Principal, session: str) -> Whose:
        return cls(principal.tenant, principal.key, session, tuple(principal.own_scopes() or ("shared",)))


READ = tenancy.look("""
select version, state from context.gateway_sessions where tenant = $1 and caller = $2 and session_id = $3
""")
# $4 is the version that the state was made of, 0 for none.
BEGIN = """
insert into context.gateway_sessions (tenant, caller, session_id, scopes, version, state)
values ($1, $2, $3, $4, 1, $5) on conflict do nothing returning version
"""
CHANGE = """
update context.gateway_sessions set version = version + 1, state = $5, updated_at = now()
where tenant = $1 and caller = $2 and session_id = $3 and version = $4 returning version
"""
SWEEP = """
delete from context.gateway_sessions where ctid = any(array(
    select ctid from context.gateway_sessions
    where updated_at < now() - $1 * interval '1 day' limit 10000))
"""


async def save(c: Connection, whose: Whose, version: int, state: bytes) -> int | None:
    """The new version; None if another request was faster."""
    named = (whose.tenant, whose.caller, whose.session)
    if version:
        changed: int | None = await c.fetchval(CHANGE, *named, version, state)
        return changed
    begun: int | None = await c.fetchval(BEGIN, *named, list(whose.scopes), state)
    return begun
