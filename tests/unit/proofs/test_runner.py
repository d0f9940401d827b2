"""A promise is kept only where nothing was violated and its control failed."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from local.database import ROOT
from proofs import __main__ as runner
from proofs.__main__ import PROMISES, Promise, figures_of, is_kept, run_all, table

KEPT: dict[str, Any] = {
    "promise": "P1",
    "n": 10,
    "faults": 2,
    "violations": 0,
    "control_violations": 3,
    "seconds": 1,
    "seed": 1,
    "ended": 0,
}


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"violations": 1}, False),
        ({"control_violations": 0}, False),
        ({"control_violations": None}, False),
        ({"violations": None}, False),
        ({"ended": 2}, False),
    ],
)
def test_what_is_kept(change: dict[str, Any], kept: bool) -> None:
    result = KEPT | change
    assert is_kept(result) is kept
    assert ("NOT KEPT" in table([result])) is not kept


def test_figures_are_those_of_the_last_line() -> None:
    assert figures_of("installing\n" + json.dumps({"P1": {"n": 3}}) + "\n") == {"n": 3}
    for output in ("", "Traceback", "{}", '{"P1": 3}', "[1]"):
        assert figures_of(output) is None


@pytest.mark.parametrize("short", [False, True])
def test_only_what_is_quiet_runs_beside_what_judges_times(
    monkeypatch: pytest.MonkeyPatch, short: bool
) -> None:
    promises = [
        Promise(str(n), "target", "what", times=n % 3 == 0, idle=n == 0, quiet=n % 3 == 1) for n in range(9)
    ]
    running: list[Promise] = []
    seen: list[list[Promise]] = []

    def run(promise: Promise, *, short: bool) -> dict[str, Any]:
        running.append(promise)
        seen.append([*running])
        time.sleep(0.02)
        running.remove(promise)
        return KEPT | {"promise": promise.name}

    monkeypatch.setattr(runner, "run", run)
    assert [one["promise"] for one in run_all(promises, short=short)] == [one.name for one in promises]
    assert max(map(len, seen)) == (3 if short else 2)
    beside = [together for together in seen if any(one.times for one in together)]
    assert all(sum(one.times for one in together) == 1 for together in beside)
    assert any(len(together) > 1 for together in beside) == short
    assert all(one.times or one.quiet for together in beside for one in together)
    assert [len(together) for together in seen if any(one.idle for one in together)] == [1]


@pytest.mark.parametrize("short", [False, True])
def test_in_full_nothing_runs_beside_a_heavy_one(monkeypatch: pytest.MonkeyPatch, short: bool) -> None:
    promises = [Promise(str(n), "target", "what", heavy=n < 4) for n in range(9)]
    running: list[Promise] = []
    beside: list[int] = []

    def run(promise: Promise, *, short: bool) -> dict[str, Any]:
        running.append(promise)
        if any(one.heavy for one in running):
            beside.append(len(running))
        time.sleep(0.02)
        running.remove(promise)
        return KEPT | {"promise": promise.name}

    monkeypatch.setattr(runner, "run", run)
    assert [one["promise"] for one in run_all(promises, short=short)] == [one.name for one in promises]
    assert (max(beside) == 1) != short


def test_when_it_is_stopped_nothing_that_waits_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[str] = []

    def run(promise: Promise, *, short: bool) -> dict[str, Any]:
        began.append(promise.name)
        if promise.name == "0":
            raise KeyboardInterrupt
        time.sleep(0.2)
        return KEPT

    monkeypatch.setattr(runner, "run", run)
    with pytest.raises(KeyboardInterrupt):
        run_all([Promise(str(n), "target", "what") for n in range(9)], short=False)
    assert len(began) < 5


@pytest.mark.parametrize(
    ("first", "times", "short", "runs"),
    [
        ({"violations": 1}, False, True, 1),
        ({"violations": 1}, True, True, 2),
        ({"violations": 1}, True, False, 1),
        ({"violations": None, "ended": 2}, False, True, 2),
        ({"control_violations": 0, "ended": 1}, False, True, 2),
        ({}, True, True, 1),
    ],
)
def test_in_short_what_a_busy_machine_can_have_broken_runs_once_more(
    monkeypatch: pytest.MonkeyPatch, first: dict[str, Any], times: bool, short: bool, runs: int
) -> None:
    results = [KEPT | first, KEPT]
    ran: list[dict[str, Any]] = []

    def run(_: Promise, *, short: bool) -> dict[str, Any]:
        ran.append(results[len(ran)])
        return ran[-1]

    monkeypatch.setattr(runner, "run", run)
    result = run_all([Promise("P1", "target", "what", times=times)], short=short)
    assert (len(ran), result) == (runs, ran[-1:])


def test_every_target_exists_and_users_can_read_of_it() -> None:
    targets = set(re.findall(r"^([a-z./-]+):", (ROOT / "Makefile").read_text(), re.M))
    page = (ROOT / "docs/promises.md").read_text()
    for promise in PROMISES:
        assert {promise.target, *promise.installs} <= targets
        assert f"`make {promise.target}`" in page
