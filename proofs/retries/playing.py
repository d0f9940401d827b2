"""The story of the API's document, played through proxies that cut replies; each write is sent until it is answered.

The ledger holds what the client was told: which replies were cut, and which answers did not agree.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import aiohttp

from proofs.retries.cutting import WriteCutter
from proofs.retries.state import State, Tables
from tests.support.cluster import Answer, Client
from tests.support.openapi import DOCUMENT, operations
from tools.openapi.examples import EXAMPLES
from tools.openapi.examples_cache import Example
from tools.openapi.playing import part, places, resolved

KEYED = frozenset(
    one.id for one in operations() if any(p["name"].lower() == "idempotency-key" for p in one.parameters)
)
"""The operations that take an Idempotency-Key, by the document."""
_PLACES = places(DOCUMENT)
CUTS = 2
_TRIES = 60
_AGAIN_SECONDS = 0.05
_BUSY = (429, 502, 503)
# What these erase is compared before.
_ERASING = frozenset({"agent_memory_forget", "session_reset", "vault_remove"})
# A new text makes another request of one that has such a field.
_TEXTS = (
    *("content", "text", "note", "task", "reason", "summary", "goal", "object", "alias", "external_id"),
    *("description", "name", "model"),
)


class Request(NamedTuple):
    operation: str
    method: str
    target: str
    body: Any


@dataclass
class Ledger:
    cuts: Counter[str] = field(default_factory=Counter)
    """Replies that were cut, by operation."""
    reached: set[str] = field(default_factory=set)
    """Operations whose writes passed the second hop."""
    wrong: list[str] = field(default_factory=list)
    refused: int = 0
    """Others under a key that was used, answered with 422."""
    states: list[State] = field(default_factory=list)


class Play:
    """`cutter` cuts `cuts` replies of each write; without `keyed`, no write has a key."""

    def __init__(
        self, client: Client, owners: list[WriteCutter], tables: Tables, tenant: str, *, keyed: bool = True
    ) -> None:
        self._client, self._owners, self._tables, self._tenant = client, owners, tables, tenant
        self._keyed = keyed
        self._kept: dict[str, Any] = {}
        self.ledger = Ledger()

    async def play(self, cutters: list[WriteCutter], cuts: int) -> Ledger:
        for number, example in enumerate(_played()):
            if example.operation in _ERASING:
                self.ledger.states.append(await self._tables.of(self._tenant))
            try:
                request = _request(example, self._kept)
            except KeyError:
                continue  # only without keys, where a repeat may be refused
            await self._one(example, request, f"{self._tenant}-{number}", cutters, cuts)
        self.ledger.states.append(await self._tables.of(self._tenant))
        return self.ledger

    async def _one(
        self, example: Example, request: Request, key: str, cutters: list[WriteCutter], cuts: int
    ) -> None:
        keyed = request.operation in KEYED
        headers = {"idempotency-key": key} if keyed and self._keyed else {}
        passed = sum(one.passed for one in self._owners)
        answer = await self._answered(request, headers, cutters if keyed else [], cuts)
        if keyed and sum(one.passed for one in self._owners) > passed:
            self.ledger.reached.add(request.operation)
        if answer.status < 300:
            # Without a key, a repeat may find that there is nothing left to do.
            with nullcontext() if self._keyed else suppress(LookupError):
                self._kept |= {name: part(answer.body, path) for name, path in example.keep.items()}
        elif self._keyed:
            self.ledger.wrong.append(f"{request.operation} answers {answer.status}: {answer.body}")
        if keyed and self._keyed and cuts:
            await self._again(request, headers, answer)

    async def _answered(
        self, request: Request, headers: Mapping[str, str], cutters: list[WriteCutter], cuts: int
    ) -> Answer:
        before = sum(one.cuts for one in cutters)
        try:
            for _ in range(_TRIES):
                left = before + cuts - sum(one.cuts for one in cutters)
                for cutter in cutters:
                    cutter.replies = max(0, min(1, left))
                try:
                    answer = await self._send(request, headers)
                except (aiohttp.ClientError, OSError):
                    continue
                if answer.status not in _BUSY:
                    return answer
                await asyncio.sleep(_AGAIN_SECONDS)
            raise TimeoutError(f"{request.operation} was not answered")
        finally:
            for cutter in cutters:
                cutter.replies = 0
            self.ledger.cuts[request.operation] += sum(one.cuts for one in cutters) - before

    async def _again(self, request: Request, headers: Mapping[str, str], answer: Answer) -> None:
        again = await self._answered(request, headers, [], 0)
        if again.status != answer.status or not same(answer.body, again.body):
            self.ledger.wrong.append(f"{request.operation} answers {answer}, then {again}")
        other = await self._answered(another(request), headers, [], 0)
        if _is_refused(other):
            self.ledger.refused += 1
        # Nothing is there to write to, so the key was not looked at.
        elif request.body is not None or other.status != 404:
            self.ledger.wrong.append(f"{request.operation} answers another request {other}")

    async def _send(self, request: Request, headers: Mapping[str, str]) -> Answer:
        lines = isinstance(request.body, str)
        given = {"content-type": "application/x-ndjson" if lines else "application/json"}
        data = request.body if lines or request.body is None else json.dumps(request.body)
        # Without a connection that was used before, nothing is sent twice behind the ledger's back.
        sent = {**headers, **(given if data is not None else {}), "connection": "close"}
        async with self._client.session.request(
            request.method, request.target, data=data and data.encode(), headers=sent
        ) as response:
            text = await response.text()
            media = response.content_type.removeprefix("application/")
            parsed = json.loads(text) if text and media in ("json", "problem+json") else text
            return Answer(response.status, parsed, response.headers)


def _played() -> list[Example]:
    """All but streams, and what erases without a key: it would erase the traces of repeats, too."""
    return [
        one
        for one in EXAMPLES
        if one.accept != "text/event-stream"
        and one.operation != "purge"
        and (one.operation in KEYED or _PLACES[one.operation][0] != "DELETE")
    ]


def _request(example: Example, kept: Mapping[str, Any]) -> Request:
    method, path, where = _PLACES[example.operation]
    given = resolved(example.parameters, kept)
    shown = {name: quote(str(value), safe="") for name, value in given.items() if where[name] == "path"}
    asked = urlencode({name: value for name, value in given.items() if where[name] == "query"})
    target = path.format(**shown) + (f"?{asked}" if asked else "")
    return Request(example.operation, method, target, resolved(example.body, kept))


def _is_refused(answer: Answer) -> bool:
    """Of a batch, each entry."""
    if answer.status != 200:
        return answer.status == 422
    data = answer.body.get("data") if isinstance(answer.body, dict) else None
    entries = data.get("entries", []) if isinstance(data, dict) else []
    return bool(entries) and all(one.get("status") == 422 for one in entries)


def same(first: Any, again: Any) -> bool:
    """A secret is shown once: what the repeat does not tell is no difference."""
    if again is None:
        return True
    if isinstance(first, dict) and isinstance(again, dict):
        return all(same(first.get(name), value) for name, value in again.items())
    if isinstance(first, list) and isinstance(again, list):
        return len(first) == len(again) and all(map(same, first, again))
    return bool(first == again)


def another(request: Request) -> Request:
    """A request like it, on the same route where that can be."""
    body = request.body
    if isinstance(body, str):
        return request._replace(body=body.replace('"content":"', '"content":"not ', 1))
    if body is None:
        # What it is about stands in the address alone.
        return request._replace(target=_elsewhere(request.target))
    changed = copy.deepcopy(body)
    return request._replace(body=changed if _change(changed) else {**body, **_OTHERS[request.operation]})


def _elsewhere(target: str) -> str:
    """The same of another file, or of what has another id before the last part of the path."""
    if "?" in target:
        return f"{target}x"
    *before, id_, last = target.split("/")
    other = str(int(id_) + 1) if id_.isdigit() else id_[:-1] + ("0" if id_[-1] != "0" else "1")
    return "/".join((*before, other, last))


def _change(value: Any) -> bool:
    """Whether there was a text to change."""
    if isinstance(value, list):
        return any(map(_change, value))
    if not isinstance(value, dict):
        return False
    for name in _TEXTS:
        if isinstance(value.get(name), str):
            value[name] += " x"
            return True
    return any(map(_change, value.values()))


_OTHERS: dict[str, dict[str, Any]] = {
    "agent_memory_forget": {"agent_name": "builder"},
    "context_feedback": {"tokens_used": 181},
    "context_rotate_key": {"overlap_seconds": 3_601},
    "session_compact": {"force": True},
    "session_complete": {"status": "abandoned"},
    "session_fault": {"fault_type": "entropy_triggered"},
    "session_relate": {"relationship": "depends_on"},
    "session_release": {"fidelity": 2},
    "session_reset": {"agent_name": "builder"},
    "webhooks_rotate": {"overlap_seconds": 3_601},
}
"""Of operations whose bodies hold no text."""
