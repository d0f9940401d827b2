from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from shared.search import sql
from shared.search.sql import Source, Statement, Values, search_forms
from shared.search.store import Scope, StoreQuery
from tests.support.search_statements import FOLDER, STATEMENTS, text

SOURCE = Source(
    "items", "chunks", "words", "vectors", "compared", "i.scope", "scope = :scope", "tenant = :tenant"
)
SCOPE = Scope("t", "agent:a", indexed_as=["agent:a"])
# The parts of the statement that choose an arm's rows.
ARMS = {"by_vector", "best_text"}
# Those of a scope of any size that choose the rows of words, and that of a small one.
CHOOSING = {"most", "rare", "pair", "frequent", "posting", "by_rare", "matched", "hit"}
CHOOSING_ALL = {"any_word", "matched"}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_is_the_recorded_one(name: str) -> None:
    """After a change that is meant: `python -m tests.support.search_statements`, and look at the difference."""
    assert text(STATEMENTS[name]) == (FOLDER / f"{name}.sql").read_text()


def test_no_recorded_statement_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.sql")} == set(STATEMENTS)


def parts(statement: Statement) -> dict[str, str]:
    """The statement's named queries, and its last."""
    pieces = re.split(
        r"^(?:with |\), )(\w+) as (?:materialized )?\($|^\)$", statement.sql, flags=re.MULTILINE
    )
    return dict(zip([name or "answer" for name in pieces[1::2]], pieces[2::2], strict=True))


def differing(one: Statement, other: Statement) -> set[str]:
    first, second = parts(one), parts(other)
    return {name for name in first | second if first.get(name) != second.get(name)}


def test_the_forms_differ_only_in_how_an_arm_chooses_its_rows() -> None:
    forms = search_forms(SOURCE)
    assert len(parts(forms.exact)) == 13
    assert differing(forms.exact, forms.exact_of_users) <= ARMS
    assert differing(forms.approximate, forms.approximate_of_users) <= ARMS
    assert differing(forms.exact, forms.approximate) <= ARMS | CHOOSING | CHOOSING_ALL


def test_parameters_are_numbered_in_the_order_of_the_values() -> None:
    forms = search_forms(SOURCE)
    assert forms.exact.parameters == Values.__struct_fields__[:12]
    assert forms.exact_of_users.parameters == (*Values.__struct_fields__[:12], "users")
    assert "any($13)" in forms.exact_of_users.sql
    assert ":" not in re.sub(r"::|':'", "", forms.exact.sql)


@pytest.mark.parametrize("narrowed", [{"only": [1]}, {"users": ["alice"]}, {"missions": []}, {"until": 7}])
def test_no_value_is_ignored(narrowed: dict[str, Any]) -> None:
    values = StoreQuery(query="q", vector=None, model="m").values(SCOPE)
    statement = search_forms(SOURCE).exact
    assert statement.arguments(values)[:4] == ["t", ["english"], ["q"], []]
    with pytest.raises(ValueError, match=next(iter(narrowed))):
        statement.arguments(msgspec.structs.replace(values, **narrowed))


@pytest.mark.parametrize("bound", [{"users": []}, {"missions": []}, {"users": ["u"], "missions": ["m"]}])
def test_the_form_follows_from_the_bounds_and_the_size(bound: dict[str, Any]) -> None:
    forms = search_forms(SOURCE)
    everyone = StoreQuery(query="q", vector=None, model="m").values(SCOPE)
    bounded = msgspec.structs.replace(everyone, **bound)
    assert forms.of(everyone, approximate=False) is forms.exact
    assert forms.of(everyone, approximate=True) is forms.approximate
    assert forms.of(bounded, approximate=False) is forms.exact_of_users
    assert forms.of(bounded, approximate=True) is forms.approximate_of_users


def test_the_reader_matters_to_a_search_in_some_missions_only() -> None:
    query = StoreQuery(query="q", vector=None, model="m", reader="ana")
    assert query.values(SCOPE).reader is None
    assert msgspec.structs.replace(query, missions=["m"]).values(SCOPE).reader == "ana"


def test_an_unknown_value_is_refused_when_the_statement_is_made() -> None:
    with pytest.raises(AssertionError, match="mission"):
        search_forms(SOURCE._replace(within="mission_id = :mission"))


def test_a_key_is_of_the_tenant_and_the_scope() -> None:
    assert sql.scope_key("a", "mission:b") != sql.scope_key("a:mission", "b")
    assert re.fullmatch(r"[0-9a-f]{8}", sql.scope_key("a", "b"))
