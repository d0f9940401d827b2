"""Scrubjay over HTTP: a conversation is a mission (assemble) or an agent (memory).

`python -m bench.race.of_scrubjay FOLDER assemble|memory`
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

from bench.client import Client
from bench.race.material import Addresses, Turn
from bench.race.worker import System, serve

_LIMITS = {"token_budget": 2**31 - 1, "entry_budget": 1_000_000, "ttl_hours": 24 * 365}
_CONNECTIONS = 64


class _Scrubjay:
    batch = 100
    tenant: str

    def __init__(self, addresses: Addresses) -> None:
        self._client = Client(addresses["context"], addresses["keys"][self.tenant], connections=_CONNECTIONS)
        # Which turns an id stands for: a repeat is merged into the memory that was there.
        self._turns: dict[int, list[str]] = {}

    async def open(self) -> None:
        await self._client.__aenter__()

    async def close(self) -> None:
        await self._client.__aexit__()

    def _note(self, turn: Turn, id_: int) -> None:
        self._turns.setdefault(id_, []).append(turn["id"])

    def _named(self, found: Iterable[dict[str, Any]]) -> list[str]:
        return list(dict.fromkeys(turn for item in found for turn in self._turns.get(item["id"], [])))


def _body(turn: Turn) -> dict[str, Any]:
    return {
        "content": turn["content"],
        "speaker": turn["speaker"],
        "session_id": turn["session"],
        "seq": turn["seq"],
        "occurred_at": turn["at"],
    }


class Missions(_Scrubjay):
    tenant = "missions"

    async def open_space(self, space: str) -> None:
        await self._client.put(f"/api/psychic-cache/{quote(space)}/limits", _LIMITS)

    async def write(self, space: str, turn: Turn) -> None:
        answer = await self._client.post("/api/psychic-cache/write", _entry(space, turn))
        self._note(turn, answer["data"]["id"])

    async def write_many(self, space: str, turns: Sequence[Turn]) -> None:
        body = {"entries": [_entry(space, turn) for turn in turns]}
        answer = await self._client.post("/api/psychic-cache/write/batch", body)
        for turn, entry in zip(turns, answer["data"]["entries"], strict=True):
            self._note(turn, entry["data"]["id"])

    async def search(self, space: str, text: str) -> list[str]:
        body = {"query": text, "caller": "race", "mission_namespace": space, "token_budget": 4096}
        return self._named((await self._client.post("/api/context/assemble", body))["sources"])


class Memories(_Scrubjay):
    tenant = "memories"

    async def open_space(self, space: str) -> None: ...

    async def write(self, space: str, turn: Turn) -> None:
        answer = await self._client.post("/api/agent-memory/commit", _memory(space, turn))
        self._note(turn, answer["memory_id"])

    async def write_many(self, space: str, turns: Sequence[Turn]) -> None:
        body = {"memories": [_memory(space, turn) for turn in turns]}
        answer = await self._client.post("/api/agent-memory/batch", body)
        for turn, memory in zip(turns, answer["results"], strict=True):
            self._note(turn, memory["memory_id"])

    async def search(self, space: str, text: str) -> list[str]:
        body = {"agent_name": space, "query": text, "limit": 20}
        return self._named((await self._client.post("/api/agent-memory/query", body))["memories"])


def _entry(space: str, turn: Turn) -> dict[str, Any]:
    return {"mission_id": space, "context_type": "intel", "intel_source": turn["speaker"], **_body(turn)}


def _memory(space: str, turn: Turn) -> dict[str, Any]:
    return {"agent_name": space, "memory_type": "lesson_learned", **_body(turn)}


_MODES: dict[str, Callable[[Addresses], System]] = {"assemble": Missions, "memory": Memories}

if __name__ == "__main__":
    serve(_MODES[sys.argv[2]])
