"""Scrubjay beside its peers on one machine: `make bench DATA=folder`, SCALE=small for minutes."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.client import Client
from bench.quality.dataset import load as load_data
from bench.quality.dataset import main_categories
from bench.race import measuring, plot, report, usage
from bench.race.environments import RACERS, installed, versions
from bench.race.material import MODEL, Material, Question, Turn, write
from bench.race.measuring import FULL, SMALL, Scale
from bench.race.remote import Remote
from bench.race.servers import Field, started
from local.process import LocalError
from local.servers import temporary_folder


def main() -> None:
    arguments = _arguments()
    # Without a handler the servers and their folder would stay behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    scale = SMALL if os.environ.get("SCALE") == "small" else FULL
    try:
        environments = installed(
            arguments.environments.resolve(), [racer.peer for racer in RACERS if racer.peer]
        )
        with temporary_folder("scrubjay-race-") as folder, started(folder, environments) as field:
            material = _material(arguments.data, scale.groups)
            write(folder, material, field.addresses)
            figures = _run(folder, field, environments, material, scale, arguments.passes)
    except (LocalError, OSError) as error:
        sys.exit(str(error))
    if arguments.plot:
        arguments.plot.write_text(plot.svg(figures))
    _print(figures, [racer.name for racer in RACERS if racer.name not in figures], versions(environments))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.race", description=__doc__)
    parser.add_argument("data", type=Path, help="the data set's folder")
    parser.add_argument(
        "--environments", type=Path, default=Path(".race"), help="where the peers are installed"
    )
    parser.add_argument(
        "--passes",
        type=int,
        default=0,
        help="ask every question this often more, and print hit@10 after that",
    )
    parser.add_argument("--plot", type=Path, help="where to write an SVG of the main figures")
    return parser.parse_args()


def _material(folder: Path, groups: int) -> Material:
    """The turns of a data set and the questions that they answer."""
    rows, queries = load_data(folder, groups)
    chosen = main_categories({query.category for query in queries})
    turns = [
        Turn(
            id=row.id,
            group=row.group,
            session=row.body["session_id"],
            seq=row.body["seq"],
            at=row.body["occurred_at"],
            speaker=row.body["speaker"],
            content=row.body["content"],
            text=f"{row.body['speaker']}: {row.body['content']}",
        )
        for row in rows
    ]
    questions = [Question(group=q.group, text=q.text, gold=q.gold) for q in queries if q.category in chosen]
    return Material(turns=turns, questions=questions)


def _run(
    folder: Path, field: Field, environments: dict[str, Path], material: Material, scale: Scale, passes: int
) -> dict[str, dict[str, Any]]:
    asyncio.run(_warm(field.addresses["stub"], material))
    here = [racer for racer in RACERS if racer.peer is None or racer.peer in environments]
    remotes = [Remote(racer, folder, environments, field) for racer in here]
    figures: dict[str, dict[str, Any]] = {}
    for remote in remotes:
        print(f"loading and asking {remote.racer.name}", file=sys.stderr)
        found = measuring.load(remote) | measuring.quality(remote, material["questions"], passes)
        found["bytes_each"] = found["load_bytes"] // len(material["turns"])
        figures[remote.racer.name] = found
    for name, timed in measuring.race(remotes, len(material["questions"]), scale).items():
        figures[name] |= timed
    for remote in remotes:
        figures[remote.racer.name]["megabytes"] = usage.own_megabytes(remote.own)
        remote.end()
    return figures


async def _warm(stub: str, material: Material) -> None:
    """Lets the stub embed every text once, so that no system waits for the model."""
    texts = [turn["text"] for turn in material["turns"]] + [q["text"] for q in material["questions"]]
    async with Client(stub.removesuffix("/v1"), "none", connections=1) as client:
        for place in range(0, len(texts), 50):
            await client.post("/v1/embeddings", {"input": texts[place : place + 50], "model": MODEL})


def _print(figures: dict[str, dict[str, Any]], missing: Sequence[str], found: dict[str, str]) -> None:
    print(report.table(figures, list(missing)))
    peers = report.ratios(figures)
    holds = report.comparisons(peers)
    for name, held in holds.items():
        print(f"{'holds' if held else 'FAILS':6} {name}")
    ahead = not missing and all(holds.values())
    answer = {
        "ahead_of_all": ahead,
        "peers": peers,
        "versions": found,
        "missing": missing,
        "figures": figures,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
