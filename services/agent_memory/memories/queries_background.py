"""The SQL of all that an agent's own memory holds, where that is little."""

from __future__ import annotations

from datetime import datetime

import asyncpg

from services.agent_memory.memories.queries import VISIBLE, bounds
from shared.auth import Principal
from shared.database.postgres import Connection

MOST = 50
"""More memories are not little."""

# A part is little as a whole, or left out. Each has a limit of its own, so that a large memory is not read to its end.
# Nothing says when an item was superseded, so with a time ($6) the superseded ones come, too.
_PART = f"""
(select id, scope, memory_type, agent_name, content, created_at, occurred_at, session_id, seq, speaker, user_id,
        source_kind, source_claim, superseded_by, token_count
 from memory.agent_memory
 where tenant = $1 and agent_name = $2 and {VISIBLE.format(users="$3", missions="$4", agent="$5")}
   and ($6::timestamptz is null or created_at <= $6) and (superseded_by is null or $6 is not null) and {{about}}
 order by created_at desc, id desc limit $7)
"""
_LITTLE = """,
sized as (
    select found.*, count(*) over about as items, sum(token_count) over about as tokens
    from found window about as (partition by user_id is null and $8::text is not null)
)
select * from sized where items < $7 and tokens <= $9 order by created_at desc, id desc
"""
_OF_ALL = _PART.format(about="$8::text is null")
FEW = f"with found as materialized ({_OF_ALL}){_LITTLE}"
_OF_USER = " union all ".join(_PART.format(about=about) for about in ("user_id = $8", "user_id is null"))
FEW_FOR_USER = f"with found as materialized ({_OF_USER}){_LITTLE}"


async def few(
    connection: Connection,
    principal: Principal,
    agent: str,
    user_id: str | None,
    *,
    as_of: datetime | None,
    tokens: int,
) -> list[asyncpg.Record]:
    """The agent's own memories, newest first; none if they are too many, or have more tokens.

    With a user, those about the user and those about nobody are counted apart.
    """
    _, missions, reader = bounds(principal)
    users = principal.seen_users(user_id)
    statement = FEW if user_id is None else FEW_FOR_USER
    rows: list[asyncpg.Record] = await connection.fetch(
        statement, principal.tenant, agent, users, missions, reader, as_of, MOST + 1, user_id, tokens
    )
    return rows
