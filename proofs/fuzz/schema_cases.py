"""Cases that schemathesis makes of the API's document: valid ones, and such that break its schemas."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import hypothesis
import schemathesis
from schemathesis import GenerationMode

from proofs.fuzz.judging import LATE, PAUSE_SECONDS, RETRIES, Judge, Reply
from services.context.document import as_json
from tests.support.openapi import Operation, operations

_SECONDS = 90
_HURRIED = "x-timeout-ms"
_MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)


@schemathesis.serializer("application/x-ndjson")
def _lines(_: Any, value: Any) -> bytes:
    return value.encode("utf-8", "replace") if isinstance(value, str) else json.dumps(value).encode()


def play(url: str, token: str, count: int, seed: int, *, both: bool) -> Judge:
    """About `count` cases, the same number of each operation, in both modes or in one of them by turns: what takes
    longest is to prepare a mode.
    """
    schema = schemathesis.openapi.from_dict(json.loads(as_json()))
    known = {(one.method, one.path): one for one in operations()}
    made: list[Any] = [result.ok() for result in schema.get_all_operations()]  # type: ignore[union-attr]
    each = -(-count // (len(made) * (len(_MODES) if both else 1)))
    judge = Judge()
    # One after the other: hypothesis parses code, and two threads that do so fail on Python 3.11.
    for number, one in enumerate(made):
        modes = _modes(one)
        for mode in modes if both else [modes[number % len(modes)]]:
            _play(one, mode, known[one.method.upper(), one.path], url, token, each, seed, judge)
    return judge


def _play(
    made: Any,
    mode: GenerationMode,
    operation: Operation,
    url: str,
    token: str,
    count: int,
    seed: int,
    judge: Judge,
) -> None:
    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=[*hypothesis.HealthCheck],
    )
    @hypothesis.given(case=made.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
        response = _last_response(case, url, headers, judge)
        media = response.headers.get("content-type", [""])[0].partition(";")[0]
        reply = Reply(response.status_code, media, response.content.decode("utf-8", "replace"))
        hurried = _HURRIED in (case.headers or {})
        judge.judge(operation, case.as_curl_command(), reply, hurried=hurried)

    send()


def _last_response(case: Any, url: str, headers: dict[str, str], judge: Judge) -> Any:
    """The first that is no 503, or else the last of several. A hurried case is sent once."""
    for _ in range(0 if _HURRIED in (case.headers or {}) else RETRIES):
        response = case.call(base_url=url, headers=headers, timeout=_SECONDS)
        if response.status_code != LATE:
            return response
        judge.late[f"{case.method} {case.path} {response.text}"] += 1
        time.sleep(PAUSE_SECONDS)
    return case.call(base_url=url, headers=headers, timeout=_SECONDS)


def _modes(made: Any) -> Sequence[GenerationMode]:
    """An operation without input has nothing to break."""
    takes = made.body or made.path_parameters or made.query
    return _MODES if takes else _MODES[:1]
