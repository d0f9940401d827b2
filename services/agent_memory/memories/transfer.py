"""Memories as JSON Lines: pages of an export, and an import that keeps ids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import asyncpg
import msgspec

from services.agent_memory.memories import queries_transfer as queries
from services.agent_memory.memories import queries_writes as sql
from services.agent_memory.memories.commits import Commits, hash_of
from services.agent_memory.memories.merging import Statement
from services.agent_memory.memories.queries_writes import Restored
from services.agent_memory.memories.schemas import Confirmation, ExportedMemory, ImportResult
from shared.body import decode
from shared.database.postgres import Connection
from shared.errors import Invalid
from shared.provenance import utc

MAX_LINES = 1_000
NDJSON = "application/x-ndjson"

_DECODER = msgspec.json.Decoder(ExportedMemory)


def parse(body: bytes) -> list[ExportedMemory]:
    """Raises Invalid naming the line and the field."""
    lines = []
    for number, line in enumerate(body.splitlines(), 1):
        if not line.strip():
            continue
        try:
            lines.append(decode(line, _DECODER))
        except Invalid as error:
            field = (error.errors or [{"field": "body"}])[0]["field"]
            raise Invalid.field(f"line {number}.{field}", error.detail) from error
    if len(lines) > MAX_LINES:
        raise Invalid.field("body", f"at most {MAX_LINES} lines")
    if len({line.id for line in lines}) < len(lines):
        raise Invalid.field("body", "an id comes twice")
    return lines


async def export(
    c: Connection,
    tenant: str,
    agent_name: str | None,
    after: int,
    limit: int,
    users: Sequence[str] | None,
) -> bytes:
    """Memories with ids above `after`, in their order; fewer than `limit` where they would not fit one import."""
    rows = await queries.page(c, tenant, agent_name, after, limit, users)
    found = await queries.confirmations(c, tenant, [row["id"] for row in rows])
    by_id = {id_: list(some) for id_, some in groupby(found, key=lambda row: row["memory_id"])}
    lines = [_line(row, by_id.get(row["id"], [])) for row in rows]
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def confirmation(row: asyncpg.Record) -> Confirmation:
    return Confirmation(**{field: row[field] for field in Confirmation.__struct_fields__})


def _line(row: asyncpg.Record, confirmations: Sequence[asyncpg.Record]) -> ExportedMemory:
    fields = {field: row[field] for field in ExportedMemory.__struct_fields__ if field != "confirmations"}
    return ExportedMemory(**fields, confirmations=[confirmation(one) for one in confirmations])


async def restore(
    c: Connection, commits: Commits, tenant: str, lines: Sequence[ExportedMemory]
) -> ImportResult:
    """A fact that its agent has already is left alone; an id that another memory has is replaced by a new one."""
    hashes = [hash_of(line.content, line.user_id) for line in lines]
    agents = sorted({line.agent_name for line in lines})
    await queries.lock_imports(c)
    for agent in agents:
        await sql.lock_agent(c, tenant, agent)
    known = await queries.known(c, tenant, [line.agent_name for line in lines], hashes)
    taken = await queries.taken(c, tenant, [line.id for line in lines])
    await queries.reserve(c, max((line.id for line in lines), default=0))
    result = ImportResult(imported=0, already_there=0, remapped={})
    added: dict[str, int] = {}
    for line, content_hash in zip(lines, hashes, strict=True):
        fact = (line.agent_name, content_hash)
        id_ = known.get(fact)
        if id_ is not None:
            result.already_there += 1
        else:
            id_ = known[fact] = await _insert(c, commits, tenant, line, None if line.id in taken else line.id)
            added[line.agent_name] = added.get(line.agent_name, 0) + 1
        if id_ != line.id:
            result.remapped[line.id] = id_
    for agent, count in added.items():
        await sql.event(c, tenant, agent, "memory_import", {"count": count})
    result.imported = sum(added.values())
    return result


async def _insert(
    c: Connection, commits: Commits, tenant: str, line: ExportedMemory, memory_id: int | None
) -> int:
    times = {field: utc(getattr(line, field), field) for field in ("created_at", "updated_at")}
    restored = Restored(
        id=memory_id,
        pending=line.pending,
        access_count=line.access_count,
        confirmed_count=line.confirmed_count,
        **times,
    )
    stated: dict[str, Any] = {field: getattr(line, field) for field in Statement.__struct_fields__}
    said = Statement(**{**stated, "occurred_at": utc(line.occurred_at)})
    new = await commits.insert(c, tenant, line.agent_name, said, restored)
    if line.confirmations:
        await queries.confirm_again(c, tenant, new, line.confirmations)
    return new
