from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.race import plot, report
from bench.race.environments import RACERS, installed, requirements
from bench.race.measuring import hit, recall
from bench.race.worker import timed
from local.process import LocalError

RUN = {"p50": 10.0, "p95": 12.0, "p99": 13.0, "per_s": 100.0, "postgres": 1.0, "own": 2.0}
KINDS = ("c1", "c8", "c32", "one", "eight", "batch")


def figures(**more: Any) -> dict[str, Any]:
    runs = {kind: dict(RUN) for kind in KINDS}
    return {"hit10": 0.6, "recall10": 0.5, "bytes_each": 4_000, "megabytes": 90.0, **runs, **more}


def faster(factor: float) -> dict[str, Any]:
    return {kind: {**RUN, "p50": RUN["p50"] / factor, "per_s": RUN["per_s"] * factor} for kind in KINDS}


def holds(ours: dict[str, Any], peer: str = "mem0") -> dict[str, bool]:
    return report.comparisons(report.ratios({"assemble": ours, peer: figures()}))


def test_every_comparison_holds_for_a_system_that_is_far_ahead() -> None:
    ahead = holds(figures(hit10=0.8, **faster(3)))
    assert len(ahead) == 9
    assert all(ahead.values())


def test_equal_systems_are_not_ahead() -> None:
    failed = {name for name, held in holds(figures()).items() if not held}
    assert {"mem0: hit@10", "mem0: searches/s c8", "mem0: writes batch", "mem0: writes eight"} <= failed
    assert "mem0: writes one" not in failed


def test_only_the_in_process_library_may_answer_a_little_sooner() -> None:
    slower = figures(hit10=0.8, **faster(1 / 1.1))
    assert holds(slower, "LangGraph store")["LangGraph store: p50 c1"]
    assert not holds(slower, "mem0")["mem0: p50 c1"]


def test_a_peer_that_cannot_be_installed_stands_in_the_table_as_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(folder: Path, peer: str) -> None:
        raise LocalError("no such version")

    monkeypatch.setattr("bench.race.environments._install", fail)
    assert installed(tmp_path, ["mem0"]) == {}
    assert "mem0 is missing: no such version" in capsys.readouterr().err
    header, _, *rows = report.table({"assemble": figures()}, ["mem0"]).splitlines()
    assert header == "|  | assemble | mem0 |"
    assert all(row.endswith("| missing |") for row in rows)


def test_every_peer_has_a_pinned_version() -> None:
    for peer in {racer.peer for racer in RACERS if racer.peer}:
        assert "==" in requirements(peer)[0]


def test_the_plot_has_a_bar_for_each_system_in_each_panel() -> None:
    drawn = ElementTree.fromstring(plot.svg({"assemble": figures(), "mem0": figures()}))
    assert len(drawn.findall("{*}rect")) == 1 + 4 * 2


def test_hit_and_recall_count_the_first_ten() -> None:
    asked: list[Any] = [{"gold": ["a", "b"]}, {"gold": ["c"]}]
    found = [["x", "a"], [*"0123456789", "c"]]
    assert (hit(found, asked), recall(found, asked)) == (0.5, 0.25)


def test_lanes_share_their_jobs_and_failures_are_counted() -> None:
    done: list[int] = []

    async def job(number: int) -> None:
        if number == 3:
            raise ValueError(number)
        done.append(number)

    jobs = iter([lambda n=n: job(n) for n in range(6)])
    answer = asyncio.run(timed([jobs, jobs]))
    assert sorted(done) == [0, 1, 2, 4, 5]
    assert (len(answer["ms"]), answer["failed"]) == (5, 1)
