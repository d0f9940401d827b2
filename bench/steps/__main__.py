"""How well assemble finds the steps of coding agents, on a folder of transcripts: DATA=folder."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.client import ApiError, leaves
from bench.cluster import cluster
from bench.steps.asking import measure
from bench.steps.sessions import load
from local.process import LocalError

SEED = 16


def main() -> None:
    arguments = _arguments()
    try:
        with cluster() as address:
            report = asyncio.run(measure(address, load(arguments.data), arguments.seed))
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    _print(report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.steps", description=__doc__)
    data = os.environ.get("DATA")
    parser.add_argument(
        "data", nargs="?", type=Path, default=data and Path(data), help="a folder of transcripts"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="of the steps that are asked verbatim")
    arguments = parser.parse_args()
    if not arguments.data:
        parser.error("which transcripts? DATA=folder")
    return arguments


def _print(report: Mapping[str, Any]) -> None:
    print(f"{'task of':<24}{'steps':>6}{'gold':>6}{'r10':>8}{'ndcg10':>8}")
    for title, key in (("", "by_session"), (" in project", "by_session_in_project")):
        for name, one in report[key].items():
            cells = f"{one['steps']:>6}{one['gold']:>6}{one['r10']:>8.3f}{one['ndcg10']:>8.3f}"
            print(f"{name + title:<24}{cells}")
    for kind, share in report["by_probe"].items():
        print(f"{kind + ', verbatim':<24}{'hit1':>12}{share:>8.3f}")
    print(json.dumps(report))


if __name__ == "__main__":
    main()
