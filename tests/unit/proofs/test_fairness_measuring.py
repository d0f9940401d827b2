"""The fairness proof measures again what the host disturbed, and forgets no failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from proofs.fairness.measuring import Measuring, Plan, Ticks, busy, stolen, ticks
from proofs.fairness.victim import Seen, Victim


class Disturbed:
    """A victim on a host that takes another share of the time each time it runs."""

    def __init__(self, shares: list[float]) -> None:
        self._shares, self.ticks, self.runs = shares, Ticks(0, 0, 0), 0

    async def run(self, seconds: float) -> Seen:
        share = self._shares[self.runs]
        self.runs += 1
        self.ticks = Ticks(self.ticks.passed + 100, self.ticks.stolen + round(100 * share), self.ticks.worked)
        return Seen([float(self.runs)], [f"failure {self.runs}"])


def test_the_stolen_share_is_that_of_all_time_that_passed(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  163 82 19 375 6 0 59 66 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    assert ticks(stat) == Ticks(770, 66, 323)
    before = Ticks(770, 66, 323)
    assert stolen(before, Ticks(970, 69, 323)) == 3 / 200
    assert stolen(before, before) == 0.0


def test_processors_are_busy_with_what_runs_here() -> None:
    before = Ticks(770, 66, 323)
    assert busy(before, Ticks(970, 69, 373)) == 50 / 200
    assert busy(before, before) == 0.0


def test_a_system_that_does_not_tell_what_is_stolen_has_lost_none(tmp_path: Path) -> None:
    assert ticks(tmp_path / "stat") == Ticks(0, 0, 0)


@pytest.mark.parametrize(
    ("shares", "tries", "kept", "again"),
    [
        ([0.0], 3, 1.0, 0),
        ([0.2, 0.0], 3, 2.0, 1),
        # The best of what there was, when the host is never quiet.
        ([0.3, 0.1, 0.2], 3, 2.0, 2),
        ([0.3], 1, 1.0, 0),
    ],
)
async def test_what_the_host_disturbed_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, shares: list[float], tries: int, kept: float, again: int
) -> None:
    victim = Disturbed(shares)
    monkeypatch.setattr("proofs.fairness.measuring.ticks", lambda: victim.ticks)
    measuring = Measuring(cast("Any", None), "", Plan(beside=14.0, alone=4.0, tries=tries))
    seen = await measuring.undisturbed(cast("Victim", victim), 4.0)
    assert seen.seconds == [kept]
    assert seen.failures == [f"failure {number}" for number in range(1, again + 2)]
    assert measuring.repeated == again
    assert measuring.stolen == pytest.approx(min(shares))
