"""Calls to the services that own the stores, each with the time left before the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec

from services.context.forwarding.hedging import Hedge
from services.context.forwarding.wire import Wire
from shared import deadline as deadlines
from shared import identity
from shared.auth import Principal
from shared.body import UNKNOWN_FIELD
from shared.concurrency.breaker import Breaker, BreakerOpen
from shared.concurrency.courtesy import make_way
from shared.database.index_queue import StoreBacklog
from shared.deadline import Deadline
from shared.errors import PassedOn, Unavailable
from shared.identity import Signer
from shared.search.evidence import SearchRequest, SearchResult
from shared.states.schemas import States, StatesRequest
from shared.web import idempotency_key
from shared.web.request import REQUEST_ID

T = TypeVar("T")


class LinkedFile(msgspec.Struct):
    """The beginning of a linked file, or why it was not read."""

    path: str
    text: str = ""
    modified_at: datetime | None = None
    refused: str | None = None
    operators: bool = False
    """It is an operator's word: no agent or user wrote it."""


class Links(msgspec.Struct):
    files: list[LinkedFile]


_JSON = ("content-type", "application/json")
_ENCODER = msgspec.json.Encoder()
_SEARCH_RESULT = msgspec.json.Decoder(SearchResult)
_LINKS = msgspec.json.Decoder(Links)
_STATES = msgspec.json.Decoder(States)
_BACKLOG = msgspec.json.Decoder(list[StoreBacklog])
_ANY = msgspec.json.Decoder(Any)
_COUNTS = msgspec.json.Decoder(dict[str, int])

# After this many timeouts in a row, we ask whether the service lives. If it does not, calls fail at once until it does.
_BREAKER_AFTER = 3
_BREAKER_SECONDS = 1.0
_PROBE_SECONDS = 1.0
# A shorter wait says nothing about the service, and asks for no probe.
_TELLING_SECONDS = 0.2


class Failed(Exception):
    """An owner gave no answer. `reason` is a metric label."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Down(Failed):
    """The connection ended or could not be opened."""

    def __init__(self) -> None:
        super().__init__("down")


class Owner:
    def __init__(self, name: str, url: str, signer: Signer) -> None:
        self.name = name
        self.wire = Wire(url)
        self._signer = signer
        self._hedge = Hedge(name)
        self._breaker = Breaker(
            name,
            self._probe,
            failures=_BREAKER_AFTER,
            probe_seconds=_PROBE_SECONDS,
            shortest=_BREAKER_SECONDS,
            longest=_BREAKER_SECONDS,
        )

    async def close(self) -> None:
        await self._breaker.close()
        self.wire.close()

    def headers(self, principal: Principal, deadline: Deadline, request_id: str) -> dict[str, str]:
        return {
            identity.HEADER: self._signer.header(principal),
            deadlines.HEADER: str(max(1, deadline.left_ms())),
            REQUEST_ID: request_id,
        }

    async def search(
        self, request: SearchRequest, principal: Principal, deadline: Deadline, request_id: str
    ) -> SearchResult:
        """Raises Failed with one of: down, timeout, erroring, overloaded, outdated, breaker open."""
        body = _ENCODER.encode(request)
        return await self._hedge.first(
            partial(self._call, "/internal/search", body, _SEARCH_RESULT, principal, deadline, request_id),
            again_on=Down,
        )

    async def links(
        self, paths: list[str], characters: int, principal: Principal, deadline: Deadline, request_id: str
    ) -> list[LinkedFile]:
        """Raises Failed."""
        body = _ENCODER.encode({"paths": paths, "characters": characters})
        answer = await self._call("/internal/links", body, _LINKS, principal, deadline, request_id)
        return answer.files

    async def states(
        self, request: StatesRequest, principal: Principal, deadline: Deadline, request_id: str
    ) -> States:
        """Raises Failed."""
        body = _ENCODER.encode(request)
        return await self._call("/internal/states", body, _STATES, principal, deadline, request_id)

    async def backlog(self, principal: Principal, deadline: Deadline, request_id: str) -> list[StoreBacklog]:
        """Raises Failed."""
        return await self._call("/internal/backlog", None, _BACKLOG, principal, deadline, request_id)

    async def ask(
        self,
        method: str,
        path: str,
        principal: Principal,
        deadline: Deadline,
        request_id: str,
        *,
        body: bytes | None = None,
        params: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Any:
        """Calls any route of the owner. Raises Unavailable, or the owner's refusal."""
        try:
            return await self._call(
                path, body, _ANY, principal, deadline, request_id, params=params, method=method, key=key
            )
        except Failed as error:
            raise Unavailable(self.name, f"{self.name}: {error.reason}") from error

    async def purge(
        self,
        scope: str,
        agent: str | None,
        user: str | None,
        principal: Principal,
        deadline: Deadline,
        request_id: str,
    ) -> dict[str, int]:
        """Erases the scope, what the agent wrote elsewhere, and what is about the user. Answers rows by table.

        Raises Unavailable unless the owner erased everything.
        """
        named = {"purged": scope, "agent": agent, "user": user}
        params = {name: value for name, value in named.items() if value is not None}
        try:
            return await self._call(
                "/internal/purge", b"", _COUNTS, principal, deadline, request_id, params=params
            )
        except Failed as error:
            raise Unavailable(self.name, f"{self.name} did not purge: {error.reason}") from error

    async def _probe(self) -> None:
        """Any answer will do, a refusal too."""
        async with self.wire.request("GET", "/livez", []):
            pass

    async def purge_tenant(self, principal: Principal, deadline: Deadline, request_id: str) -> dict[str, int]:
        """Erases a part of the principal's tenant. Answers rows by table, all 0 when nothing is left."""
        try:
            return await self._call("/internal/purge/tenant", b"", _COUNTS, principal, deadline, request_id)
        except Failed as error:
            raise Unavailable(self.name, f"{self.name} did not purge: {error.reason}") from error

    async def _call(
        self,
        path: str,
        body: bytes | None,
        decoder: msgspec.json.Decoder[T],
        principal: Principal,
        deadline: Deadline,
        request_id: str,
        params: Mapping[str, str] | None = None,
        method: str | None = None,
        key: str | None = None,
    ) -> T:
        try:
            self._breaker.check()
        except BreakerOpen as error:
            raise Failed("breaker open") from error
        await make_way()
        patience = max(0.001, deadline.left())
        headers = [*self.headers(principal, deadline, request_id).items(), _JSON]
        if key is not None:
            headers.append((idempotency_key.HEADER, key))
        target = f"{path}?{urlencode(params)}" if params else path
        try:
            async with (
                asyncio.timeout(patience),
                self.wire.request(
                    method or ("GET" if body is None else "POST"), target, headers, body or b""
                ) as response,
            ):
                answer = await response.read()
        except TimeoutError as error:
            if patience >= _TELLING_SECONDS:
                self._breaker.failed()
            raise Failed("timeout") from error
        except OSError as error:
            raise Down from error
        self._breaker.succeeded()
        if not 200 <= response.status < 300:
            raise _failure(response.status, answer)
        try:
            return decoder.decode(answer)
        except msgspec.DecodeError as error:
            raise Failed("erroring") from error


class Owners(dict[str, Owner]):
    """The services that own stores, by name."""

    async def close(self) -> None:
        await asyncio.gather(*(owner.close() for owner in self.values()))


def outdated(problem: Mapping[str, Any]) -> bool:
    """Whether an owner of the previous release refused a field that it does not know, during an upgrade."""
    return any(error.get("message") == UNKNOWN_FIELD for error in problem.get("errors") or ())


def _failure(status: int, answer: bytes) -> Exception:
    if status in (400, 403, 404, 409, 422):
        try:
            problem = msgspec.json.decode(answer, type=dict[str, Any])
        except msgspec.DecodeError:
            return Failed("erroring")
        return Failed("outdated") if outdated(problem) else PassedOn(status, problem)
    return Failed("overloaded" if status in (429, 503) else "erroring")
