"""What P2 compares, and what it sends as another request under the same key."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from proofs.retries.playing import _OTHERS, KEYED, Request, _change, _played, another, same
from proofs.retries.state import counted, differences, stable


def test_figures_that_vary_without_a_fault_are_not_compared() -> None:
    wanted = stable([{"rows": 2, "ids": 7}, {"rows": 2, "ids": 9}])
    assert wanted == {"rows": 2}
    assert differences(wanted, {"rows": 2, "ids": 1}) == []
    assert differences(wanted, {"rows": 3}) == ["rows: 3 instead of 2"]
    assert differences(wanted, {}) == ["rows: None instead of 2"]


def test_ids_are_counted_and_not_added_up() -> None:
    """The few ids of three tenants may have the same sum by chance."""
    statement = counted("notes", [("id", "bigint"), ("parent_id", "bigint"), ("tokens", "integer")])
    columns = ["id", "parent_id", "tokens"]
    assert [each for each in columns if f'count("{each}")' in statement] == columns
    assert [each for each in columns if f"'{each} sum'" in statement] == ["tokens"]


@pytest.mark.parametrize(
    ("again", "is_same"),
    [
        ({"id": 1, "token": None}, True),
        ({"id": 1, "token": "t"}, True),
        ({"id": 2, "token": None}, False),
        ({"id": 1, "more": [1]}, False),
    ],
)
def test_a_repeat_may_leave_a_secret_out_and_nothing_else(again: Any, is_same: bool) -> None:
    assert same({"id": 1, "token": "t"}, again) is is_same


def test_every_operation_with_a_key_is_played_and_has_another_request() -> None:
    assert {one.operation for one in _played()} >= KEYED
    for one in _played():
        if one.operation in KEYED and isinstance(one.body, dict):
            assert one.operation in _OTHERS or _change(copy.deepcopy(one.body)), one.operation


@pytest.mark.parametrize(
    ("target", "other"),
    [
        ("/api/vault/files?path=a", "/api/vault/files?path=ax"),
        ("/api/memory/consolidations/7/undo", "/api/memory/consolidations/8/undo"),
        ("/api/persistent-objects/aa-1/reinforce", "/api/persistent-objects/aa-0/reinforce"),
    ],
)
def test_without_a_body_the_address_is_another(target: str, other: str) -> None:
    assert another(Request("any", "POST", target, None)).target == other
