"""Functions whose result changes within a statement or between statements. All others count as immutable."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tools.distribution.syntax import Tree, called, names, nodes

# A test compares them with PostgreSQL's catalog.
VOLATILE = {
    "clock_timestamp",
    "gen_random_uuid",
    "nextval",
    "pg_advisory_xact_lock",
    "pg_advisory_xact_lock_shared",
    "pg_try_advisory_xact_lock",
    "random",
    "set_config",
    "setval",
    "timeofday",
}
STABLE = {
    "array_to_string",
    "convert_to",
    "current_setting",
    "format",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_populate_record",
    "jsonb_populate_recordset",
    "jsonb_to_record",
    "jsonb_to_recordset",
    "now",
    "pg_current_snapshot",
    "pg_current_xact_id",
    "pg_postmaster_start_time",
    "pg_stat_get_live_tuples",
    "statement_timestamp",
    "to_char",
    "to_date",
    "to_jsonb",
    "to_regclass",
    "transaction_timestamp",
}


def volatile_calls(tree: object, own: Collection[str]) -> Iterator[str]:
    """`own` names the volatile functions of the schema."""
    yield from (name for name, _ in called(tree) if name in VOLATILE or name in own)


def stable_calls(tree: object) -> Iterator[str]:
    yield from (name for name, _ in called(tree) if name in STABLE)
    yield from ("current time" for _ in nodes(tree, "sqlvalue_function"))


def stable_on_columns(tree: object, variables: Collection[str]) -> Iterator[str]:
    """Stable functions of a column, and sums of a time and an interval in which a column has a part.

    Adding an interval to a time depends on the session's time zone.
    """
    for name, call in called(tree):
        if name in STABLE and _has_column(call, variables):
            yield name
    for operation in nodes(tree, "a_expr"):
        is_sum = names(operation["name"]) in (["+"], ["-"]) and _is_interval(operation.get("rexpr", {}))
        if is_sum and _has_column(operation, variables):
            yield "an interval added to a time"


def _is_interval(tree: Tree) -> bool:
    casts = nodes(tree, "type_cast", until=lambda kind: kind in {"sub_link", "func_call"})
    return any(names(cast["type_name"]["names"])[-1] == "interval" for cast in casts)


def _has_column(tree: Tree, variables: Collection[str]) -> bool:
    return any(names(column["fields"])[0] not in variables for column in nodes(tree, "column_ref"))
