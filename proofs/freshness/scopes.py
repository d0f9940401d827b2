"""Scopes of three stores, each changed by one client and asked by several."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import inf
from typing import Any, ClassVar, NamedTuple

from proofs.freshness.ledger import Asked, Ledger, Shown, Version, View
from tests.support.calls import Json, lesson, note
from tests.support.cluster import Client

COMMON = "harbour"
_BUSY = (429, 502, 503)
_AGAIN_SECONDS = 0.1
_FEWEST, _MOST = 4, 40
_SHORT_HOURS = 1.2 / 3_600
# What a mission keeps whose older entries are evicted.
_KEPT = 12


class Written(NamedTuple):
    item: int
    expires: float = inf
    evicted: int = 0


class Scope:
    """`changes` are their weights."""

    changes: ClassVar[Mapping[str, int]]
    shared: ClassVar[bool] = False

    def __init__(self, client: Client, ledger: Ledger, name: str, words: Iterator[int], seed: int) -> None:
        self.name = name
        self._client, self._ledger, self._words = client, ledger, words
        self._chance = random.Random(f"{seed} {name}")

    async def prepare(self) -> None:
        """Before the first change."""

    async def change(self) -> None:
        """Makes a change, and asks for what changed as soon as it is acknowledged."""
        living = self._ledger.living(self.name)
        kinds, weights = list(self.changes), list(self.changes.values())
        kind = self._chance.choices(kinds, weights)[0]
        if len(living) < _FEWEST:
            kind = "write"
        elif len(living) > _MOST:
            kind = "delete"
        word = await getattr(self, f"_{kind}")(living)
        self._ledger.changes[kind] += 1
        await self.ask(word)

    async def ask(self, word: str | None = None) -> None:
        """Without a word: one of what is there, of what went, or what all have in common."""
        if word is None:
            word = self._chance.choice([self._some_living(), self._some_living(), self._some_recent(), None])
        view, path, body = self._question(word or COMMON)
        began, began_at = time.monotonic(), time.time()
        answer = await self._told("POST", path, body)
        self._ledger.judge(
            Asked(
                view=view,
                word=word,
                began=began,
                began_at=began_at,
                ended=time.monotonic(),
                ended_at=time.time(),
                shown=_shown(answer),
                complete=not _degraded(answer),
            )
        )

    def _some_living(self) -> str | None:
        living = self._ledger.living(self.name)
        return self._chance.choice(living).word if living else None

    def _some_recent(self) -> str | None:
        recent = self._ledger.recent(self.name)
        return self._chance.choice(recent) if recent else None

    async def _write(self, living: Sequence[Version], **more: Any) -> str:
        word = f"w{next(self._words):06}q"
        written = await self._written(self._text(word), **more)
        self._ledger.add(Version(written.item, self.name, word, self.shared, expires=written.expires))
        return word

    async def _delete(self, living: Sequence[Version]) -> str:
        version = self._chance.choice(living)
        self._ledger.end([version])
        await self._told("DELETE", self._path(version))
        self._ledger.ended([version])
        return version.word

    async def _edit(self, living: Sequence[Version]) -> str:
        version, word = self._chance.choice(living), f"w{next(self._words):06}q"
        self._ledger.end([version])
        await self._told("PATCH", self._path(version), {"content": self._text(word)})
        self._ledger.ended([version])
        self._ledger.add(replace(version, word=word, born=time.monotonic(), ending=inf, gone=inf))
        return self._chance.choice([version.word, word])

    async def _supersede(self, living: Sequence[Version]) -> str:
        version = self._chance.choice(living)
        version.replaced = time.monotonic()
        word = await self._write(living, supersedes=version.item)
        version.superseded = time.monotonic()
        return self._chance.choice([version.word, word])

    async def _purge(self, living: Sequence[Version]) -> str:
        every = [*living, *self._ledger.expiring(self.name)]
        self._ledger.end(every)
        await self._purged()
        self._ledger.ended(every)
        return self._chance.choice(living).word

    def _text(self, word: str) -> str:
        """Unlike any other, so that nothing is taken for a repeat."""
        return f"{word} {COMMON} {' '.join(f'x{self._chance.getrandbits(40):x}' for _ in range(6))}"

    async def _told(self, method: str, path: str, body: Any = None) -> Any:
        """Again while the service is busy."""
        while (answer := await self._client.call(method, path, body)).status in _BUSY:
            await asyncio.sleep(_AGAIN_SECONDS)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path} answered {answer.status}: {answer.body}")
        return answer.body

    async def _written(self, text: str, **more: Any) -> Written:
        raise NotImplementedError

    async def _purged(self) -> None:
        raise NotImplementedError

    def _path(self, version: Version) -> str:
        raise NotImplementedError

    def _question(self, query: str) -> tuple[View, str, Json]:
        raise NotImplementedError

    def _block(self, query: str, **more: Any) -> tuple[View, str, Json]:
        """Asked for as an agent does before its next step."""
        body = {"query": query, "caller": "nobody", "log": False, **more}
        return View(self.name, all=True), "/api/context/assemble", body


class Mission(Scope):
    changes: ClassVar[Mapping[str, int]] = {"write": 8, "delete": 4, "supersede": 2, "expire": 2, "purge": 1}

    async def _written(self, text: str, **more: Any) -> Written:
        data = (await self._told("POST", "/api/psychic-cache/write", note(self.name, text, **more)))["data"]
        expires = datetime.fromisoformat(data["expires_at"]).timestamp() if "ttl_hours" in more else inf
        return Written(data["id"], expires, data["evicted_count"])

    async def _expire(self, living: Sequence[Version]) -> str:
        return await self._write(living, ttl_hours=_SHORT_HOURS)

    async def _purged(self) -> None:
        await self._told("DELETE", f"/api/psychic-cache/{self.name}?reason=mission_complete")

    def _path(self, version: Version) -> str:
        return f"/api/psychic-cache/all/entries/{version.item}"

    def _question(self, query: str) -> tuple[View, str, Json]:
        if self._chance.random() < 0.3:
            return self._block(query, mission_namespace=self.name)
        return View(self.name), "/api/psychic-cache/query", {"mission_id": self.name, "query": query}


class EvictingMission(Mission):
    """It keeps its newest entries."""

    changes: ClassVar[Mapping[str, int]] = {"write": 8, "delete": 1}

    async def prepare(self) -> None:
        await self._told("PUT", f"/api/psychic-cache/{self.name}/limits", {"entry_budget": _KEPT})

    async def _write(self, living: Sequence[Version], **more: Any) -> str:
        oldest = living[: max(0, len(living) + 1 - _KEPT)]
        self._ledger.end(oldest)
        word = f"w{next(self._words):06}q"
        written = await self._written(self._text(word))
        assert written.evicted == len(oldest), (written, len(oldest))
        self._ledger.ended(oldest)
        self._ledger.add(Version(written.item, self.name, word))
        return self._chance.choice([word, *(version.word for version in oldest)])


class Agent(Scope):
    """Some questions come from its peers."""

    shared = True
    changes: ClassVar[Mapping[str, int]] = {
        "write": 8,
        "delete": 3,
        "edit": 3,
        "supersede": 2,
        "hide": 2,
        "purge": 1,
    }

    async def _written(self, text: str, **more: Any) -> Written:
        answer = await self._told("POST", "/api/agent-memory/commit", lesson(self.name, text, **more))
        assert not answer["duplicate_detected"], answer
        return Written(answer["memory_id"])

    async def _hide(self, living: Sequence[Version]) -> str:
        version = self._chance.choice(living)
        version.withheld = min(version.withheld, time.monotonic())
        await self._told("PATCH", self._path(version), {"private": True})
        version.private = min(version.private, time.monotonic())
        return version.word

    async def _purged(self) -> None:
        await self._told("POST", "/api/context/purge", {"agent_name": self.name})

    def _path(self, version: Version) -> str:
        return f"/api/agent-memory/{version.item}"

    def _question(self, query: str) -> tuple[View, str, Json]:
        drawn = self._chance.random()
        if drawn < 0.3:
            return self._block(query, caller=self.name)
        if drawn < 0.6:
            body = {"target_agent": self.name, "query": query}
            return View(self.name, peers=True), "/api/agent-memory/peer-query", body
        return View(self.name), "/api/agent-memory/query", {"agent_name": self.name, "query": query}


class User(Scope):
    """What is remembered about one, for long."""

    changes: ClassVar[Mapping[str, int]] = {"write": 8, "delete": 3, "edit": 3, "supersede": 2, "purge": 1}

    async def _written(self, text: str, **more: Any) -> Written:
        body = {"kind": "knowledge", "scope": f"user:{self.name}", "content": text, **more}
        return Written((await self._told("POST", "/api/memory", body))["id"])

    async def _purged(self) -> None:
        await self._told("POST", "/api/context/purge", {"user_id": self.name})

    def _path(self, version: Version) -> str:
        return f"/api/memory/{version.item}"

    def _question(self, query: str) -> tuple[View, str, Json]:
        if self._chance.random() < 0.3:
            return self._block(query, user_id=self.name)
        return View(self.name), "/api/memory/search", {"query": query, "user_id": self.name}


KINDS: tuple[type[Scope], ...] = (Mission, EvictingMission, Agent, User)


def _shown(answer: Json) -> list[Shown]:
    if "context_block" in answer and "data" not in answer:
        # Each item stands on lines of its own; what is superseded says so in its header, if it is there at all.
        return [Shown(answer["context_block"], marked=True)]
    items = answer["data"]["entries"] if "data" in answer else answer["memories"]
    return [Shown(each["content"], marked=each.get("superseded_by") is not None) for each in items]


def _degraded(answer: Json) -> list[str]:
    degraded: list[str] = answer.get("data", answer)["degraded"]
    return degraded
