"""What is wrong with a setup, in words: from the file of settings to what a question finds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal

import httpx

from scrubjay._address import checked
from scrubjay.cli import settings
from scrubjay.cli.session import connect
from scrubjay.cli.settings import Settings, hidden
from scrubjay.client import Client
from scrubjay.errors import ApiError, ForbiddenError, InvalidError, ScrubjayError, UnauthorizedError
from scrubjay.hooks.switch import off_file

_SECONDS = 5.0
_SKEW_SECONDS = 30.0
State = Literal["good", "odd", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    state: State
    what: str
    advice: str = ""


def examine(found: Settings) -> Iterator[Finding]:
    """Ends where nothing further can be said."""
    yield _stored()
    wrong = _missing(found)
    if wrong is not None:
        yield wrong
        return
    answer = _asked(found, "/livez")
    if isinstance(answer, Finding):
        yield answer
        return
    yield Finding("good", f"the service at {found.url} answers")
    yield from _clock(answer)
    yield _ready(found)
    with connect(found) as client:
        yield from _key(client, found)


def _stored() -> Finding:
    file = settings.path()
    if not file.exists():
        return Finding(
            "odd", f"{file} does not exist: only the environment counts", "`scrubjay login` writes it"
        )
    return Finding("good", f"{file} can be read by you alone")


def _missing(found: Settings) -> Finding | None:
    if not found.url or not found.token:
        name = "SCRUBJAY_URL" if not found.url else "SCRUBJAY_TOKEN"
        return Finding("bad", f"{name} is not set, and no file says it", "run `scrubjay login`")
    try:
        checked(found.url)
    except ValueError as error:
        return Finding("bad", str(error), "run `scrubjay login` with another address")
    return None


def _asked(found: Settings, path: str) -> httpx.Response | Finding:
    try:
        return httpx.get(f"{str(found.url).rstrip('/')}{path}", timeout=_SECONDS)
    except httpx.ConnectError as error:
        advice = "is it running, and is this its address? A proxy or a firewall may stand between"
        return Finding("bad", f"nothing answers at {found.url}: {error}", advice)
    except httpx.HTTPError as error:
        return Finding(
            "bad", f"{found.url} did not answer within {_SECONDS:.0f} s: {error or type(error).__name__}"
        )


def _clock(answer: httpx.Response) -> Iterator[Finding]:
    said = answer.headers.get("date")
    if said is None:
        return
    away = time.time() - parsedate_to_datetime(said).timestamp()
    if abs(away) > _SKEW_SECONDS:
        side = "ahead of" if away > 0 else "behind"
        advice = "what you write with a time ahead is refused: set the clock"
        yield Finding("odd", f"this machine's clock is {abs(away):.0f} s {side} the service's", advice)


def _ready(found: Settings) -> Finding:
    answer = _asked(found, "/readyz")
    if isinstance(answer, Finding):
        return answer
    if answer.status_code == httpx.codes.OK:
        return Finding("good", "it is ready: everything that it needs is there")
    if answer.status_code == httpx.codes.NOT_FOUND:
        return Finding("odd", "/readyz is not there", "the ingress may hide it; else this is another service")
    advice = "those who run it can see in its logs why"
    return Finding("bad", f"it is not ready ({answer.status_code}): {_said(answer)}", advice)


def _said(answer: httpx.Response) -> str:
    return " ".join(answer.text[:300].split())


def _key(client: Client, found: Settings) -> Iterator[Finding]:
    shown = hidden(found.token or "")
    try:
        may = [name for name, allowed in _rights(client) if allowed]
    except UnauthorizedError:
        advice = "ask who runs the service for another, then run `scrubjay login`"
        yield Finding("bad", f"the key {shown} is unknown, expired or revoked", advice)
        return
    except ScrubjayError as error:
        yield Finding("bad", f"the key could not be tried: {error}")
        return
    if "write" in may:
        yield Finding("good", f"the key {shown} may {' and '.join(may)}")
    else:
        advice = "`scrubjay remember`, imports and hooks need a key that may write"
        yield Finding("odd", f"the key {shown} may only {' and '.join(may) or 'do nothing'}", advice)
    if "read" in may:
        yield from _answers(client, found)


def _rights(client: Client) -> Iterator[tuple[str, bool]]:
    yield "read", _allowed(lambda: client.log(limit=1).page())
    # An empty batch is refused as such, after the service has looked at what the key may do.
    yield "write", _allowed(lambda: client.memory.write_batch(memories=[]))
    yield "administer", _allowed(lambda: client.list_keys(limit=1).page())


def _allowed(call: Any) -> bool:
    try:
        call()
    except ForbiddenError:
        return False
    except InvalidError:
        return True
    return True


def _answers(client: Client, found: Settings) -> Iterator[Finding]:
    began = time.monotonic()
    try:
        answer = client.assemble("What matters now?", caller=found.agent, mission=found.mission, log=False)
    except InvalidError as error:
        if not found.agent and any(each.field in ("caller", "agent") for each in error.errors):
            yield Finding(
                "odd", "no agent is set", "set SCRUBJAY_AGENT, or run `scrubjay login --agent NAME`"
            )
        else:
            yield Finding("bad", f"a question was refused: {error}")
        return
    except ApiError as error:
        yield Finding("bad", f"a question was refused: {error}")
        return
    took = (time.monotonic() - began) * 1_000
    yield Finding("good", f"a question was answered in {took:.0f} ms, with {len(answer.sources)} items")
    for each in answer.degraded:
        yield Finding(
            "odd", f"{each.source} answered in part: {each.reason}", "answers are shorter until it is back"
        )
    yield _off()


def _off() -> Finding:

    file = off_file(Path.cwd())
    if file is None:
        return Finding("good", "hooks of coding agents work in this folder, where they are installed")
    return Finding("odd", f"hooks are off in this folder: {file} says so", f"delete {file} to switch them on")
