"""Retrieval quality on a data set, through assemble: DATA=folder."""

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
from bench.quality import graph
from bench.quality.asking import measure
from bench.quality.dataset import load
from bench.quality.metrics import NAMES
from bench.quality.summary import ARMS, GAIN, PLAIN
from local.process import LocalError

_NO_RERANKER = {"context": {"SCRUBJAY_RERANKER": "none"}}


def main() -> None:
    arguments = _arguments()
    try:
        rows, queries = load(Path(arguments.data), arguments.limit)
        reranked = os.environ.get("SCRUBJAY_RERANKER", "none") != "none"
        with cluster(others=[_NO_RERANKER] if reranked and not arguments.graph else []) as address:
            report = asyncio.run(
                measure(
                    address,
                    rows,
                    queries,
                    as_documents=arguments.documents,
                    then=graph.write if arguments.graph else None,
                )
            )
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    _print(report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("data", nargs="?", default=os.environ.get("DATA"), help="the data set's folder")
    parser.add_argument(
        "--limit",
        type=int,
        default=int(os.environ.get("LIMIT") or 0),
        help="the first groups only (LIMIT)",
    )
    parser.add_argument(
        "--documents",
        action="store_true",
        default=bool(os.environ.get("DOCUMENTS")),
        help="each group is a user with documents, not a mission with entries (DOCUMENTS=1)",
    )
    parser.add_argument(
        "--graph",
        action="store_true",
        default=bool(os.environ.get("GRAPH")),
        help="ask again with facts in the graph, and compare (GRAPH=1)",
    )
    arguments = parser.parse_args()
    if arguments.graph and arguments.documents:
        parser.error("the graph is compared with entries: leave out --documents")
    if not arguments.data:
        parser.error("which data set? DATA=folder")
    return arguments


def _print(report: Mapping[str, Any]) -> None:
    print(f"{'':<28}{'questions':>9}  {'arm':<7}" + "".join(f"{name:>8}" for name in NAMES))
    for category, one in {"main categories": report, **report["by_category"]}.items():
        for arm in (arm for arm in (*ARMS, PLAIN, GAIN) if arm in one):
            label = (category, one["questions"]) if arm == ARMS[0] else ("", "")
            sign = "+" if arm == GAIN else ""
            cells = "".join(f"{one[arm][name]:{sign}8.3f}" if name in one[arm] else " " * 8 for name in NAMES)
            print(f"{label[0]:<28}{label[1]:>9}  {arm:<7}{cells}")
    if report["degraded_share"]:
        print(
            f"NOT VALID: {report['degraded_share']:.1%} of the answers stayed degraded and count as they came; "
            "measure again on a quieter machine"
        )
    print(json.dumps(report))


if __name__ == "__main__":
    main()
