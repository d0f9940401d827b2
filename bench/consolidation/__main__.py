"""Retrieval quality with and without what consolidation learns by rules: DATA=folder."""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

from bench.client import ApiError, leaves
from bench.cluster import cluster
from bench.consolidation import learning
from bench.quality.asking import measure
from bench.quality.dataset import load
from bench.quality.summary import GAIN, PLAIN
from local.process import LocalError

_SHOWN = ("r10", "ndcg10", "b1000", "b2000")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.consolidation", description=__doc__)
    parser.add_argument("data", help="the data set's folder")
    parser.add_argument(
        "--limit", type=int, default=int(os.environ.get("LIMIT") or 0), help="the first groups only (LIMIT)"
    )
    arguments = parser.parse_args()
    rows, queries = load(Path(arguments.data), arguments.limit)
    days = learning.days(rows, queries)
    print(f"days of events against answers of questions: {days}", flush=True)
    try:
        with cluster() as address:
            report = asyncio.run(measure(address, rows, queries, then=learning.write))
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    for conversation, counts in report["written"].items():
        print(conversation, counts)
    for arm, label in ((PLAIN, "turns alone"), ("fused", "with what they teach"), (GAIN, "gain")):
        print(f"{label:<22}" + "  ".join(f"{name} {report[arm][name]:.3f}" for name in _SHOWN))
    print(json.dumps({**report, "days": days}))


if __name__ == "__main__":
    main()
