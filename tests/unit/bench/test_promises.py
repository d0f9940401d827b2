from __future__ import annotations

from typing import Any

from bench.promises import figures


def found(**changes: Any) -> dict[str, Any]:
    run = {"cpu_postgres": 2.0, "cpu_context": 6.0, "p95": 10.0}
    point = {"figures": {"copies assemble c1": run}}
    return {
        "hot": {"copy_over_sql": 0.2},
        "growth": {"seed": 1, "1": {}, "1000": {"points": [point], "p95_1m_over_10k": 1.1}},
        "assemble": {"p95_over_p50": 1.3, "c8_over_c1": 1.5, "c32_over_c8": 1.0},
        "cache": {
            "http_over_sql": 1.9,
            "sql_over_insert": 1.5,
            "hot_mission_over_naive": 2.5,
            "event_share": 0.05,
        },
        "resident": {"without": {"cache": 110.0, "context": 100.0}, "with": {"cache": 180.0}},
        "copies": {"owner_mb": 230.0, "most_over_budget": 0.99},
        **changes,
    }


def test_every_promise_is_printed_with_its_value_and_its_bar() -> None:
    lines = figures.table(found()).splitlines()
    assert len(lines) == len(figures.PROMISES)
    assert all(line.startswith("holds") for line in lines)
    assert "8.00  <= 10" in next(line for line in lines if " T2 " in line)
    assert figures.answer(found()) == {
        "holds": True,
        "T1": [0.2],
        "T2": [8.0],
        "T3": [1.3],
        "T4": [1.5, 1.0],
        "T5": [1.1],
        "T6": [1.9, 1.5],
        "T7": [2.5],
        "T8": [0.05],
        "T12": [110.0, 180.0, 230.0, 0.99],
    }


def test_a_figure_beyond_its_bar_fails() -> None:
    slow = found(
        hot={"copy_over_sql": 0.31}, assemble={"p95_over_p50": 1.3, "c8_over_c1": 1.3, "c32_over_c8": 1.0}
    )
    failed = [line for line in figures.table(slow).splitlines() if line.startswith("FAILS")]
    assert [line.split()[1] for line in failed] == ["T1", "T4"]
    assert figures.answer(slow)["holds"] is False
