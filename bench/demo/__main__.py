"""`make demo SESSION=file`: an agent's session through the public API, and what its rest needs of its past.

A session is played up to a turn t as an agent would write it down. Then the questions that the later turns put to
the past are asked, one assemble each, and answers are judged by whether the block holds the expected text, beside
whether the last tokens before t, as many as the block has, hold it. Then the rest is played, and lessons committed.
"""

import argparse
import asyncio
import json
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench.client import ApiError, Client, leaves
from bench.cluster import Address, cluster
from bench.demo.agent import Agent, Write
from bench.demo.questions import Question, ask
from bench.demo.transcript import Event, load, normal, tail, tokens_of
from local.process import LocalError

BUDGET = 1000
AGENT = "demo-coder"
# The cut is the turn nearest to this share of the session's tokens that has enough questions after it; where
# none has, the one with most of them that is not further away than that.
_CUT, _NEAR, _ENOUGH = 0.65, 0.2, 8
_LEAST_LATER = 2
# The transcript before the cut is at least so many times the block.
_BEFORE = 4


@dataclass(frozen=True)
class Cut:
    past: Sequence[Event]
    future: Sequence[Event]
    questions: list[Question]
    budget: int

    @property
    def turn(self) -> int:
        return self.future[0].seq


@dataclass
class Asked:
    question: Question
    answer: dict[str, Any]
    in_block: bool
    in_tail: bool
    was_written: bool
    ms: float


@dataclass
class Played:
    name: str
    cut: Cut
    entries: int = 0
    tokens_written: int = 0
    lessons: int = 0
    asked: list[Asked] = field(default_factory=list)


def main() -> None:
    arguments = _arguments()
    try:
        files = _files(arguments.sessions)
        with cluster() as address:
            played = asyncio.run(_play_all(address, files, arguments.budget, arguments.quiet))
    except* (LocalError, ApiError, OSError) as group:
        for error in leaves(group):
            print(error, file=sys.stderr)
        sys.exit(1)
    _table(played)
    print(json.dumps(report(played)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.demo", description=__doc__)
    parser.add_argument(
        "sessions",
        nargs="+",
        type=Path,
        metavar="session",
        help="a transcript (JSON lines), or a folder of them",
    )
    parser.add_argument("--budget", type=int, default=BUDGET, help="tokens of a block (%(default)s)")
    parser.add_argument("--quiet", action="store_true", help="print the table only")
    return parser.parse_args()


def _files(given: Sequence[Path]) -> list[Path]:
    files = [file for path in given for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    missing = [str(file) for file in files if not file.is_file()]
    if missing or not files:
        raise LocalError(f"no transcript at {', '.join(missing or map(str, given))}")
    return files


async def _play_all(address: Address, sessions: Sequence[Path], budget: int, quiet: bool) -> list[Played]:
    played = []
    async with Client(address.url, address.token) as client:
        for path in sessions:
            one = await _play(client, path, budget)
            if not quiet:
                _show(one)
            played.append(one)
    return played


async def _play(client: Client, path: Path, budget: int) -> Played:
    at = cut(load(path), budget)
    run = f"demo-{path.stem[:100]}-{secrets.token_hex(3)}"
    agent = Agent(AGENT, mission=run, session=run)
    played = Played(path.stem, at)
    print(f"{path.stem}: playing up to turn {at.turn} ...", file=sys.stderr, flush=True)
    written: list[Write] = []
    for event in at.past:
        for write in agent.observe(event):
            await client.post(write.path, write.body, key=f"{run}:{len(written)}")
            written.append(write)
    await client.indexed((write.path, write.body, f"{run}:{n}") for n, write in enumerate(written))
    played.entries, played.tokens_written = len(written), agent.tokens_written
    said = normal(" ".join(_texts([write.body for write in written])))
    for question in at.questions:
        played.asked.append(await _ask(client, run, at, question, said))
    rest = [write for event in at.future for write in agent.observe(event)] + agent.lessons()
    for n, write in enumerate(rest, len(written)):
        await client.post(write.path, write.body, key=f"{run}:{n}")
        played.lessons += write.path.startswith("/api/agent-memory")
    return played


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


async def _ask(client: Client, mission: str, at: Cut, question: Question, said: str) -> Asked:
    """`said` is all that was written before: what is not in it cannot be found."""
    body = {
        "query": question.text,
        "caller": AGENT,
        "mission_namespace": mission,
        "token_budget": at.budget,
        "session_id": mission,
    }
    begun = time.perf_counter()
    answer = await client.post("/api/context/assemble", body)
    ms = (time.perf_counter() - begun) * 1000
    last = tail(at.past, answer["total_tokens"])
    return Asked(
        question,
        answer,
        in_block=question.expected in normal(answer["context_block"]),
        in_tail=question.expected in normal(last),
        was_written=question.expected in said,
        ms=ms,
    )


def cut(events: Sequence[Event], budget: int) -> Cut:
    """Where to stop: a result stays with its call, and enough is before and after. Raises LocalError."""
    total = tokens_of(events)
    distances = {
        place: abs(tokens_of(events[:place]) / total - _CUT)
        for place in range(1, len(events) - _LEAST_LATER)
        if events[place].kind != "tool_result" and events[place - 1].kind != "tool_call"
    }
    best: Cut | None = None
    for place in sorted(distances, key=lambda place: distances[place]):
        if best is not None and best.questions and distances[place] > _NEAR:
            break
        one = _cut_at(events, place, budget)
        if best is None or len(one.questions) > len(best.questions):
            best = one
        if len(one.questions) >= _ENOUGH:
            return one
    if best is None or not best.questions:
        raise LocalError("no turn of this session needs anything of the past that can be asked for")
    return best


def _cut_at(events: Sequence[Event], place: int, budget: int) -> Cut:
    past, future = events[:place], events[place:]
    return Cut(past, future, ask(past, future), min(budget, tokens_of(past) // _BEFORE))


def report(played: Sequence[Played]) -> dict[str, Any]:
    every = [one for session in played for one in session.asked]
    kinds = Counter(one.question.kind for one in every)
    return {
        **_shares(every),
        "questions": len(every),
        "ms": round(median(one.ms for one in every), 1),
        "by_kind": {
            kind: {"questions": count, **_shares([one for one in every if one.question.kind == kind])}
            for kind, count in sorted(kinds.items())
        },
        "sessions": {
            session.name: {
                **_shares(session.asked),
                "questions": len(session.asked),
                "turn": session.cut.turn,
                "budget": session.cut.budget,
                "tokens_before": tokens_of(session.cut.past),
                "entries": session.entries,
                "tokens_written": session.tokens_written,
                "lessons": session.lessons,
                "ms": round(median(one.ms for one in session.asked), 1),
            }
            for session in played
        },
    }


def _shares(asked: Sequence[Asked]) -> dict[str, float]:
    return {
        "block_share": round(fmean(one.in_block for one in asked), 4),
        "tail_share": round(fmean(one.in_tail for one in asked), 4),
        "written_share": round(fmean(one.was_written for one in asked), 4),
    }


def _show(played: Played) -> None:
    for one in played.asked:
        answer = one.answer
        print(f"\n{'=' * 100}\n{played.name}, for turn {one.question.turn}: {one.question.text}")
        print(f"expected ({one.question.kind}): {one.question.expected}")
        print(
            f"in the block: {_yes(one.in_block)}   in the last {answer['total_tokens']} tokens: {_yes(one.in_tail)}"
            f"   {answer['total_tokens']} tokens, {one.ms:.0f} ms"
        )
        print(
            f"\n  {'source':<16}{'kind':<18}{'score':>7} ={'weight':>7} *{'relevance':>10} *{'recency':>8} *"
            f"{'priority':>9}{'tokens':>8}"
        )
        for source in answer["sources"]:
            print(
                f"  {source['handle']:<16}{source['kind']:<18}{source['score']:7.3f} {source['weight']:8.2f}"
                f" {source['relevance']:11.3f} {source['recency']:9.3f} {source['priority']:10.2f}{source['tokens']:8}"
            )
        print("\n  " + answer["context_block"].replace("\n", "\n  "))


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _table(played: Sequence[Played]) -> None:
    every = report(played)
    heads = ("turn", "before", "written", "budget", "questions", "in block", "in tail", "ms")
    print(f"\n{'session':<20}" + "".join(f"{head:>10}" for head in heads))
    for name, one in every["sessions"].items():
        cells = (one["turn"], one["tokens_before"], one["tokens_written"], one["budget"], one["questions"])
        shares = f"{one['block_share']:10.2f}{one['tail_share']:10.2f}{one['ms']:10.0f}"
        print(f"{name:<20}" + "".join(f"{cell:>10}" for cell in cells) + shares)
    for kind, one in every["by_kind"].items():
        print(f"{kind:<60}{one['questions']:>10}{one['block_share']:10.2f}{one['tail_share']:10.2f}")
    print(
        f"{'all':<60}{every['questions']:>10}{every['block_share']:10.2f}{every['tail_share']:10.2f}{every['ms']:10.0f}"
    )


if __name__ == "__main__":
    main()
