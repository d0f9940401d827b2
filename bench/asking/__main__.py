"""Micro-faults through the API: DATA=folder of transcripts, and this repository's own files as one more session.

Each transcript is a session: what its tools returned is admitted, turn by turn, at a budget that it does not fit into.
Then questions are asked whose answers are known. A share of tokens is that of the answers over that of the objects
that hold them. Questions about the other sessions have no answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.asking.questions import Question, definitions, errors
from bench.client import Client
from bench.cluster import cluster
from bench.paging import events
from bench.paging.events import Event, is_read

_ROOT = Path(__file__).parents[2]
_MOST = 60
_STRANGE = 20
_LONGEST_KEY = 1_000


class Read(NamedTuple):
    """What one session read, in turns."""

    name: str
    turns: Sequence[Sequence[Mapping[str, Any]]]
    texts: Sequence[str]
    """The newest of each source."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.asking", description=__doc__)
    parser.add_argument("data", nargs="?", help="a folder of transcripts, one event a line")
    parser.add_argument("--budget", type=int, default=16_000)
    parser.add_argument("--most", type=int, default=_MOST, help="questions of each kind in a session")
    arguments = parser.parse_args()
    reads = [_transcript(path) for path in sorted(Path(arguments.data or "/nowhere").glob("*.jsonl"))]
    with cluster() as address:
        asyncio.run(_measure([*reads, _repository()], address.url, address.token, arguments))


def _transcript(path: Path) -> Read:
    turns = [[_body(event) for event in turn if _holds(event)] for turn in events.turns(events.read(path))]
    return _read(path.stem, turns)


def _holds(event: Event) -> bool:
    return event.kind == "tool_result" and bool(event.text.strip())


def _body(event: Event) -> Mapping[str, Any]:
    kind = "file_context" if is_read(event) else "tool_result"
    key = event.key[:_LONGEST_KEY] if event.key else None
    return {"content": event.text, "object_type": kind, "source_tool": event.tool, "source_key": key}


def _repository() -> Read:
    files = sorted(path for top in ("services", "shared") for path in (_ROOT / top).rglob("*.py"))[::4]
    bodies = [
        {"content": text, "object_type": "file_context", "source_key": str(path.relative_to(_ROOT))}
        for path in files
        if (text := path.read_text()).strip()
    ]
    return _read("this repository", [[body] for body in bodies])


def _read(name: str, turns: Sequence[Sequence[Mapping[str, Any]]]) -> Read:
    bodies = [body for turn in turns for body in turn]
    newest = {body.get("source_key") or place: body["content"] for place, body in enumerate(bodies)}
    return Read(name, turns, list(newest.values()))


async def _measure(reads: Sequence[Read], url: str, token: str, arguments: argparse.Namespace) -> None:
    asked = {
        read.name: [
            *definitions(read.texts, 1, arguments.most),
            *errors(read.texts, 1, arguments.most),
        ]
        for read in reads
    }
    sums: Counter[str] = Counter()
    print(f"{'':<20}{'asked':>8}{'right':>8}{'of restore':>12}{'strange':>9}{'null':>6}")
    async with Client(url, token) as client:
        for place, read in enumerate(reads):
            path = await _played(client, read, arguments.budget)
            own = Counter[str]()
            for question in asked[read.name]:
                own += await _ask(client, path, question)
            text = "\n".join(read.texts).lower()
            other = asked[reads[place - 1].name]
            strange = [each for each in other if each.text.split()[2].lower() not in text][:_STRANGE]
            for question in strange:
                answer = await client.call("POST", f"{path}/query", {"question": question.text})
                own += Counter(strange=1, null=int(answer["answer"] is None))
            _print(read.name, own)
            sums += own
    _print("all", sums)
    print(json.dumps({**_figures(sums), **sums}))


async def _played(client: Client, read: Read, budget: int) -> str:
    made = await client.call(
        "POST", "/api/sessions", {"agent_name": "scout", "config": {"token_budget": budget}}
    )
    path = f"/api/sessions/{made['data']['id']}"
    for turn in read.turns:
        for body in turn:
            await client.call("POST", f"{path}/objects", body)
        await client.call("POST", f"{path}/turns", {})
    return path


async def _ask(client: Client, path: str, question: Question) -> Counter[str]:
    answer = await client.call("POST", f"{path}/query", {"question": question.text})
    lines = {line.strip() for line in (answer["answer"] or "").splitlines()}
    right = not question.answers.isdisjoint(lines)
    return Counter(
        {
            "asked": 1,
            "right": right,
            f"asked {question.kind}": 1,
            f"right {question.kind}": right,
            "answer_tokens": answer["answer_tokens"],
            "restore_tokens": answer["answer_tokens"] + answer["avoided_tokens"],
        }
    )


def _figures(sums: Counter[str]) -> Mapping[str, float]:
    return {
        "right_share": round(sums["right"] / max(1, sums["asked"]), 4),
        "token_share": round(sums["answer_tokens"] / max(1, sums["restore_tokens"]), 4),
        "null_share": round(sums["null"] / max(1, sums["strange"]), 4),
    }


def _print(name: str, sums: Counter[str]) -> None:
    figures = _figures(sums)
    print(
        f"{name:<20}{sums['asked']:>8}{figures['right_share']:>8.2f}{figures['token_share']:>12.3f}"
        f"{sums['strange']:>9}{figures['null_share']:>6.2f}"
    )


if __name__ == "__main__":
    main()
