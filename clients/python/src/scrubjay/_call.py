"""A call, and how it goes: tries, waits and deadlines, without any I/O."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from scrubjay._data import UNSET, decode, encode
from scrubjay.errors import ApiError, NotReachedError, Problem, ScrubjayError, UnknownHostError, error_of

T = TypeVar("T")

JSON = "application/json"
LINES = "application/x-ndjson"
# Above the service's own deadline: its refusal says more than a timeout here.
_GRACE_SECONDS = 3.0
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0
# By then the longest wait is reached; a stream may try thousands of times.
_MOST_DOUBLED = 10


@dataclass(frozen=True, kw_only=True)
class Call(Generic[T]):
    """`answer` is a model, a list of one where the answer is JSON Lines, or None where it has no content."""

    method: str
    path: str
    answer: Any
    seconds: float
    """The service's own deadline for it."""
    repeatable: bool
    """It may be sent again when nobody knows whether it was done."""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    lines: Iterable[Any] | None = None
    keyed: bool = False
    idempotency_key: str | None = None
    timeout: float | None = None
    own: Mapping[str, str] = field(default_factory=dict)
    """The body's fields for `agent` and `mission`, which a client for one agent fills in."""
    each: str | None = None
    """The body's list whose items have these fields, where the body itself has not."""
    without_mission: str | None = None
    """What stands in the path in place of a mission, where that may be left out."""


Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class PagedCall(Call[T], Generic[T, Item]):
    """A call that answers a page with `data` and `next`."""

    def following(self, cursor: str) -> PagedCall[T, Item]:
        """The call for the page that begins at the cursor."""
        if self.body is not None:
            return replace(self, body={**self.body, "cursor": cursor})
        return replace(self, query={**self.query, "after": None, "cursor": cursor})


@dataclass(frozen=True)
class Policy:
    timeout: float
    """Seconds for a call with all its tries, where it does not say it itself."""
    retries: int


@dataclass(frozen=True)
class Send:
    method: str
    target: str
    headers: dict[str, str]
    content: bytes | None
    timeout: float


@dataclass(frozen=True)
class Wait:
    seconds: float


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Lost:
    """No answer. `sent` is False when the service cannot have seen it."""

    error: Exception
    sent: bool
    unknown_host: bool = False
    """The name of the service's host leads nowhere: trying again would not help."""


Steps = Generator[Send | Wait, "Answer | Lost | None", T]


def path(template: str, **values: object) -> str:
    """The template with the values that are given; the places of the others stay."""
    for name, value in values.items():
        if value is not None:
            template = template.replace(f"{{{name}}}", quote(str(value), safe=""))
    return template


def fields(**values: Any) -> dict[str, Any]:
    """A body's fields that were given."""
    return {name: value for name, value in values.items() if value is not None}


def nullable(**values: Any) -> dict[str, Any]:
    """Those of which null says something."""
    return {name: value for name, value in values.items() if value is not UNSET}


def steps(call: Call[T], policy: Policy) -> Steps[T]:
    """Yields what to do, takes what came of it, and returns the answer. Raises ScrubjayError."""
    end = time.monotonic() + (policy.timeout if call.timeout is None else call.timeout)
    target, headers, content = _request(call)
    tries = 0
    while True:
        left = max(0.0, end - time.monotonic())
        if left < call.seconds:
            headers["x-timeout-ms"] = str(max(1, int(left * 1000)))
        got = yield Send(call.method, target, headers, content, min(left, call.seconds) + _GRACE_SECONDS)
        assert got is not None
        if isinstance(got, Answer) and got.status < 300:
            return _read(call, got)
        error = failure(got)
        wait = pause(tries, error)
        if tries >= policy.retries or not _may_repeat(call, got) or time.monotonic() + wait >= end:
            raise error
        tries += 1
        yield Wait(wait)


def _request(call: Call[Any]) -> tuple[str, dict[str, str], bytes | None]:
    given = {name: encode(value) for name, value in call.query.items() if value is not None}
    target = _path(call) + (f"?{urlencode(given, doseq=True)}" if given else "")
    headers = {"accept": f"{JSON}, {LINES}"}
    content = None
    if call.lines is not None:
        content = b"".join(json.dumps(encode(one)).encode() + b"\n" for one in call.lines)
        headers["content-type"] = LINES
    elif call.body is not None:
        content = json.dumps(encode(call.body)).encode()
        headers["content-type"] = JSON
    if call.keyed:
        headers["idempotency-key"] = call.idempotency_key or uuid.uuid4().hex
    return target, headers, content


def _path(call: Call[Any]) -> str:
    found = path(call.path, mission=call.without_mission)
    if "{mission}" in found:
        raise ValueError("name the mission, or bind the client to one: client.agent(name, mission=...)")
    return found


def _read(call: Call[T], answer: Answer) -> T:
    try:
        if call.answer is None:
            return None  # type: ignore[return-value]
        if answer.headers.get("content-type", "").startswith(LINES):
            document: Any = [json.loads(line) for line in answer.content.splitlines() if line.strip()]
        else:
            document = json.loads(answer.content)
        decoded: T = decode(call.answer, document)
    except (ValueError, TypeError, AttributeError) as error:
        raise ScrubjayError(f"{call.method} {call.path}: an answer that cannot be read: {error}") from error
    return decoded


def failure(got: Answer | Lost) -> ScrubjayError:
    if isinstance(got, Lost):
        error = (
            UnknownHostError(got.error) if got.unknown_host else NotReachedError(f"no answer: {got.error!r}")
        )
        error.__cause__ = got.error
        return error
    try:
        document = json.loads(got.content)
    except ValueError:
        document = None
    seconds = got.headers.get("retry-after", "")
    return error_of(
        Problem.read(got.status, document),
        got.headers.get("x-request-id"),
        float(seconds) if seconds.isdigit() else None,
    )


def _may_repeat(call: Call[Any], got: Answer | Lost) -> bool:
    if isinstance(got, Lost):
        return not got.unknown_host and (call.repeatable or not got.sent)
    # 408 and 429: nothing was done.
    return got.status in (408, 429) or (call.repeatable and got.status in (502, 503, 504))


def pause(tries: int, error: ScrubjayError) -> float:
    """Seconds before the next try: what the service asks for, or twice as long each time; never in step."""
    asked = error.retry_after if isinstance(error, ApiError) else None
    grown: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(tries, _MOST_DOUBLED))
    return (asked or 0.0) + grown * random.uniform(0.5, 1.0)  # noqa: S311
