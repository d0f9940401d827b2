"""What the policy of paging keeps in a context: DATA=folder of transcripts, BUDGET=16000, PLOT=file.svg."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.paging import events
from bench.paging.events import Event
from bench.paging.measuring import Figures, measure
from bench.paging.picture import svg

_GENERATED = 20


def main() -> None:
    arguments = _arguments()
    files = sorted(Path(arguments.data).glob("*.jsonl"))
    if not files:
        sys.exit(f"{arguments.data} holds no transcript: name a folder of *.jsonl")
    real = [events.read(path) for path in files]
    prolonged = [events.prolonged(real, seed, arguments.tokens) for seed in range(arguments.sessions)]
    reports = {
        "real": _figures(real, arguments.budget),
        "prolonged": _figures(prolonged, arguments.budget),
    }
    if arguments.plot:
        samples = measure(prolonged[0], arguments.budget, Figures())
        title = f"tokens in the context, turn by turn, at a budget of {arguments.budget}"
        Path(arguments.plot).write_text(svg(samples, arguments.budget, title))
    _print(reports)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.paging", description=__doc__)
    parser.add_argument("data", help="a folder of transcripts, one event a line")
    parser.add_argument("--budget", type=int, default=int(os.environ.get("BUDGET") or 16_000))
    parser.add_argument("--tokens", type=int, default=150_000, help="the least tokens of a prolonged session")
    parser.add_argument("--sessions", type=int, default=_GENERATED)
    parser.add_argument(
        "--plot", default=os.environ.get("PLOT"), help="a file for the first prolonged session"
    )
    return parser.parse_args()


def _figures(sessions: Sequence[Sequence[Event]], budget: int) -> Mapping[str, float]:
    sums = Figures()
    for session in sessions:
        measure(session, budget, sums)
    return figures_of(sums)


def figures_of(sums: Figures) -> Mapping[str, float]:
    return {
        "resident_l0_l1": _share(sums.resident_l0_l1, sums.again),
        "resident_l0": _share(sums.resident_l0, sums.again),
        "lru": _share(sums.lru, sums.again),
        "context_share_end": _share(sums.context, sums.unpaged),
        "cache_hits": _share(sums.unchanged, sums.sent_before),
        "batches_per_session": round(sums.batches / sums.sessions, 2),
        "turns_per_session": round(sums.turns / sums.sessions, 1),
        "faults": sums.faults,
        "transitions": sums.transitions,
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _print(reports: Mapping[str, Mapping[str, float]]) -> None:
    print(f"{'':<22}" + "".join(f"{name:>12}" for name in reports))
    for figure in reports["real"]:
        print(f"{figure:<22}" + "".join(f"{report[figure]:>12}" for report in reports.values()))
    print(json.dumps(reports))


if __name__ == "__main__":
    main()
