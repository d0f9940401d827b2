from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from bench.growth import report, statements
from bench.growth.data import layout


def point(rows: int, p95: float) -> report.Point:
    run = {
        "p50": p95 / 2,
        "p95": p95,
        "per_s": 10.0,
        "cpu_postgres": 2.0,
        "cpu_valkey": 0.0,
        "cpu_cache": 3.0,
    }
    names = [f"{kind} {name} c{c}" for kind in ("copies", "sql") for name in NAMES for c in (1, 8)]
    figures: dict[str, Any] = dict.fromkeys(names, run)
    return report.Point(rows, 3, {**figures, "megabytes": {"cache": 90.0}, "bytes": 5_000 * rows}, {})


NAMES = ("assemble", "memories", "entries")


@pytest.mark.parametrize("tenants", [1, 100, 1_000])
def test_the_same_scopes_are_asked_at_every_size(tenants: int) -> None:
    small, large = layout(10_000, tenants), layout(200_000, tenants)
    assert small.asked == large.asked
    assert small.rows == 10_000
    assert 200_000 <= large.rows < 202_000
    assert large.tenants == min(tenants, len(large.places))
    assert all(200 <= size <= 5_000 for place in large.places for size in (place.memories, place.entries))


def test_a_ratio_compares_the_largest_with_the_smallest() -> None:
    found = report.ratios([point(10_000, 20.0), point(100_000, 99.0), point(1_000_000, 25.0)])
    assert found["copies assemble c1"] == {"p50": 1.25, "p95": 1.25}


def test_a_table_has_a_column_for_each_size() -> None:
    table = report.table([point(10_000, 20.0), point(1_000_000, 25.0)])
    assert "| copies assemble c1: p50 / p95 ms | 10.0 / 20.0 | 12.5 / 25.0 |" in table
    assert "| bytes an item on disk | 5,000 | 5,000 |" in table


def test_a_plot_is_a_picture_with_a_line_for_each_percentile() -> None:
    picture = ElementTree.fromstring(report.svg([point(10_000, 20.0), point(1_000_000, 25.0)], "of <a> & b"))
    lines = picture.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2 * 4
    assert "of <a> & b" in "".join(picture.itertext())


def test_a_statement_that_reads_more_pages_is_named() -> None:
    before = {"select  a": 40.0, "select b": 40.0, "select c": 4.0, "select d": 9.0}
    after = {"select  a": 900.0, "select b": 50.0, "select c": 12.0, "select e": 9_000.0}
    assert statements.grown(before, after) == [statements.Grown("select a", 40.0, 900.0)]
