"""The SQL that reads histories."""

from __future__ import annotations

from uuid import UUID

import asyncpg

from services.cache.sessions.histories.schemas import AdmissionScore, Fault, ListedObject, Transition
from shared.database.postgres import Connection

_FAULTS = ", ".join(f"h.{name}" for name in Fault.__struct_fields__)
_TRANSITIONS = ", ".join(f"h.{name}" for name in Transition.__struct_fields__)
_ADMISSIONS = ", ".join(f"h.{name}" for name in AdmissionScore.__struct_fields__)
_OBJECTS = ", ".join(f"h.{name}" for name in ListedObject.__struct_fields__)
# $3 the number after which the page begins, $4 the object or null.
_OF_SESSION = """
where h.tenant = $1 and h.session_id = $2 and h.number > $3 and ($4::uuid is null or h.object_id = $4)
order by h.number limit $5
"""
FAULTS = f"select h.number, {_FAULTS} from sessions.fault_history h {_OF_SESSION}"
TRANSITIONS = f"select h.number, {_TRANSITIONS} from sessions.fidelity_transitions h {_OF_SESSION}"
ADMISSIONS = f"select h.number, {_ADMISSIONS} from sessions.admission_scores h {_OF_SESSION}"

OBJECTS = f"""
select h.number, {_OBJECTS} from sessions.semantic_objects h
where h.tenant = $1 and h.session_id = $2 and h.number > $3 and ($4::uuid is null or h.id = $4)
order by h.number limit $5
"""


async def page(
    connection: Connection,
    statement: str,
    tenant: str,
    session_id: UUID,
    *,
    after: int,
    object_id: UUID | None,
    limit: int,
) -> list[asyncpg.Record]:
    """`statement` is one of the four above."""
    rows: list[asyncpg.Record] = await connection.fetch(
        statement, tenant, session_id, after, object_id, limit
    )
    return rows
