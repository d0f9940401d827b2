"""Whether this code knows a database's schema. Alembic takes long to import, and few need to know."""

from __future__ import annotations

from alembic.script import ScriptDirectory

from local.database import ROOT, connected


async def foreign_revision(owner_dsn: str) -> str | None:
    """The database's revision if this code does not know it and thus cannot migrate from it, or else None."""
    async with connected(owner_dsn) as connection:
        if await connection.fetchval("SELECT to_regclass('public.alembic_version')") is None:
            return None
        found: str | None = await connection.fetchval("SELECT version_num FROM public.alembic_version")
    known = {script.revision for script in ScriptDirectory(str(ROOT / "alembic")).walk_revisions()}
    return None if found in known else found
