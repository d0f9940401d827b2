"""Records come out of any JSON one by one, wherever the reads of the file end."""

import io
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay.importing import json_records
from scrubjay.importing.items import Refused
from scrubjay.importing.json_records import Record, records

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


def read(text: str, *lists: str) -> list[Any]:
    """The values of records, and the places of what was refused."""
    found = records(io.StringIO(text), lists)
    return [each.value if isinstance(each, Record) else each.place for each in found]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(OBJECTS, max_size=3), st.integers(1, 40), st.booleans(), st.sampled_from([None, 2]))
def test_every_form_gives_the_same_records(
    values: list[dict[str, Any]], chunk: int, escaped: bool, indent: int | None
) -> None:
    def dumped(value: Any) -> str:
        return json.dumps(value, ensure_ascii=escaped, indent=indent)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "_CHUNK", chunk)
        assert read(dumped(values)) == values
        assert read("\n".join(map(dumped, values))) == values
        assert read(dumped({"total": 3, "results": values, "next": None}), "results") == values


def test_a_line_that_cannot_be_read_costs_itself() -> None:
    text = '{"a": 1}\n{"a": "cut\n{"a": 2}\nnonsense\n{"a": 3,\n{"a": 4}\n{"a": '
    assert read(text, "results") == [{"a": 1}, "line 2", {"a": 2}, "line 4", "line 5", {"a": 4}, "line 7"]
    assert read(text) == [{"a": 1}, "line 2", {"a": 2}, "line 4", "line 5", {"a": 4}, "line 7"]


def test_within_a_list_it_costs_the_rest() -> None:
    found = list(
        records(io.StringIO('{"results": [{"a": 1},\n {"a": tru},\n {"a": 2}]}\n{"a": 3}'), ("results",))
    )
    assert isinstance(found[0], Record)
    (refused,) = found[1:]
    assert isinstance(refused, Refused)
    assert (refused.place, refused.reason.endswith("the rest of the file was not read")) == ("line 2", True)


def test_a_record_has_the_place_where_it_begins_and_the_name_of_its_list() -> None:
    text = '{\n "edges": [\n  {"a": 1},\n\n  {"a": 2}],\n "nodes": [3]}'
    found = records(io.StringIO(text), ("edges", "nodes"))
    assert [(each.place, each.list) for each in found if isinstance(each, Record)] == [
        ("line 3, edges[0]", "edges"),
        ("line 5, edges[1]", "edges"),
        ("line 6, nodes[0]", "nodes"),
    ]


def test_hostile_values_are_refused_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "_LONGEST", 1_000)
    monkeypatch.setattr(json_records, "_CHUNK", 100)
    deep = "[" * 100_000 + "\n"
    for hostile in (f'{{"a": {"9" * 5_000}}}\n', f'"{"x" * 5_000}"\n', f'{{"a": {deep}'):
        assert read(f'{hostile}{{"b": 1}}')[-1] == {"b": 1}
