"""What grows with the number of memories: `make bench-growth`, SCALE=small for minutes.

For 1, 100 and 1,000 tenants, clusters of 10,000, 100,000 and 1,000,000 items stand side by side, and each is asked in
turn about the same scopes of 200 to 5,000 items. `p95_1m_over_10k` compares the largest with the smallest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.assemble.cluster import Cluster
from bench.growth import loading, measuring, report, statements
from bench.growth.data import SEED, Pool, layout, pool
from local.process import LocalError
from local.servers import temporary_folder
from shared.embeddings.english import load_model
from shared.embeddings.local import LocalEmbedder

_SIZES = (10_000, 100_000, 1_000_000)
_TENANTS = (1, 100, 1_000)
_ROUNDS, _SECONDS = 3, 3.0


def main() -> None:
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    made = asyncio.run(_pool())
    result: dict[str, Any] = {"seed": SEED}
    for tenants in arguments.tenants:
        try:
            points = _measure(arguments.sizes, tenants, made)
        except (LocalError, OSError) as error:
            sys.exit(str(error))
        title = f"Items in at most {tenants} tenant{'s' * (tenants > 1)}"
        result[str(tenants)] = _printed(points, title)
        if arguments.plot:
            arguments.plot.mkdir(parents=True, exist_ok=True)
            picture = report.svg(points, f"{title}: ms, p50 and p95 (dashed)")
            (arguments.plot / f"growth-{tenants}.svg").write_text(picture)
    print(json.dumps(result))


def _printed(points: Sequence[report.Point], title: str) -> dict[str, Any]:
    """What was printed, for scripts."""
    print(f"\n{title}\n\n{report.table(points)}\n")
    found = report.ratios(points)
    for name, of in found.items():
        print(f"{name:24} largest / smallest: p50 {of['p50']}, p95 {of['p95']}")
    grown = statements.grown(points[0].pages, points[-1].pages)
    for each in grown:
        print(f"reads {each.before:,.1f} -> {each.after:,.1f} pages: {each.statement[:120]}")
    return {
        "p95_1m_over_10k": found["copies assemble c1"]["p95"],
        "ratios": found,
        "grown": [each._asdict() for each in grown],
        "points": [{"rows": p.rows, "tenants": p.tenants, "figures": p.figures} for p in points],
    }


def _arguments() -> argparse.Namespace:
    small = os.environ.get("SCALE") == "small"
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES[:2] if small else _SIZES)
    parser.add_argument("--tenants", type=int, nargs="+", default=_TENANTS[:2] if small else _TENANTS)
    parser.add_argument("--plot", type=Path, help="the folder for an SVG of each number of tenants")
    return parser.parse_args()


async def _pool() -> Pool:
    embedder = LocalEmbedder(load_model())
    try:
        return await pool(embedder)
    finally:
        await embedder.close()


def _measure(sizes: list[int], tenants: int, made: Pool) -> list[report.Point]:
    with ExitStack() as cleanup:
        systems, stored = [], []
        for size in sizes:
            folder = cleanup.enter_context(temporary_folder("scrubjay-growth-"))
            cluster, laid_out = Cluster(folder, cleanup), layout(size, tenants)
            print(f"loading {laid_out.rows:,} items into {laid_out.tenants} tenants", file=sys.stderr)
            stored.append(asyncio.run(loading.load(cluster.database.admin, laid_out, made)))
            asyncio.run(statements.start(cluster.database.admin))
            urls = {kind: cluster.start(kind, settings) for kind, settings in measuring.KINDS.items()}
            systems.append(asyncio.run(measuring.asked(cluster, laid_out, urls)))
        figures = measuring.measure(systems, _ROUNDS, _SECONDS)
        pages = [asyncio.run(statements.pages(system.cluster.database.admin)) for system in systems]
    return [
        report.Point(system.layout.rows, system.layout.tenants, {**found, "bytes": taken}, read)
        for system, found, taken, read in zip(systems, figures, stored, pages, strict=True)
    ]


if __name__ == "__main__":
    main()
