"""Agents that work as those of real transcripts do: of their events 38 % are calls of tools, 38 % what those answer,
23 % what the agent says, and 1 % what a user asks."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import aiohttp

from tests.support.calls import Json, lesson, note, question
from tests.support.cluster import Answer, Client, Cluster

AGENTS = 20
_PAUSE_SECONDS = (0.3, 1.3)
_WEIGHTS = {"call": 38, "result": 38, "say": 23, "ask": 1}
_BUSY = (409, 429, 502, 503)
_TRIES = 40
_AGAIN_SECONDS = 0.25
# A request that takes longer hangs.
_HANGS_SECONDS = 60.0
_SUBJECTS = (
    "orders replica",
    "ledger",
    "billing queue",
    "search index",
    "gateway",
    "scheduler",
    "vault",
    "mailer",
)
_THINGS = ("lag", "backlog", "timeout", "checksum", "schema", "quota", "certificate", "latency")


class Request(NamedTuple):
    method: str
    path: str
    body: Json | None = None


class Fleet:
    def __init__(self, cluster: Cluster, seed: int) -> None:
        self._cluster, self._seed = cluster, seed
        self.ended = asyncio.Event()
        self.away = False
        """Postgres is being started again. Tries until it is there count for none."""
        self.done: Counter[str] = Counter()
        self.tries = 0
        self.wrong: Counter[str] = Counter()
        """What was refused, hung, or was not done after many tries."""
        self._seconds: list[float] = []

    async def works(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(AGENTS):
                tasks.create_task(self._agent(number))

    def taken(self) -> list[float]:
        """Seconds of the requests that were answered at the first try since the last call."""
        seconds, self._seconds = self._seconds, []
        return seconds

    async def _agent(self, number: int) -> None:
        chance = random.Random(self._seed * 1_000 + number)
        agent = Agent(f"agent-{number}", f"mission-{number // 4}", chance)
        async with self._cluster.client() as client:
            while not self.ended.is_set():
                (step,) = chance.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
                for request in agent.step(step):
                    answer = await self._asked(client, request)
                    if answer is not None:
                        agent.hears(request, answer)
                await asyncio.sleep(chance.uniform(*_PAUSE_SECONDS))

    async def _asked(self, client: Client, request: Request) -> Answer | None:
        """Again under its key, until it is answered; None where it never was as it should be."""
        headers = {"idempotency-key": str(uuid4())} if request.method != "GET" else {}
        name, last = f"{request.method} {request.path.partition('?')[0]}", "no answer"
        counted, first = 0, True
        while counted < _TRIES:
            self.tries += 1
            counted += not self.away
            began = time.monotonic()
            try:
                async with asyncio.timeout(_HANGS_SECONDS):
                    answer = await client.call(request.method, request.path, request.body, headers=headers)
            except TimeoutError:
                self.wrong[f"{name} hangs"] += 1
                return None
            except (aiohttp.ClientError, OSError) as error:
                last, first = type(error).__name__, False
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            if answer.status < 300:
                if first:
                    self._seconds.append(time.monotonic() - began)
                self.done[name] += 1
                return answer
            if answer.status == 404:  # it was evicted, or another try has deleted it
                return None
            if answer.status not in _BUSY:
                self.wrong[f"{name} {answer.status}"] += 1
                return None
            last, first = str(answer.status), False
            await asyncio.sleep(_AGAIN_SECONDS)
        self.wrong[f"{name} not answered: {last}"] += 1
        return None


class Agent:
    """One of a mission's four. It keeps a session, and the ids of what it wrote last."""

    def __init__(self, name: str, mission: str, chance: random.Random) -> None:
        self._name, self._mission, self._chance = name, mission, chance
        self._session: str | None = None
        self._sessions = itertools.count()
        self._memories: list[int] = []
        self._entries: list[int] = []
        self._assembly: int | None = None
        self._steps: dict[str, Callable[[], Sequence[Request]]] = {
            "ask": self._begins,
            "call": self._calls,
            "result": self._results,
            "say": self._says,
        }

    def step(self, kind: str) -> Sequence[Request]:
        return self._begins() if self._session is None else self._steps[kind]()

    def hears(self, request: Request, answer: Answer) -> None:
        body: Any = answer.body
        if request.path == "/api/sessions":
            self._session = body["data"]["id"]
        elif request.path == "/api/agent-memory/commit":
            self._memories = [*self._memories[-20:], body["memory_id"]]
        elif request.path == "/api/psychic-cache/write":
            self._entries = [*self._entries[-20:], body["data"]["id"]]
        elif request.path == "/api/context/assemble":
            self._assembly = body["assembly_id"]

    def _begins(self) -> list[Request]:
        """A user's question ends the session and begins the next."""
        requests = []
        if self._session is not None:
            requests.append(
                Request("POST", f"/api/sessions/{self._session}/complete", {"status": "completed"})
            )
        external = f"{self._name}-{next(self._sessions)}"
        begun = {"external_id": external, "agent_name": self._name, "mission_id": self._mission}
        return [*requests, Request("POST", "/api/sessions", begun)]

    def _calls(self) -> list[Request]:
        """Before a tool is called, the agent asks for what it should know."""
        asked = question(self._mission, self._text(), caller=self._name, session_id=self._session)
        delta = {"delta": True} if self._chance.random() < 0.5 else {}
        requests = [Request("POST", "/api/context/assemble", {**asked, **delta})]
        if self._assembly is not None and self._chance.random() < 0.2:
            heard = {"assembly_id": self._assembly, "used_source_ids": []}
            requests.append(Request("POST", "/api/context/feedback", heard))
        return requests

    def _results(self) -> list[Request]:
        """What a tool answered: an event of the trail, and an object or an entry."""
        text = self._text(40)
        requests = [self._trail("user", text)]
        if self._chance.random() < 0.3:
            key = f"{self._chance.choice(_SUBJECTS)}.log"
            body = {"content": text, "object_type": "tool_result", "source_key": key}
            requests.append(Request("POST", f"/api/sessions/{self._session}/objects", body))
            requests.append(Request("POST", f"/api/sessions/{self._session}/turns", {}))
        else:
            entry = note(self._mission, text, agent_name=self._name)
            requests.append(Request("POST", "/api/psychic-cache/write", entry))
        return requests

    def _says(self) -> list[Request]:
        """What the agent says: an event of the trail, and now and then something that it learned or looks up."""
        return [self._trail("assistant", self._text(12)), self._chance.choice(self._thoughts())]

    def _thoughts(self) -> list[Request]:
        subject, thing = self._chance.choice(_SUBJECTS), self._chance.choice(_THINGS)
        value = str(self._chance.getrandbits(16))
        own = f"agent:{self._name}"
        thread = {"agent_name": self._name, "thread_id": "main", "checkpoint_id": value}
        thoughts = [
            Request("POST", "/api/agent-memory/commit", lesson(self._name, self._text(12))),
            Request("POST", "/api/memory", {"kind": "knowledge", "scope": own, "content": self._text(12)}),
            Request(
                "POST",
                "/api/kg/write",
                {"scope": own, "subject": subject, "predicate": thing, "object": value},
            ),
            Request(
                "POST",
                "/api/agent-memory/query",
                {"agent_name": self._name, "query": f"{thing} of {subject}"},
            ),
            Request("POST", "/api/psychic-cache/query", {"mission_id": self._mission, "query": self._text()}),
            Request("PUT", "/api/checkpoints", {**thread, "state": {"said": self._text(40)}}),
            Request("GET", f"/api/timeline?mission={self._mission}&limit=50"),
            Request("GET", "/api/context/backlog"),
        ]
        if self._memories:
            changed = f"/api/agent-memory/{self._chance.choice(self._memories)}"
            thoughts += [Request("PATCH", changed, {"content": self._text(12)}), Request("DELETE", changed)]
        if self._entries:
            deleted = f"/api/psychic-cache/{self._mission}/entries/{self._chance.choice(self._entries)}"
            thoughts.append(Request("DELETE", deleted))
        return thoughts

    def _trail(self, role: str, text: str) -> Request:
        said = {"messages": [{"role": role, "text": text}]}
        return Request("POST", f"/api/sessions/{self._session}/events", said)

    def _text(self, words: int = 4) -> str:
        subject, thing = self._chance.choice(_SUBJECTS), self._chance.choice(_THINGS)
        rest = " ".join(
            f"{self._chance.choice(_THINGS)} {self._chance.getrandbits(20):x}" for _ in range(words)
        )
        return f"The {thing} of the {subject}: {rest}"
