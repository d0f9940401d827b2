"""A session whose context is paged by the services, through their API."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import asyncpg
import msgspec

from bench.client import Client
from bench.paging.events import Event, is_read
from bench.paging.paged import pieces
from services.cache.sessions.paging.fidelity import Level
from services.cache.sessions.paging.partial import Holder, reread
from shared.render import parse_block

_SESSIONS = "/api/sessions"
# A provider answers in seconds; a replay does not, so it waits for the summaries that were made meanwhile.
_QUEUED = "select exists (select from cache.index_queue where store = 'object_summaries' and scope = $1)"
_POLL_SECONDS, _POLLS = 0.02, 500


class Different(Exception):
    """A fault brought back other bytes than were admitted."""


class Known(msgspec.Struct):
    """What a host knows of an object."""

    source: str
    text: str
    level: Level


class ApiSession:
    """`by_faults` brings back what is read again by faults before it is read, as an agent would that saw the stub."""

    def __init__(self, client: Client, name: str, dsn: str, *, by_faults: bool) -> None:
        self._client = client
        self._name = name
        self._dsn = dsn
        self._by_faults = by_faults
        self._path = ""
        self.objects: dict[str, Known] = {}
        self._sources: dict[str, str] = {}
        self._lines: dict[str, dict[str, str]] = {}
        self.levels = Counter[Level]()
        self.batches = self.moves = self.faults = self.exact = 0

    async def begin(self, budget: int) -> None:
        body = {"agent_name": self._name, "config": {"token_budget": budget}}
        made = await self._client.post(_SESSIONS, body)
        self._path = f"{_SESSIONS}/{made['data']['id']}"

    def resident(self, event: Event) -> tuple[int, int]:
        """As that of `PagedSession`."""
        known = self._lines.get(event.key or "", {})
        levels = [
            (len(piece), self.objects[known[piece]].level)
            for piece in pieces(event.text, known)
            if piece in known
        ]
        full = sum(length for length, level in levels if level == Level.FULL)
        return full, sum(length for length, level in levels if level <= Level.DETAILED)

    async def admit(self, event: Event) -> None:
        if not event.text.strip():
            return
        if self._by_faults and event.key is not None:
            await self._bring_back(event)
        body = {
            "content": event.text,
            "object_type": "file_context" if is_read(event) else "tool_result",
            "source_tool": event.tool,
            "source_key": event.key,
            **({} if event.key is None else {"partial": True}),
        }
        answer = await self._client.post(f"{self._path}/objects", body)
        for each in answer["objects"]:
            if each["status"] == "rejected":
                continue
            known = self.objects.get(each["id"])
            if known is None:
                self._sources[each["id"]] = event.key or ""
            elif known.level != Level.FULL:
                self.faults += 1
                known.level = Level.FULL

    async def _bring_back(self, event: Event) -> None:
        holders = [Holder(id_, each.text) for id_, each in self.objects.items() if each.source == event.key]
        for id_ in reread(event.text, holders).again:
            known = self.objects[id_]
            if known.level == Level.FULL:
                continue
            answer = await self._client.post(f"{self._path}/objects/{id_}/fault", {})
            if answer["data"]["content"] != known.text:
                raise Different(f"the object {id_} of {event.key} came back with other bytes")
            self.exact += 1
            self.faults += 1
            for each in (id_, *answer["related"]):
                self.objects[each].level = Level.FULL

    async def prompt(self) -> bytes:
        """The block as it is sent."""
        context = await self._client.call("GET", f"{self._path}/context")
        block: str = context["context_block"]
        texts = [text for _, text in parse_block(block)]
        shown = {each["id"]: each["current_fidelity"] for each in context["objects"]}
        for each, text in zip(context["objects"], texts, strict=True):
            known = self.objects.get(each["id"])
            if known is None:
                self._know(each["id"], text)
            elif each["fidelity"] == 0 and text != known.text:
                raise Different(f"the object {each['id']} of {known.source} stands with other bytes")
        for id_, known in self.objects.items():
            known.level = Level(shown.get(id_, Level.EVICTED))
        self.levels = Counter()
        for each in {each["id"]: each for each in context["objects"]}.values():
            self.levels[Level(each["fidelity"])] += each["tokens"]
        return block.encode()

    async def end_turn(self) -> int:
        """Tokens of all objects afterwards."""
        await self._await_summaries()
        # What came in the turn may shrink at its end: its bytes are read before.
        await self.prompt()
        ended = await self._client.post(f"{self._path}/turns", {})
        if ended["batch"]:
            self.batches += 1
            self.moves += ended["moved"]
            await self.prompt()
        tokens: int = ended["pressure"]["total_context_tokens"]
        return tokens

    def _know(self, id_: str, text: str) -> None:
        source = self._sources[id_]
        self.objects[id_] = Known(source, text, Level.FULL)
        if source:
            lines = self._lines.setdefault(source, {})
            lines.update(dict.fromkeys(text.splitlines(keepends=True), id_))

    async def _await_summaries(self) -> None:
        if not self._dsn:
            return
        connection: Any = await asyncpg.connect(self._dsn)
        try:
            for _ in range(_POLLS):
                if not await connection.fetchval(_QUEUED, f"agent:{self._name}"):
                    return
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            await connection.close()
