"""A caller of the public API: one address, one token, connections kept alive."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import aiohttp
import msgspec

_BUSY = (429, 503)
_TIMEOUT_SECONDS = 30.0
_STALLED_SECONDS = 180


class ApiError(Exception):
    """An answer other than success; the message holds the problem's text."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """At most `connections` requests are in flight; the others wait for their turn.

    What the cluster refuses for now (429, 503) is sent again when it says so, for `patience` seconds.
    """

    def __init__(self, url: str, token: str, *, connections: int = 8, patience: float = 120.0) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._connections = connections
        self._patience = patience

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            self._url,
            headers=self._headers,
            connector=aiohttp.TCPConnector(limit=self._connections),
            timeout=aiohttp.ClientTimeout(total=None, sock_read=_TIMEOUT_SECONDS),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def call(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Send JSON, read JSON. `key` is the Idempotency-Key. Raises ApiError."""
        payload = None if body is None else msgspec.json.encode(body)
        headers = {"Idempotency-Key": key} if key else {}
        end = time.monotonic() + self._patience
        while True:
            async with self._session.request(method, path, data=payload, headers=headers) as response:
                answer = await response.read()
                status, retry_after = response.status, response.headers.get("Retry-After")
            if status < 300:
                return msgspec.json.decode(answer)
            pause = seconds(retry_after)
            if status not in _BUSY or time.monotonic() + pause > end:
                raise ApiError(status, f"{method} {path} answered {status}: {problem_text(answer)}")
            await asyncio.sleep(pause)

    async def post(self, path: str, body: Any, *, key: str | None = None) -> Any:
        return await self.call("POST", path, body, key=key)

    async def put(self, path: str, body: Any) -> Any:
        return await self.call("PUT", path, body)

    async def indexed(
        self, writes: Iterable[tuple[str, Any, str]], *, done: Callable[[], None] = lambda: None
    ) -> None:
        """Wait until every (path, body, key) that was written before has its vectors.

        It is sent again with its key, to wait: a replay is not a second write. Raises ApiError when none moves on.
        """
        moved = time.monotonic()
        for path, body, key in writes:
            while not (await self.post(f"{path}?wait=indexed", body, key=key))["data"]["indexed"]:
                if time.monotonic() - moved > _STALLED_SECONDS:
                    raise ApiError(504, f"no vector has come for {_STALLED_SECONDS} s")
            moved = time.monotonic()
            done()


def leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """The errors themselves, out of the groups that tasks put around them."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error


def seconds(retry_after: str | None) -> float:
    """What a Retry-After header asks for; a second where it cannot be read."""
    try:
        value = float(retry_after or "")
    except ValueError:
        return 1.0
    return min(value, 60.0) if math.isfinite(value) and value >= 0 else 1.0


def problem_text(answer: bytes) -> str:
    """Title, detail and fields of a problem; the beginning of any other answer."""
    try:
        problem = msgspec.json.decode(answer)
        parts = [problem.get("title"), problem.get("detail")]
        parts += [f"{error['field']}: {error['message']}" for error in problem.get("errors", [])]
    except (msgspec.DecodeError, AttributeError, KeyError, TypeError):
        return answer[:500].decode(errors="replace")
    return "; ".join(str(part) for part in parts if part)
