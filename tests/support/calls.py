"""What the tests over HTTP share: bodies of every kind, timed calls, polling, and a reader of the stream."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

import aiohttp

from tests.support.cluster import Answer, Client

T = TypeVar("T")
Json = dict[str, Any]

SLACK = 0.2
"""Seconds after its deadline by which every request is answered; the proofs hold the services to it."""
BUSY_SLACK = 1.0
"""The same for a test: another one runs beside it, and the machine alone can stop a process longer than SLACK."""
PROBLEM = "application/problem+json"
_TIMES = 5
PATIENCE = 60.0
"""Seconds that a busy machine may take to get to any state; waiting for one that is there costs nothing."""


@dataclass(frozen=True)
class Timed:
    answer: Answer
    started: float
    seconds: float

    @property
    def status(self) -> int:
        return self.answer.status


async def timed(call: Awaitable[Answer]) -> Timed:
    started = time.monotonic()
    answer = await call
    return Timed(answer, started, time.monotonic() - started)


def within(milliseconds: int, **more: str) -> dict[str, str]:
    """Headers that ask for an answer by then."""
    return {"x-timeout-ms": str(milliseconds), **more}


async def until(check: Callable[[], Awaitable[T]], seconds: float = PATIENCE, every: float = 0.05) -> T:
    """What `check` answers once it raises no AssertionError; after `seconds` its last one is raised."""
    end = time.monotonic() + seconds
    while True:
        try:
            return await check()
        except AssertionError:
            if time.monotonic() > end:
                raise
        await asyncio.sleep(every)


def begun_anew(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A test of limits, which begins anew with other keys when it fails: what it shows holds most of the time.

    A day ends at midnight, and where Redis does not count a request within a tenth of a second, as on a busy machine,
    each replica counts alone for a second.
    """

    @wraps(test)
    async def repeated(*arguments: Any, **named: Any) -> None:
        for _ in range(_TIMES - 1):
            try:
                return await test(*arguments, **named)
            except AssertionError:
                await asyncio.sleep(1.5)
        return await test(*arguments, **named)

    return repeated


def assert_unavailable(answer: Answer, *dependencies: str) -> None:
    assert answer.status == 503, answer
    assert answer.headers["content-type"] == PROBLEM
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.body["status"] == 503
    assert answer.body["dependency"] in dependencies, answer.body


def note(mission: str, content: str, **more: Any) -> Json:
    """The plainest write."""
    return {
        "context_type": "intel",
        "mission_id": mission,
        "content": content,
        "intel_source": "e2e",
        **more,
    }


def tokens_of(body: Json) -> int:
    """What a write takes of its mission's budget."""
    return -(-characters_of(body) // 4)


def characters_of(body: Json) -> int:
    uncounted = ("mission_id", "context_type", "source_kind", "ttl_hours")
    return sum(_characters(value) for name, value in body.items() if name not in uncounted)


def _characters(value: Any) -> int:
    return sum(map(_characters, value)) if isinstance(value, list) else len(str(value))


def lesson(agent: str, content: str, **more: Any) -> Json:
    return {"agent_name": agent, "content": content, "memory_type": "lesson_learned", **more}


def nine(mission: str, agent: str = "scout") -> list[Json]:
    """One write of each type."""
    branches: dict[str, Json] = {
        "decision": {"decision_rationale": "the replica lags", "decision_alternatives": ["wait"]},
        "directive": {"directive_target": "builder", "directive_priority": "high"},
        "intel": {"intel_source": "pg_stat_activity", "intel_confidence": "high"},
        "state_change": {"state_from": "green", "state_to": "red", "state_trigger": "alert"},
        "output": {"output_url": "file:///tmp/report.md", "dispatch_id": 7},
        "report": {"report_dispatch_id": 7, "report_outcome": "success"},
        "escalation": {"escalation_target": "oncall", "escalation_reason": "data at risk"},
        "shadow_clone": {"subtasks": ["read the logs", "read the metrics"], "clone_count": 2},
        "thread_checkpoint": {
            "session_id": f"{mission}-session",
            "turn_count": 3,
            "active_dispatches": ["7"],
            "open_decisions": [],
            "pending_directives": [],
            "current_mission_namespaces": [mission],
            "working_state_prose": "half way through the failover",
        },
    }
    return [
        {
            "context_type": kind,
            "mission_id": mission,
            "agent_name": agent,
            "content": f"The {kind.replace('_', ' ')} about the failover of the orders database.",
            **branch,
        }
        for kind, branch in branches.items()
    ]


def question(mission: str, text: str = "failover of the orders database", **more: Any) -> Json:
    return {"query": text, "caller": "scout", "mission_namespace": mission, **more}


class Stream:
    """Reads the timeline's stream from one address in the background."""

    def __init__(self, client: Client, path: str, after: int | None = None) -> None:
        self.events: list[Json] = []
        self.ids: list[int] = []
        self.last_line = ""
        self._id = 0
        self.broken: BaseException | None = None
        self._headers = {"accept": "text/event-stream"}
        if after is not None:
            self._headers["last-event-id"] = str(after)
        self._client, self._path = client, path
        self._open = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._read())
        opened = asyncio.create_task(self._open.wait())
        await asyncio.wait((opened, self._task), timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        opened.cancel()
        if not self._open.is_set():
            # A refusal is raised at once.
            if self._task.done():
                await self._task
            raise TimeoutError("the stream did not open")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def ended(self, seconds: float) -> None:
        """Waits for the server to end it; `broken` says whether that was clean."""
        await asyncio.wait_for(asyncio.shield(self._task), seconds)

    async def _read(self) -> None:
        timeout = aiohttp.ClientTimeout(total=None)
        try:
            async with self._client.session.get(
                self._path, headers=self._headers, timeout=timeout
            ) as response:
                assert response.status == 200
                async for raw in response.content:
                    self._open.set()
                    self._take(raw.decode().rstrip("\n"))
        except aiohttp.ClientError as error:
            self.broken = error

    def _take(self, line: str) -> None:
        if not line:
            return
        self.last_line = line
        name, _, value = line.partition(": ")
        if name == "id":
            self._id = int(value)
        elif name == "data":
            self.ids.append(self._id)
            self.events.append(json.loads(value))


async def page_through(client: Client, path: str, limit: int = 1000) -> list[Json]:
    """Every event of the timeline's pages; `path` has its filter already."""
    events: list[Json] = []
    after = 0
    while True:
        answer = await client.get(f"{path}&after={after}&limit={limit}")
        assert answer.status == 200, answer
        events += answer.body["data"]
        if len(answer.body["data"]) < limit:
            return events
        after = answer.body["data"][-1]["seq"]


async def pages(client: Client, path: str, limit: int = 1000, body: Json | None = None) -> list[list[Any]]:
    """The pages of a list, by its cursors; with `body`, of a list that is read by POST."""
    found: list[list[Any]] = []
    more: Json = {}
    while True:
        if body is None:
            joint = "&" if "?" in path else "?"
            answer = await client.get(f"{path}{joint}{urlencode({'limit': limit, **more})}")
        else:
            answer = await client.post(path, {**body, "limit": limit, **more})
        assert answer.status == 200, answer
        assert set(answer.body) == {"data", "next"}
        found.append(answer.body["data"])
        if answer.body["next"] is None:
            return found
        more = {"cursor": answer.body["next"]}


def metric(page: str, name: str, labels: Mapping[str, str] | None = None) -> float:
    """The sum of a metric's samples that have these labels."""
    total = 0.0
    for line in page.splitlines():
        head, _, value = line.rpartition(" ")
        if head.split("{")[0] == name and all(f'{k}="{v}"' in head for k, v in (labels or {}).items()):
            total += float(value)
    return total
