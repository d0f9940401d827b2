"""Calls of every kind at a steady rate, each with a deadline, whatever became of those before; and when each ended."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import aiohttp

from proofs.noise import Noise
from tests.support.calls import SLACK, Json, lesson, note, question, within
from tests.support.cluster import Client

PER_SECOND = 20
MISSION, AGENT = "deadlines", "scout"
# Of a call that takes so much longer than it may, nobody knows whether it ever ends.
_HANGS_SECONDS = 20.0


class Kind(NamedTuple):
    name: str
    method: str
    path: str
    milliseconds: int


KINDS = (
    Kind("write", "POST", "/api/psychic-cache/write", 800),
    Kind("commit", "POST", "/api/agent-memory/commit", 800),
    Kind("query", "POST", "/api/psychic-cache/query", 600),
    Kind("recall", "POST", "/api/agent-memory/query", 600),
    Kind("assemble", "POST", "/api/context/assemble", 700),
    Kind("page", "GET", f"/api/timeline?mission={MISSION}", 400),
    Kind("stats", "GET", f"/api/psychic-cache/{MISSION}/stats", 500),
    Kind("log", "GET", "/api/context/log", 300),
)


class Told(NamedTuple):
    kind: Kind
    began: float
    seconds: float
    status: int | None
    """None: it hung, or broke off."""
    whole: bool
    """Whether it is an answer that lacks nothing."""

    @property
    def over(self) -> float:
        """Seconds behind its deadline and what is allowed beyond it; negative when in time."""
        return self.seconds - self.kind.milliseconds / 1000 - SLACK


class Caller:
    def __init__(self, client: Client, seed: int) -> None:
        self._client, self._seed = client, seed
        self._numbers = itertools.count()
        self.told: list[Told] = []

    async def go_on(self, seconds: float) -> None:
        """Returns when every call has ended."""
        calls = []
        end = time.monotonic() + seconds
        for kind in itertools.cycle(KINDS):
            calls.append(asyncio.create_task(self.ask(kind)))
            await asyncio.sleep(1 / PER_SECOND)
            if time.monotonic() > end:
                break
        await asyncio.gather(*calls)

    async def ask(self, kind: Kind) -> Told:
        body = _body(kind, f"{self._seed}x{next(self._numbers)}")
        began = time.monotonic()
        status, whole = None, False
        try:
            async with asyncio.timeout(kind.milliseconds / 1000 + _HANGS_SECONDS):
                answer = await self._client.call(
                    kind.method, kind.path, body, headers=within(kind.milliseconds)
                )
            status, whole = answer.status, answer.status in (200, 201) and _whole(answer.body)
        except (TimeoutError, aiohttp.ClientError):
            pass
        told = Told(kind, began, time.monotonic() - began, status, whole)
        self.told.append(told)
        return told


def _body(kind: Kind, mark: str) -> Json | None:
    """Each text is a new one: the vectors of what was embedded before are remembered."""
    bodies: dict[str, Json] = {
        "write": note(f"{MISSION}-{mark}", f"finding {mark} of the orders database"),
        "commit": lesson(AGENT, f"Lesson {mark}: of {mark} retries one is too many."),
        "query": {"mission_id": MISSION, "query": f"orders database {mark}"},
        "recall": {"agent_name": AGENT, "query": f"retries {mark}"},
        "assemble": question(MISSION, f"orders database {mark}"),
    }
    return bodies.get(kind.name)


def _whole(body: Any) -> bool:
    data = body.get("data") if isinstance(body, dict) else None
    return not body.get("degraded") and not (isinstance(data, dict) and data.get("degraded"))


class Judged(NamedTuple):
    late: list[Told]
    """By more than a bare echo was in the same moment."""
    as_late_as_an_echo: list[Told]
    hung: list[Told]


def judged(told: Sequence[Told], noise: Noise) -> Judged:
    hung = [one for one in told if one.status is None]
    over = [one for one in told if one.status is not None and one.over > 0]
    late = [one for one in over if one.over > noise.during(one.began, one.seconds)]
    return Judged(late, [one for one in over if one not in late], hung)
