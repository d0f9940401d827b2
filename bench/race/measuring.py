"""Loads every system, asks every question, and times searches and writes in interleaved rounds."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from bench.race import usage
from bench.race.material import Question
from bench.race.remote import Remote

Figures = dict[str, Any]
CALLERS = (1, 8, 32)
_WRITERS = {"one": 1, "eight": 8}
# The two ways into Scrubjay are two tenants of one cluster. Where another tenant has asked within ten seconds, the one
# that asks most takes turns; no other system has tenants, so each is measured as the only one that asks.
_FORGOTTEN_SECONDS = 11.0


class Scale(NamedTuple):
    """How much is measured. `searches` are by the number of callers; a timed run starts nothing after `seconds`."""

    groups: int
    rounds: int
    searches: tuple[int, ...]
    writes: dict[str, int]
    batches: int
    seconds: float


SMALL = Scale(2, 3, (60, 160, 220), {"one": 80, "eight": 25}, 3, 8.0)
FULL = Scale(0, 3, (170, 340, 480), {"one": 300, "eight": 100}, 10, 25.0)


def load(remote: Remote) -> Figures:
    before = usage.database_bytes(remote.dsn)
    answer = remote.do("load")
    return {"load_s": round(answer["wall"], 1), "load_bytes": usage.database_bytes(remote.dsn) - before}


def quality(remote: Remote, questions: Sequence[Question], passes: int) -> Figures:
    """hit@10 and recall@10 of the first pass; `hit10_after` of the last one, when every question was asked before."""
    asked = [remote.do("quality")["found"] for _ in range(passes + 1)]
    figures: Figures = {"hit10": hit(asked[0], questions), "recall10": recall(asked[0], questions)}
    if passes:
        figures["hit10_after"] = hit(asked[-1], questions)
    return figures


def hit(found: Sequence[Sequence[str]], questions: Sequence[Question]) -> float:
    return round(
        fmean(bool(set(ids[:10]) & set(q["gold"])) for ids, q in zip(found, questions, strict=True)), 4
    )


def recall(found: Sequence[Sequence[str]], questions: Sequence[Question]) -> float:
    shares = (
        len(set(ids[:10]) & set(q["gold"])) / len(set(q["gold"]))
        for ids, q in zip(found, questions, strict=True)
    )
    return round(fmean(shares), 4)


def race(remotes: Sequence[Remote], questions: int, scale: Scale) -> dict[str, Figures]:
    """Medians over the rounds. In each round another system begins, and none gets a text twice."""
    runs: dict[str, dict[str, list[Figures]]] = {remote.racer.name: {} for remote in remotes}
    for number in range(scale.rounds):
        for place in range(len(remotes)):
            remote = remotes[(place + number) % len(remotes)]
            print(f"round {number + 1} of {scale.rounds}: {remote.racer.name}", file=sys.stderr)
            if remote.racer.server == "scrubjay":
                time.sleep(_FORGOTTEN_SECONDS)
            for what, run in {
                **_searches(remote, number, questions, scale),
                **_writes(remote, number, scale),
            }.items():
                runs[remote.racer.name].setdefault(what, []).append(run)
    return {name: {what: _median(rows) for what, rows in of.items()} for name, of in runs.items()}


def _searches(remote: Remote, number: int, questions: int, scale: Scale) -> dict[str, Figures]:
    # The two ways into Scrubjay share a cache of vectors, so their marks differ.
    mark = 1 + 10 * number + (5 if remote.racer.name == "assemble" else 0)
    remote.do(
        "searches",
        callers=4,
        places=list(range(min(20, questions))),
        mark=mark + len(CALLERS),
        limit=scale.seconds,
    )
    figures, first = {}, 0
    for place, (callers, count) in enumerate(zip(CALLERS, scale.searches, strict=True)):
        places = [(first + n) * 617 % questions for n in range(count)]
        first += count
        run = remote.do("searches", callers=callers, places=places, mark=mark + place, limit=scale.seconds)
        figures[f"c{callers}"] = _figures(run)
    return figures


def _writes(remote: Remote, number: int, scale: Scale) -> dict[str, Figures]:
    mark, figures = 1 + 4 * number, {}
    for place, (name, writers) in enumerate(_WRITERS.items()):
        run = remote.do(
            "writes",
            writers=writers,
            count=scale.writes[name],
            space=f"timed-{number}-{name}",
            mark=mark + place,
            limit=scale.seconds,
        )
        figures[name] = _figures(run)
    space = f"timed-{number}-batch"
    run = remote.do("batches", count=scale.batches, size=100, space=space, mark=mark + 2, limit=scale.seconds)
    return {**figures, "batch": _figures(run)}


def _figures(run: Figures) -> Figures:
    ordered = sorted(run["ms"]) or [float("nan")]
    percentiles = {f"p{p}": ordered[min(len(ordered) - 1, p * len(ordered) // 100)] for p in (50, 95, 99)}
    postgres, own = run["cpu"]
    failed = run["failed"]
    return {
        **percentiles,
        "per_s": run["items"] / run["wall"],
        "postgres": postgres,
        "own": own,
        "failed": failed,
    }


def _median(rows: Sequence[Figures]) -> Figures:
    return {name: round(median(row[name] for row in rows), 2) for name in rows[0]}
