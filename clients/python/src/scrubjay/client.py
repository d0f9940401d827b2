"""The clients: one that waits and one that awaits, with the same calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Self, TypeVar

import httpx

from scrubjay._address import is_unknown_host, settings
from scrubjay._bound import Bound
from scrubjay._call import Answer, Call, Lost, Policy, Send, Wait, failure, pause, steps
from scrubjay._events import Reader
from scrubjay._version import __version__
from scrubjay.errors import ApiError, ScrubjayError, UnknownHostError
from scrubjay.groups import AsyncCalls, Calls
from scrubjay.models import Event

T = TypeVar("T")

# The service speaks every 15 s; a stream that is silent for longer is dead.
_SILENCE_SECONDS = 40.0
_CONNECT_SECONDS = 5.0
_TIMEOUT = httpx.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20)
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_TIMELINE = "/api/timeline"
_PASSING = (429, 502, 503, 504)


def _headers(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", "user-agent": f"scrubjay-python/{__version__}"}


def _answer(response: httpx.Response) -> Answer:
    return Answer(response.status_code, response.headers, response.content)


def _lost(error: httpx.TransportError) -> Lost:
    return Lost(error, sent=not isinstance(error, _NEVER_SENT), unknown_host=is_unknown_host(error))


def _limit(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))


def _wanted(mission: str | None, kind: str | None, dispatch_id: int | None) -> dict[str, str]:
    given = {"mission": mission, "kind": kind, "dispatch_id": dispatch_id}
    return {name: str(value) for name, value in given.items() if value is not None}


def _from(reader: Reader) -> dict[str, str]:
    headers = {"accept": "text/event-stream"}
    return headers if reader.last is None else {**headers, "last-event-id": str(reader.last)}


class _Patience:
    """How long to wait before a stream is opened again."""

    def __init__(self, retries: int) -> None:
        self._retries = retries
        self._failures = 0
        self._opened = False

    def opened(self) -> None:
        self._opened = True
        self._failures = 0

    def after(self, error: ScrubjayError | None, reader: Reader) -> float:
        """Raises `error` where coming back does not help."""
        if error is None:
            return reader.retry
        if isinstance(error, ApiError) and error.problem.status not in _PASSING:
            raise error
        if not self._opened and (isinstance(error, UnknownHostError) or self._failures >= self._retries):
            raise error
        self._failures += 1
        return max(reader.retry, pause(self._failures, error))


class Client(Calls):
    """Waits for each answer. Threads may share it.

    `timeout` is what a call may take with all its tries; `retries` how often it is tried again when the service is
    away, full, or cannot be reached. A write is tried again under one Idempotency-Key: it happens once.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        address, secret = settings(url, token)
        self._policy = Policy(timeout, retries)
        self._http = httpx.Client(
            base_url=address, headers=_headers(secret), timeout=_TIMEOUT, limits=_LIMITS, transport=transport
        )
        super().__init__()

    def agent(self, name: str, *, mission: str | None = None) -> Agent:
        """This client for one agent, and for one mission: calls fill in what they leave out.

        Filters of lists stay as they are, and so does what deletes.
        """
        return Agent(self, Bound(name, mission))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def send(self, call: Call[T]) -> T:
        going = steps(call, self._policy)
        got: Answer | Lost | None = None
        while True:
            try:
                step = going.send(got)
            except StopIteration as end:
                answer: T = end.value
                return answer
            if isinstance(step, Wait):
                time.sleep(step.seconds)
                got = None
            else:
                got = self._try(step)

    def _try(self, send: Send) -> Answer | Lost:
        try:
            response = self._http.request(
                send.method,
                send.target,
                headers=send.headers,
                content=send.content,
                timeout=_limit(send.timeout),
            )
            return _answer(response)
        except httpx.TransportError as error:
            return _lost(error)

    def events(
        self,
        *,
        mission: str | None = None,
        kind: str | None = None,
        dispatch_id: int | None = None,
        after: int | None = None,
    ) -> Iterator[Event]:
        """What happens from now on, or from after event `after` on; each event once and in order.

        It does not end by itself: a stream that breaks off is opened again where it was. Raises ApiError when the
        service refuses it, and NotReachedError when the first connection fails after all retries.
        """
        wanted = _wanted(mission, kind, dispatch_id)
        reader, patience = Reader(after), _Patience(self._policy.retries)
        while True:
            failed: ScrubjayError | None = None
            try:
                with self._http.stream("GET", _TIMELINE, params=wanted, headers=_from(reader)) as response:
                    if response.status_code != 200:
                        response.read()
                        failed = failure(_answer(response))
                    else:
                        patience.opened()
                        for text in response.iter_text():
                            yield from reader.feed(text)
            except httpx.TransportError as error:
                failed = failure(_lost(error))
            reader.broken()
            time.sleep(patience.after(failed, reader))


class AsyncClient(AsyncCalls):
    """Awaits each answer; otherwise as Client."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        address, secret = settings(url, token)
        self._policy = Policy(timeout, retries)
        self._http = httpx.AsyncClient(
            base_url=address, headers=_headers(secret), timeout=_TIMEOUT, limits=_LIMITS, transport=transport
        )
        super().__init__()

    def agent(self, name: str, *, mission: str | None = None) -> AsyncAgent:
        """This client for one agent, and for one mission: calls fill in what they leave out.

        Filters of lists stay as they are, and so does what deletes.
        """
        return AsyncAgent(self, Bound(name, mission))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.close()

    async def send(self, call: Call[T]) -> T:
        going = steps(call, self._policy)
        got: Answer | Lost | None = None
        while True:
            try:
                step = going.send(got)
            except StopIteration as end:
                answer: T = end.value
                return answer
            if isinstance(step, Wait):
                await asyncio.sleep(step.seconds)
                got = None
            else:
                got = await self._try(step)

    async def _try(self, send: Send) -> Answer | Lost:
        try:
            response = await self._http.request(
                send.method,
                send.target,
                headers=send.headers,
                content=send.content,
                timeout=_limit(send.timeout),
            )
            return _answer(response)
        except httpx.TransportError as error:
            return _lost(error)

    async def events(
        self,
        *,
        mission: str | None = None,
        kind: str | None = None,
        dispatch_id: int | None = None,
        after: int | None = None,
    ) -> AsyncIterator[Event]:
        """What happens from now on, or from after event `after` on; each event once and in order.

        It does not end by itself: a stream that breaks off is opened again where it was. Raises ApiError when the
        service refuses it, and NotReachedError when the first connection fails after all retries.
        """
        wanted = _wanted(mission, kind, dispatch_id)
        reader, patience = Reader(after), _Patience(self._policy.retries)
        while True:
            failed: ScrubjayError | None = None
            try:
                async with self._http.stream(
                    "GET", _TIMELINE, params=wanted, headers=_from(reader)
                ) as response:
                    if response.status_code != 200:
                        await response.aread()
                        failed = failure(_answer(response))
                    else:
                        patience.opened()
                        async for text in response.aiter_text():
                            for event in reader.feed(text):
                                yield event
            except httpx.TransportError as error:
                failed = failure(_lost(error))
            reader.broken()
            await asyncio.sleep(patience.after(failed, reader))


class Agent(Calls):
    """A client for one agent, over the connections of the client that made it."""

    def __init__(self, client: Client, bound: Bound) -> None:
        self._client = client
        self._bound = bound
        super().__init__()

    def send(self, call: Call[T]) -> T:
        return self._client.send(self._bound.on(call))


class AsyncAgent(AsyncCalls):
    """A client for one agent, over the connections of the client that made it."""

    def __init__(self, client: AsyncClient, bound: Bound) -> None:
        self._client = client
        self._bound = bound
        super().__init__()

    async def send(self, call: Call[T]) -> T:
        return await self._client.send(self._bound.on(call))
