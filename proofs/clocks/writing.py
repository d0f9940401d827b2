"""What must outlive the jumps, what must end in spite of them, and the ledger of both."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from tests.support.calls import Json, lesson, note
from tests.support.cluster import Answer, Client

_BUSY = (429, 502, 503)
_AGAIN_SECONDS = 0.1
_TRIES = 300
# Less than a jump, and more than the proof takes.
_LASTING = timedelta(minutes=40)
SHORT_SECONDS = 2.0
WRITERS = 4
# Far below a mission's budget: what is evicted did not expire.
_OF_MISSION = 100


@dataclass
class Ledger:
    lasting: dict[str, str] = field(default_factory=dict)
    """The paths of what must be there at the end, and a word of each."""
    passing: list[str] = field(default_factory=list)
    """The paths of what must be gone."""
    order: list[list[int]] = field(default_factory=lambda: [[] for _ in range(WRITERS)])
    """The entries of each writer as they were acknowledged."""
    wrong: Counter[str] = field(default_factory=Counter)
    requests: int = 0


class Writer:
    """`ended` is asked before each round."""

    def __init__(self, client: Client, number: int, ledger: Ledger, run: str) -> None:
        self._client, self._number, self._ledger, self._run = client, number, ledger, run
        self._word = ""

    async def work(self, ended: asyncio.Event) -> None:
        for count in itertools.count():
            if ended.is_set():
                return
            self._word = f"{self._run}w{self._number}n{count}x"
            await self._entry(f"{self._run}-{self._number}-{count // _OF_MISSION}", count)
            await (self._memory, self._commitment, self._key)[count % 3]()

    async def _entry(self, mission: str, count: int) -> None:
        body = note(mission, f"finding {self._word}", ttl_hours=_LASTING / timedelta(hours=1))
        body["occurred_at"] = datetime.now(UTC).isoformat()
        first = await self._write("POST", "/api/psychic-cache/write", body, keyed=True)
        if first is None:
            return
        entry = first.body["data"]["id"]
        self._ledger.order[self._number].append(entry)
        self._ledger.lasting[f"/api/psychic-cache/all/entries/{entry}"] = self._word
        if count % 4 == 0:
            again = await self._write("POST", "/api/psychic-cache/write", body, keyed=True)
            if again is not None and again.body["data"]["id"] != entry:
                self._ledger.wrong["an idempotency key expired early"] += 1
        if count % 4 == 1:
            passing = note(mission, f"passing {self._word}", ttl_hours=SHORT_SECONDS / 3_600)
            answer = await self._write("POST", "/api/psychic-cache/write", passing)
            if answer is not None:
                self._ledger.order[self._number].append(answer.body["data"]["id"])
                self._ledger.passing.append(f"/api/psychic-cache/all/entries/{answer.body['data']['id']}")

    async def _memory(self) -> None:
        body = lesson(self._run, f"learned {self._word}", occurred_at=datetime.now(UTC).isoformat())
        answer = await self._write("POST", "/api/agent-memory/commit", body, keyed=True)
        if answer is not None:
            self._ledger.lasting[f"/api/agent-memory/{answer.body['memory_id']}"] = self._word

    async def _commitment(self) -> None:
        """One that is due later stays open."""
        due = (datetime.now(UTC) + _LASTING).isoformat()
        body = {
            "kind": "commitment",
            "scope": f"agent:{self._run}",
            "content": f"promised {self._word}",
            "owed_by": self._run,
            "owed_to": "somebody",
            "due_at": due,
        }
        answer = await self._write("POST", "/api/memory", body)
        if answer is not None:
            self._ledger.lasting[f"/api/memory/{answer.body['id']}"] = self._word

    async def _key(self) -> None:
        """A key that ends later works now, and one that has ended does not."""
        end = datetime.now(UTC) + _LASTING
        body = {"name": self._word, "access": "read", "tenant": "default", "expires_at": end.isoformat()}
        made = await self._write("POST", "/api/context/keys", body)
        if made is None:
            return
        token = {"Authorization": f"Bearer {made.body['token']}"}
        answer = await self._call("GET", "/api/psychic-cache/all/missions", None, token)
        if answer is not None and answer.status == 401:
            self._ledger.wrong["a key expired early"] += 1

    async def _write(self, method: str, path: str, body: Json, *, keyed: bool = False) -> Answer | None:
        """None, and a line in the ledger, unless it was acknowledged."""
        headers = {"idempotency-key": self._word} if keyed else {}
        answer = await self._call(method, path, body, headers)
        if answer is None or answer.status < 300:
            return answer
        self._ledger.wrong[f"{method} {path} answered {answer.status}"] += 1
        return None

    async def _call(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer | None:
        return await asked(self._client, self._ledger, method, path, body, headers)


async def asked(
    client: Client,
    ledger: Ledger,
    method: str,
    path: str,
    body: Any = None,
    headers: dict[str, str] | None = None,
) -> Answer | None:
    """Again while the service is busy, or was killed."""
    for _ in range(_TRIES):
        ledger.requests += 1
        try:
            answer = await client.call(method, path, body, headers=headers or {})
        except (aiohttp.ClientError, OSError):
            await asyncio.sleep(_AGAIN_SECONDS)
            continue
        if answer.status not in _BUSY:
            return answer
        await asyncio.sleep(_AGAIN_SECONDS)
    ledger.wrong[f"{method} {path.rpartition('/')[0]} was never answered"] += 1
    return None


async def look(client: Client, ledger: Ledger) -> None:
    """Notes in the ledger what expired early, and what did not expire."""
    await asyncio.sleep(SHORT_SECONDS)
    for path, word in ledger.lasting.items():
        answer = await asked(client, ledger, "GET", path)
        if answer is None:
            continue
        if answer.status != 200 or word not in str(answer.body):
            ledger.wrong[f"{path.rpartition('/')[0]}: expired early"] += 1
        elif answer.body.get("status", "open") != "open":
            ledger.wrong["a commitment was over early"] += 1
    for path in ledger.passing:
        answer = await asked(client, ledger, "GET", path)
        if answer is not None and answer.status != 404:
            ledger.wrong["an entry expired late"] += 1
