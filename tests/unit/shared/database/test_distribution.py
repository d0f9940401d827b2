"""The statements that distribute the tables by tenant. They run elsewhere: `make proof-citus`."""

from __future__ import annotations

import re

import pytest

from services.agent_memory import tables as _memory  # noqa: F401
from services.cache import tables as _cache  # noqa: F401
from services.context import tables as _context  # noqa: F401
from shared.database.distribution import LOCAL, TENANT, distributed, statements, wanted
from shared.database.schema import metadata
from tools.distribution.exceptions import KEYS
from tools.distribution.tables import VIEWS, columns

STATEMENTS = dict(zip(dict(distributed(metadata)), statements(metadata), strict=True))
FIRST = next(iter(STATEMENTS))


def test_every_table_of_the_tenants_is_distributed_and_no_other() -> None:
    described = {f"{table.schema}.{table.name}" for table in metadata.sorted_tables}
    assert STATEMENTS.keys() == columns().keys() - VIEWS.keys()
    assert described - STATEMENTS.keys() <= LOCAL.keys()
    assert not STATEMENTS.keys() & LOCAL.keys()


def test_all_stand_beside_the_first() -> None:
    beside = {name: re.findall(r"colocate_with => '(.*)'", sql) for name, sql in STATEMENTS.items()}
    assert beside.pop(FIRST) == ["none"]
    assert all(found == [FIRST] for found in beside.values())


def test_a_table_comes_after_those_that_it_refers_to() -> None:
    done: set[str] = set()
    for name, table in distributed(metadata):
        referred = {key.target_fullname.rpartition(".")[0] for key in table.foreign_keys}
        assert referred <= done | {name}
        done.add(name)


def test_a_key_without_the_tenant_gets_it() -> None:
    changed = {}
    for name, sql in STATEMENTS.items():
        schema = name.partition(".")[0]
        for key, wanted_columns in re.findall(r"add constraint (\w+) primary key \((.*)\);", sql):
            assert f"drop constraint {key}," in sql
            changed[f"{schema}.{key}"] = wanted_columns.split(", ")
    assert changed.keys() == KEYS.keys()
    assert all(key[0] == TENANT for key in changed.values())
    assert changed["timeline.events_pkey"] == ["tenant", "id", "created_at"]


@pytest.mark.parametrize(("setting", "expected"), [(None, False), ("", False), ("citus", True)])
def test_the_setting_asks_for_it(setting: str | None, expected: bool) -> None:
    assert wanted(setting) is expected


def test_another_engine_is_refused() -> None:
    with pytest.raises(SystemExit, match="citus or empty: 'yes'"):
        wanted("yes")
