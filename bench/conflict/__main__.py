"""Whether the newest of contradicting statements comes first: FACTS=130, SEED=1."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from bench.client import ApiError, leaves
from bench.cluster import cluster
from bench.conflict.asking import STORES, measure
from bench.conflict.statements import Material, generate
from local.process import LocalError

_FIGURES = ("newest_first", "older_absent_or_marked", "wrongly_superseded")
# A third of the facts use the templates that no rule was tuned on.
_HELD_OUT = 1 / 3


def main() -> None:
    arguments = _arguments()
    held_out = round(arguments.facts * _HELD_OUT)
    sets = {
        "tuned": generate(arguments.facts - held_out, seed=arguments.seed),
        "held_out": generate(held_out, seed=arguments.seed + 1, held_out=True),
    }
    try:
        with cluster() as address:
            reports = {name: asyncio.run(measure(address, material)) for name, material in sets.items()}
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    _print(sets, reports)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.conflict", description=__doc__)
    parser.add_argument("--facts", type=int, default=int(os.environ.get("FACTS") or 130))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or 1))
    return parser.parse_args()


def _print(sets: Mapping[str, Material], reports: Mapping[str, Any]) -> None:
    print(f"{'':<20}{'statements':>12}{'facts':>8}" + "".join(f"{name:>25}" for name in _FIGURES))
    for name, report in reports.items():
        counts = f"{len(sets[name].statements):>12}{len(sets[name].facts):>8}"
        for store in STORES:
            cells = "".join(f"{report[store][figure]:>25.3f}" for figure in _FIGURES)
            print(f"{f'{name}, {store}':<20}{counts}{cells}")
    facts = {name: len(material.facts) for name, material in sets.items()}
    together = {
        figure: {
            store: round(
                sum(facts[name] * report[store][figure] for name, report in reports.items())
                / sum(facts.values()),
                4,
            )
            for store in STORES
        }
        for figure in _FIGURES
    }
    statements = sum(len(material.statements) for material in sets.values())
    print(json.dumps({"statements": statements, **together, "by_set": reports}))


if __name__ == "__main__":
    main()
