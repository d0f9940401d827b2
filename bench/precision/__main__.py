"""Precision and recall of blocks, through assemble: cases written for it, then the data sets DATA="folder folder"."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.client import ApiError, leaves
from bench.cluster import cluster
from bench.precision import cases
from bench.precision.change import Change
from bench.precision.measuring import BUDGETS, WAYS, measure_cases, measure_set
from bench.quality.dataset import load
from local.process import LocalError

_FIGURES = ("precision", "recall", "tokens")


def main() -> None:
    arguments = _arguments()
    try:
        sets = {folder.name: load(folder, arguments.limit) for folder in arguments.data}
        with cluster() as address:
            report = {"cases": asyncio.run(measure_cases(address, *cases.load()))}
            for name, (rows, queries) in sets.items():
                report[name] = asyncio.run(measure_set(address, rows, queries, arguments.sample))
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    print(*table(report), sep="\n")
    print(json.dumps(report))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.precision", description=__doc__)
    given = [Path(folder) for folder in os.environ.get("DATA", "").split()]
    parser.add_argument("data", nargs="*", type=Path, default=given, help="folders of data sets")
    parser.add_argument("--limit", type=int, default=0, help="the first groups of each data set only")
    parser.add_argument("--sample", type=int, default=200, help="about so many questions of each data set")
    return parser.parse_args()


def table(report: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    heads = [f"{name} b{tokens}" for tokens in BUDGETS for name in _FIGURES]
    yield f"{'':<30}{'':<8}" + "".join(f"{head:>18}" for head in [*heads, "silent or flagged"])
    for name, found in report.items():
        for category, figures in {name: found, **found["by_category"]}.items():
            yield from _rows(category if category == name else f"  {category}", figures)
    for name, found in report.items():
        yield from _changed(name, found["change"])


def _rows(label: str, figures: Mapping[str, Any]) -> Iterator[str]:
    for way in WAYS:
        yield f"{label if way == WAYS[0] else '':<30}{way:<8}" + "".join(_cells(figures[way]))


def _changed(name: str, changes: Mapping[str, Mapping[str, Change | None]]) -> Iterator[str]:
    for block, change in changes.items():
        precision, recall = change["precision"], change["recall"]
        if precision is not None and recall is not None:
            yield (
                f"{name}, {block}: precision x{precision.value} ({precision.low} to {precision.high}),"
                f" recall {recall.value} points ({recall.low} to {recall.high}), 95 % intervals"
            )


def _cells(figures: Mapping[str, Any]) -> Sequence[str]:
    cells = [
        f"{figures[name][f'b{tokens}']:>18.3f}" if name in figures else " " * 18
        for tokens in BUDGETS
        for name in _FIGURES
    ]
    quiet = figures.get("silent_or_flagged")
    return [*cells, " " * 18 if quiet is None else f"{quiet:>18.3f}"]


if __name__ == "__main__":
    main()
