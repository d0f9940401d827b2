"""Two tenants with one equal row each in every table, and values that make a statement find these rows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from shared.database.postgres import Connection
from shared.search.sql import scope_key

TENANTS = ("mine", "theirs")
WORD = "same"
_ID = 1
_UUID = "00000000-0000-4000-8000-000000000001"

TABLES = """
select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant'
where n.nspname in ('cache', 'sessions', 'memory', 'context', 'timeline')
  and c.relkind in ('r', 'p') and not c.relispartition
order by 1
"""
_COLUMNS = """
select attname as name, format_type(atttypid, null) as type, attnotnull as needed from pg_attribute
where attrelid = $1::text::regclass and attnum > 0 and not attisdropped and attgenerated = ''
"""
_CHECKS = "select conname from pg_constraint where conrelid = $1::text::regclass and contype = 'c'"
_OF_TYPE = {
    "text": f"'{WORD}'",
    "text[]": f"'{{{WORD}}}'",
    "bytea": r"'\x01'",
    "bigint[]": f"'{{{_ID}}}'",
    "bigint": str(_ID),
    "integer": str(_ID),
    "smallint": str(_ID),
    "uuid": f"'{_UUID}'",
    "real": "0.5",
    "numeric": "0.5",
    "double precision": "0.5",
    "boolean": "false",
    "jsonb": "'{}'",
    "timestamp with time zone": "now()",
    "date": "(now() at time zone 'utc')::date",
    "tsvector": f"to_tsvector('english', '{WORD}')",
    "halfvec": "array_fill(0.1::real, array[512])::halfvec",
}
_NAMED = {
    "expires_at": "'infinity'",
    "next_expiry": "'infinity'",
    "chunk": "0",
}
# Columns of a confirmation, so that it repeats the one that is there.
_TEXTS = ("written_by", "source_kind", "mission_namespace")
_IDS = ("memory_id", "dispatch_id", "recalled_from", "absorbed_id")
_PARAMETERS = {
    "text": WORD,
    "text[]": [WORD],
    "bytea": b"\x01",
    "bigint[]": [_ID],
    "bool": False,
    "uuid": _UUID,
    "uuid[]": [_UUID],
    "smallint[]": [0],
    "jsonb": "[]",
    "halfvec": [0.1] * 512,
    "pg_snapshot": (1, 1, []),
}
_MANY = 1_000
_UNIQUE = {"token_hash", "old_token_hash"}


async def tables(connection: Connection) -> list[str]:
    return [row["name"] for row in await connection.fetch(TABLES)]


async def fill(connection: Connection) -> None:
    """As a superuser, in a database of the test's own: no foreign key and no other condition is checked."""
    await connection.execute("set session_replication_role = replica")
    for table in await tables(connection):
        for check in await connection.fetch(_CHECKS, table):
            await connection.execute(f'alter table {table} drop constraint "{check["conname"]}"')
        columns = await connection.fetch(_COLUMNS, table)
        values = {row["name"]: _value(table, row["name"], row["type"], row["needed"]) for row in columns}
        for tenant in TENANTS:
            given = values | {"tenant": f"'{tenant}'"}
            # Unique whatever the tenant.
            unique = _UNIQUE | ({"key"} if table.endswith("embedding_cache") else set())
            given |= {name: f"'\\x{tenant.encode().hex()}'" for name in unique & given.keys()}
            names = ", ".join(f'"{name}"' for name in given)
            await connection.execute(
                f"insert into {table} ({names}) overriding system value values ({', '.join(given.values())})"
            )
    await connection.execute("reset session_replication_role")


def _value(table: str, column: str, type_: str, needed: bool) -> str:
    if column == "scope":
        return f"'{_scope(table)}'"
    if column in _NAMED:
        return _NAMED[column]
    if type_.startswith("timestamp") and not needed:
        return "null"  # not yet closed, revoked, processed
    return _OF_TYPE[type_]


def _scope(text: str) -> str:
    if re.search(r"sessions\.(object_(chunks|vec)|searchable_objects)", text):
        return f"session:{_UUID}"
    if re.search(r"sessions\.(persistent_|searchable_persistent)", text):
        return f"user:{WORD}"
    return f"agent:{WORD}" if "memory." in text else f"mission:{WORD}"


def parameters(sql: str, types: Sequence[str]) -> list[Any]:
    return [_parameter(sql, number, type_) for number, type_ in enumerate(types, 1)]


def _parameter(sql: str, number: int, type_: str) -> Any:
    place = rf"(?:coalesce\(|any\()?\${number}\b"
    if re.search(rf"tenant = {place}", sql):
        return TENANTS[0]
    if re.search(rf"unnest\({place}::text\[\], .* p\(config,", sql):
        return ["english"]
    if re.search(rf"unnest\({place}::text\[\]\) k\b", sql):
        return [scope_key(tenant, scope) for tenant in TENANTS for scope in (_scope(sql), "*")]
    if re.search(rf"scope (?:=|<>) {place}", sql):
        return [_scope(sql)] if type_.endswith("[]") else _scope(sql)
    if type_ in ("bigint", "integer", "smallint", "double precision", "real"):
        return _number(sql, place)
    if re.search(rf"jsonb_array_elements\({place}", sql):
        return "[]"
    if type_ == "jsonb" and "jsonb_populate_record(" in sql:
        return json.dumps(dict.fromkeys(_TEXTS, WORD) | dict.fromkeys(_IDS, _ID))
    if type_ == "jsonb" and re.search(r"jsonb_(to_record|each_text)\(", sql):
        return "{}"
    return _PARAMETERS.get(type_)


def _number(sql: str, place: str) -> int:
    if re.search(rf"limit {place}|< {place}|<= {place}", sql):
        return _MANY
    return 0 if re.search(rf"> {place}|chunk = {place}", sql) else _ID
