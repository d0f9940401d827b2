"""Transcripts turn by turn through the API: BUDGET=16000, PICTURE=file.svg, PROLONGED=n makes longer sessions."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.client import Client
from bench.cluster import Address, cluster
from bench.paging import events
from bench.paging.__main__ import figures_of
from bench.paging.events import Event, is_read, turns
from bench.paging.lru import WholeObjects
from bench.paging.measuring import Figures, Sample
from bench.paging.picture import svg
from bench.paging.through_api import ApiSession
from services.cache.sessions.paging.fidelity import Level
from shared.tokens import estimate_tokens

_AT_ONCE = 3
_LEVELS = (Level.FULL, Level.DETAILED, Level.COMPACT, Level.STUB)


def main() -> None:
    arguments = _arguments()
    session = Path(arguments.session)
    files = sorted(session.glob("*.jsonl")) if session.is_dir() else [session]
    if not files:
        sys.exit(f"{session} holds no transcript: name a file or a folder of *.jsonl")
    real = [events.read(path) for path in files]
    played = [events.prolonged(real, seed, arguments.tokens) for seed in range(arguments.prolonged)] or real
    with cluster() as address:
        replays = asyncio.run(_replay(address, played, arguments))
    samples = max((replay.samples for replay in replays), key=len)
    if arguments.picture:
        title = f"tokens in the context, turn by turn, at a budget of {arguments.budget}"
        Path(arguments.picture).write_text(svg(samples, arguments.budget, title))
    _print(_figures(replays))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.paging.replay", description=__doc__)
    parser.add_argument("session", help="a transcript, one event a line, or a folder of them")
    parser.add_argument("--budget", type=int, default=int(os.environ.get("BUDGET") or 16_000))
    parser.add_argument("--prolonged", type=int, default=int(os.environ.get("PROLONGED") or 0))
    parser.add_argument("--tokens", type=int, default=150_000, help="the least tokens of a prolonged session")
    parser.add_argument("--picture", default=os.environ.get("PICTURE"), help="a file for the longest session")
    parser.add_argument(
        "--reads",
        action="store_true",
        help="bring nothing back by faults: only what is read again comes back",
    )
    return parser.parse_args()


class _Replay:
    """One session: its figures and its turns."""

    def __init__(self, session: ApiSession, budget: int) -> None:
        self._session = session
        self._whole = WholeObjects(budget)
        self._seen: set[str | None] = set()
        self._before = b""
        self.figures = Figures()
        self.samples: list[Sample] = []

    @property
    def exact(self) -> int:
        return self._session.exact

    async def play(self, played: Sequence[Event]) -> None:
        figures, session = self.figures, self._session
        for turn in turns(played):
            faults = session.faults
            for event in turn:
                await self._read(event)
            figures.context = await session.end_turn()
            self._compare(await session.prompt())
            levels = [session.levels[level] for level in _LEVELS]
            self.samples.append(Sample(levels, session.faults - faults))
        figures.sessions, figures.turns, figures.batches = 1, len(self.samples), session.batches
        figures.faults, figures.transitions = session.faults, session.moves + session.faults

    async def _read(self, event: Event) -> None:
        figures = self.figures
        if event.key in self._seen and is_read(event):
            full, detailed = self._session.resident(event)
            figures.again += len(event.text)
            figures.resident_l0 += full
            figures.resident_l0_l1 += detailed
            figures.lru += self._whole.resident(event)
        figures.unpaged += estimate_tokens(event.text)
        await self._session.admit(event)
        self._whole.admit(event)
        self._seen.update([event.key] if is_read(event) else [])

    def _compare(self, block: bytes) -> None:
        """In bytes: a provider's cache serves a prompt up to the first that differs."""
        self.figures.unchanged += common(self._before, block)
        self.figures.sent_before += len(self._before)
        self._before = block


def common(before: bytes, now: bytes) -> int:
    """Bytes at the start of both."""
    same = zip(before, now, strict=False)
    return next(
        (place for place, (left, right) in enumerate(same) if left != right), min(len(before), len(now))
    )


async def _replay(
    address: Address, played: Sequence[Sequence[Event]], arguments: argparse.Namespace
) -> list[_Replay]:
    free = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int, session: Sequence[Event]) -> _Replay:
        async with free:
            api = ApiSession(client, f"replay-{number}", address.dsn, by_faults=not arguments.reads)
            await api.begin(arguments.budget)
            replay = _Replay(api, arguments.budget)
            await replay.play(session)
            return replay

    async with Client(address.url, address.token) as client:
        return await asyncio.gather(*(one(number, session) for number, session in enumerate(played)))


def _figures(replays: Sequence[_Replay]) -> Mapping[str, float]:
    sums = Figures()
    for name in Figures.__struct_fields__:
        setattr(sums, name, sum(getattr(replay.figures, name) for replay in replays))
    return {**figures_of(sums), "exact_faults": sum(replay.exact for replay in replays)}


def _print(figures: Mapping[str, float]) -> None:
    for name, value in figures.items():
        print(f"{name:<22}{value:>12}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
