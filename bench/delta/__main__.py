"""What delta assembly saves: DATA=folder of transcripts, and as many sessions made by chance."""

import argparse
import asyncio
import json
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.client import ApiError, Client, leaves
from bench.cluster import Address, cluster
from bench.delta import generated
from bench.delta.playing import Played, play, steps_of
from bench.demo.__main__ import cut
from bench.demo.transcript import load
from local.process import LocalError

BUDGET = 1000
GENERATED = 20


def main() -> None:
    arguments = _arguments()
    try:
        with cluster() as address:
            played = asyncio.run(_play(address, arguments))
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    _table(played)
    print(json.dumps({"delta": {"seed": arguments.seed, **_report(played)}}))
    sys.exit(any(one.delta.repeated for one in played))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.delta", description=__doc__)
    data = os.environ.get("DATA")
    parser.add_argument(
        "data", nargs="?", type=Path, default=data and Path(data), help="a folder of transcripts"
    )
    parser.add_argument("--seed", type=int, default=46, help="of the generated sessions")
    arguments = parser.parse_args()
    if not arguments.data:
        parser.error("which transcripts? DATA=folder")
    return arguments


async def _play(address: Address, arguments: argparse.Namespace) -> list[Played]:
    run = secrets.token_hex(3)
    played = []
    async with Client(address.url, address.token) as client:
        for path in sorted(arguments.data.glob("*.jsonl")):
            at = cut(load(path), BUDGET)
            mission = f"delta-{path.stem[:80]}-{run}"
            steps = steps_of(at.past, at.future, at.questions, mission)
            played.append(await play(client, path.stem, mission, steps, at.budget))
        for number in range(GENERATED):
            mission = f"delta-generated-{number}-{run}"
            steps = generated.steps(mission, arguments.seed + number)
            played.append(await play(client, f"generated {number}", mission, steps, BUDGET))
    return played


def _report(played: Sequence[Played]) -> dict[str, Any]:
    transcripts = [one for one in played if not one.name.startswith("generated")]
    return {
        "transcripts": _sums(transcripts),
        "generated": _sums([one for one in played if one not in transcripts]),
    }


def _sums(played: Sequence[Played]) -> dict[str, Any]:
    questions = sum(one.questions for one in played) or 1
    return {
        "sessions": len(played),
        "questions": questions,
        "whole_tokens": sum(one.whole.tokens for one in played),
        "delta_tokens": sum(one.delta.tokens for one in played),
        "whole_found": round(sum(one.whole.found for one in played) / questions, 4),
        "delta_found": round(sum(one.delta.found for one in played) / questions, 4),
        "repeated": sum(one.delta.repeated for one in played),
        "corrections": sum(one.delta.corrections for one in played),
    }


def _table(played: Sequence[Played]) -> None:
    heads = ("questions", "whole", "delta", "found", "found", "repeated", "told")
    print(f"{'session':<20}" + "".join(f"{head:>10}" for head in heads))
    for one in played:
        cells = (one.questions, one.whole.tokens, one.delta.tokens, one.whole.found, one.delta.found)
        more = (one.delta.repeated, one.delta.corrections)
        print(f"{one.name:<20}" + "".join(f"{cell:>10}" for cell in (*cells, *more)))


if __name__ == "__main__":
    main()
