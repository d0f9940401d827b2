"""The client without a service: its calls follow the document, and its data and its stream are read as they should."""

import inspect
import json
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scrubjay
from scrubjay._bound import Bound
from scrubjay._call import Answer, Call, Lost, Policy, Send, Wait, steps
from scrubjay._data import decode, encode
from scrubjay._events import Reader
from scrubjay._pages import Pages
from scrubjay.calls import agent_memory, cache, context
from scrubjay.cli.commands import bridging
from scrubjay.client import _Patience
from scrubjay.errors import FieldError, InvalidError, NotReachedError, Problem, error_of
from scrubjay.groups import AsyncCalls, Calls
from scrubjay.models import Decision, Event, WriteAnswer
from tests.support.openapi import DOCUMENT, operations
from tests.support.openapi import Operation as Described
from tools.client import PACKAGE, sources
from tools.client.calls import Operation

POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
POLICY = Policy(timeout=30.0, retries=3)
WRITTEN = (
    b'{"data":{"id":7,"token_count":1,"cache_total_tokens":1,"evicted_count":0,'
    b'"expires_at":"2026-07-05T12:00:00Z","indexed":false}}'
)
EVENT = next(one for one in operations() if one.id == "timeline").answers(200)["application/json"]["example"][
    "data"
][0]
BUSY = Answer(503, {"retry-after": "0", "content-type": "application/problem+json"}, b'{"status": 503}')


def test_it_is_what_the_document_says() -> None:
    for name, text in sources(DOCUMENT).items():
        assert (PACKAGE / name).read_text() == text, f"{name}: run `make openapi`"


@pytest.mark.parametrize("calls", [Calls, AsyncCalls])
def test_it_has_a_method_for_every_operation(calls: type) -> None:
    held = calls()
    for one in operations():
        call = Operation(one.method, one.path, one.told, DOCUMENT)
        method = getattr(getattr(held, call.group, held), call.name, None) or getattr(held, call.name)
        assert inspect.getdoc(method), one.id


@pytest.mark.parametrize("one", list(operations()), ids=lambda one: one.id)
def test_every_argument_is_described(one: Described) -> None:
    call = Operation(one.method, one.path, one.told, DOCUMENT)
    held = Calls()
    method = getattr(getattr(held, call.group, held), call.name, None) or getattr(held, call.name)
    described = (inspect.getdoc(method) or "").partition("\nArgs:\n")[2]
    for name in inspect.signature(method).parameters:
        assert re.search(rf"^ *{name}: \S", described, re.M), f"{one.id} {name}"


def test_a_question_needs_no_name() -> None:
    for make in (
        context.assemble,
        cache.query,
        agent_memory.query,
        agent_memory.peer_query,
        context.remember,
    ):
        first = next(iter(inspect.signature(make).parameters.values()))
        assert (first.name, first.kind) in {("query", POSITIONAL), ("text", POSITIONAL)}, make


def test_a_client_for_one_agent_changes_only_what_is_left_out() -> None:
    bound = Bound("scout", "m")
    assert bound.on(context.assemble("q")).body == {"query": "q", "caller": "scout", "mission_namespace": "m"}
    named = bound.on(context.assemble("q", agent="ana", mission_namespace="n")).body
    assert named == {"query": "q", "agent": "ana", "mission_namespace": "n"}
    assert bound.on(cache.query("q")).body == {"query": "q", "mission_id": "m"}
    entry = Decision(content="c", decision_rationale="r")
    assert bound.on(cache.write(entry)).body["mission_id"] == "m"
    batch = bound.on(cache.write_batch(entries=[entry])).body["entries"]
    assert [(one["agent_name"], one["mission_id"]) for one in batch] == [("scout", "m")]
    assert bound.on(cache.stats()).path == "/api/psychic-cache/m/stats"
    assert bound.on(cache.stats("{n}")).path == "/api/psychic-cache/%7Bn%7D/stats"
    assert bound.on(cache.clear("n", reason="operator")).path == "/api/psychic-cache/n"
    assert Bound("scout", None).on(context.assemble("q")).body == {"query": "q", "caller": "scout"}


def test_a_list_ends_with_its_last_page() -> None:
    class Server:
        def __init__(self) -> None:
            self.asked: list[object] = []

        def send(self, call: Call[Any]) -> Any:
            self.asked.append(call.query["cursor"])
            return SimpleNamespace(data=[len(self.asked)], next=None if len(self.asked) == 3 else "more")

    server = Server()
    assert list(Pages[Any, Any](server, cache.entries())) == [1, 2, 3]
    assert server.asked == [None, "more", "more"]
    assert next(iter(Pages[Any, Any](Server(), cache.entries()))) == 1


def _foreign(folder: Path) -> set[str]:
    """The packages of others that the modules of a folder import; adapters import the framework of their extra."""
    paths = (path for path in folder.rglob("*.py") if path.parent.name != "adapters")
    lines = (line for path in paths for line in path.read_text().splitlines())
    named = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
    return named - {"scrubjay"} - set(sys.stdlib_module_names)


def test_the_client_needs_httpx_and_its_command_line_click_and_rich() -> None:
    assert _foreign(PACKAGE) == {"click", "httpx", "rich"}
    assert _foreign(PACKAGE / "hooks") == set()


def test_a_hook_loads_what_comes_with_python_alone_and_nothing_slow_of_it() -> None:
    left_alone = ("click", "dataclasses", "http.client", "httpx", "rich", "tomllib")
    assert (
        _said(
            f"import sys, scrubjay.hooks.command, scrubjay.hooks.asking; print(set({left_alone}) & set(sys.modules))"
        )
        == "set()"
    )


def _said(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _write(**more: object) -> Call[WriteAnswer]:
    told = {"method": "POST", "path": "/w", "answer": WriteAnswer, "seconds": 5.0, "repeatable": True}
    return Call(**{**told, **more})  # type: ignore[arg-type]


def _drive(call: Call[WriteAnswer], *outcomes: Answer | Lost) -> tuple[WriteAnswer, list[Send]]:
    """Plays the outcomes, and passes over the waits between them."""
    going, left, sent = steps(call, POLICY), list(outcomes), []
    step = next(going)
    try:
        while True:
            if isinstance(step, Wait):
                step = going.send(None)
            else:
                sent.append(step)
                step = going.send(left.pop(0))
    except StopIteration as end:
        return end.value, sent


def test_a_write_is_tried_again_under_one_key() -> None:
    lost = Lost(OSError("cut"), sent=True)
    answer, sent = _drive(_write(keyed=True), BUSY, lost, Answer(201, {}, WRITTEN))
    assert answer.data.id == 7
    assert len(sent) == 3
    assert len({one.headers["idempotency-key"] for one in sent}) == 1


def test_what_may_have_happened_is_not_done_again() -> None:
    with pytest.raises(scrubjay.NotReachedError):
        _drive(_write(repeatable=False), Lost(OSError("cut"), sent=True))
    _, sent = _drive(
        _write(repeatable=False), Lost(OSError("no route"), sent=False), Answer(201, {}, WRITTEN)
    )
    assert len(sent) == 2


def test_it_gives_up_with_what_was_wrong() -> None:
    with pytest.raises(scrubjay.UnavailableError) as caught:
        _drive(_write(), *[BUSY] * 9)
    assert caught.value.problem.status == 503
    refused = Answer(400, {"x-request-id": "r1"}, b'{"detail":"d","errors":[{"field":"f","message":"m"}]}')
    with pytest.raises(scrubjay.InvalidError) as invalid:
        _drive(_write(), refused)
    assert invalid.value.problem.errors[0].field == "f"
    assert invalid.value.request_id == "r1"


def test_a_short_timeout_reaches_the_service() -> None:
    _, (sent,) = _drive(_write(timeout=0.5), Answer(201, {}, WRITTEN))
    assert 0 < int(sent.headers["x-timeout-ms"]) <= 500
    _, (patient,) = _drive(_write(), Answer(201, {}, WRITTEN))
    assert "x-timeout-ms" not in patient.headers


def test_a_wait_longer_than_the_call_is_not_begun() -> None:
    asked = Answer(429, {"retry-after": "3600"}, b"{}")
    with pytest.raises(scrubjay.TooManyError) as caught:
        _drive(_write(), asked)
    assert caught.value.retry_after == 3600


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"[]", b'"x"', b'{"errors": {"a": 1}}', b'{"errors": [1]}']
)
def test_a_proxy_may_answer_anything(content: bytes) -> None:
    with pytest.raises(scrubjay.ApiError):
        _drive(_write(), Answer(418, {}, content))
    with pytest.raises(scrubjay.ScrubjayError):
        _drive(_write(), Answer(200, {}, content))


def test_models_go_out_and_come_in() -> None:
    entry = Decision(mission_id="m", content="c", decision_rationale="r", occurred_at=datetime(2026, 1, 2))
    assert encode(entry) == {
        "context_type": "decision",
        "mission_id": "m",
        "content": "c",
        "decision_rationale": "r",
        "occurred_at": "2026-01-02T00:00:00+00:00",
        "source_kind": "agent",
        "paths": [],
        "symbols": [],
        "tags": [],
        "decision_alternatives": [],
    }
    for one in operations():
        for told in one.answers(next(int(s) for s in one.told["responses"] if s < "3")).values():
            if told["schema"].get("$ref"):
                name = told["schema"]["$ref"].rsplit("/", 1)[-1]
                grown = {**told["example"], "added_later": 1}
                assert decode(getattr(scrubjay.models, name), grown)


def _frame(seq: int) -> list[str]:
    return [f"id: {seq}", "event: cache_write", f"data: {json.dumps({**EVENT, 'seq': seq})}", ""]


@given(st.integers(1, 20), st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 500)), max_size=10))
def test_a_stream_that_breaks_anywhere_goes_on_without_a_gap(count: int, cuts: list[tuple[int, int]]) -> None:
    """Each cut ends a connection after so many characters, in pieces; the next one begins after `last`."""
    reader = Reader(0)
    seen: list[Event] = []
    for cut, size in [*cuts, (None, 4_096)]:
        lines = ["retry: 500", "", ": still here", ""]
        lines += [line for seq in range((reader.last or 0) + 1, count + 1) for line in _frame(seq)]
        seen += _read("".join(f"{line}\n" for line in lines)[:cut], reader, size)
        reader.broken()
    assert [event.seq for event in seen] == list(range(1, count + 1))
    assert reader.retry == 0.5


def _read(text: str, reader: Reader, size: int = 4_096) -> list[Event]:
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    return [event for piece in pieces for event in reader.feed(piece)]


def test_a_stream_says_where_it_begins() -> None:
    reader = Reader(None)
    assert _read("id: 41\nretry: 1000\n\n", reader) == []
    assert reader.last == 41


ENDS = "a\x85b\u2028c\u2029d"
"""What ends a line for Python, and may stand in JSON as it is."""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [1, 4_096])
def test_a_text_in_an_event_may_hold_other_ends_of_lines(end: str, size: int) -> None:
    data = json.dumps({**EVENT, "mission_id": ENDS}, ensure_ascii=False)
    [event] = _read(f"id: 7{end}data: {data}{end}{end}", Reader(None), size)
    assert event.mission_id == ENDS


async def test_both_clients_read_such_an_event() -> None:
    data = json.dumps({**EVENT, "mission_id": ENDS}, ensure_ascii=False)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=f"data: {data}\n\n")

    transport = httpx.MockTransport(answer)
    with scrubjay.Client("http://localhost:8080", "a-key", transport=transport) as client:
        assert next(client.events()).mission_id == ENDS
    async with scrubjay.AsyncClient("http://localhost:8080", "a-key", transport=transport) as waiting:
        assert (await anext(waiting.events())).mission_id == ENDS


def test_a_message_that_the_bridge_hands_on_may_hold_them_too() -> None:
    message = {"jsonrpc": "2.0", "result": ENDS}
    streamed = {"content-type": "text/event-stream"}
    text = f"event: message\r\ndata: {json.dumps(message, ensure_ascii=False)}\r\n\r\n"
    [told] = bridging._messages(httpx.Response(200, headers=streamed, text=text))
    assert json.loads(told) == message


def test_a_stream_outlasts_any_outage_and_is_patient_anew_once_it_opened() -> None:
    patience, reader, lost = _Patience(retries=3), Reader(None), NotReachedError("no answer")
    patience.opened()
    assert all(patience.after(lost, reader) <= 2.0 for _ in range(1_100))
    patience.opened()
    assert patience.after(lost, reader) == reader.retry


def test_a_refusal_names_each_field_with_what_it_may_be() -> None:
    document = {
        "type": "/problems/invalid",
        "title": "Validation failed",
        "status": 400,
        "errors": [
            {"field": "quer", "message": "unknown field", "did_you_mean": "query"},
            {"field": "status", "message": "must be one of stale", "allowed": ["stale"]},
            "nonsense",
        ],
    }
    error = error_of(Problem.read(400, document), None, None)
    assert isinstance(error, InvalidError)
    assert error.problem.type == "/problems/invalid"
    assert error.errors == (
        FieldError("quer", "unknown field", did_you_mean="query"),
        FieldError("status", "must be one of stale", allowed=("stale",)),
    )
