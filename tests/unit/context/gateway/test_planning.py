"""Which requests get the gateway's tools, and how those of a session go out."""

from __future__ import annotations

from typing import Any

import pytest

from services.context.gateway.passing.paging import _plan
from services.context.gateway.phantom import PhantomCall, with_tools
from services.context.gateway.restoring.hidden import Hidden, Round, hidden
from services.context.gateway.sessions.state import State
from shared.spending.prices import bundled
from tests.support.gateway.agent import Api, Host
from tests.support.gateway.said import Chat, Do, Messages, Part, Responses, Say

PRICES = bundled()
APIS: tuple[Api, ...] = ("messages", "chat", "responses")


def begun() -> Host:
    host = Host("responses")
    host.turn()
    return host


@pytest.mark.parametrize(
    "kept",
    [
        {"previous_response_id": "resp_1", "input": [{"type": "function_call_output", "call_id": "c"}]},
        {"conversation": "conv_1"},
        {"background": True},
        {"store": False, "previous_response_id": "resp_1"},
        {"store": False, "input": [{"type": "item_reference", "id": "msg_1"}, {"role": "user"}]},
        {"input": [{"id": "msg_1"}, {"role": "assistant", "content": "Hm."}]},
        {"input": [{"role": "user", "content": "Begin."}]},
        {"input": "Begin.", "store": True},
    ],
)
def test_a_conversation_that_the_provider_keeps_passes_as_it_came(kept: dict[str, Any]) -> None:
    assert _plan("responses", begun().body(**kept), State(), PRICES, moves=True) is None


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"store": True, "previous_response_id": None, "background": False},
        {"store": False, "input": "Begin."},
        {"store": False, "input": [{"role": "user", "content": "Begin."}]},
    ],
)
def test_a_conversation_that_the_host_keeps_gets_the_tools(own: dict[str, Any]) -> None:
    made = _plan("responses", begun().body(**own), State(), PRICES, moves=True)
    assert made is not None
    assert b"memory_query" in made.body


@pytest.mark.parametrize(("api", "most"), [("messages", None), ("chat", 125), ("responses", 125)])
def test_no_more_tools_than_a_provider_takes(api: Api, most: int | None) -> None:
    for count in (125, 126, 128):
        body = Host(api).body(tools=[{"name": f"tool{number}"} for number in range(count)])
        has_room = most is None or count <= most
        assert (with_tools(api, body) is not None) == has_room


def paged(api: Api) -> tuple[Host, State]:
    """A session that sends something shorter, and an answer of which hid a call."""
    host, state = Host(api), State()
    while not state.levels:
        host.turn()
        made = _plan(api, host.body(), state, PRICES, moves=True)
        assert made is not None
        state = state.moved(made.paged.plan.moved)
    host.turn("Found.")
    return host, state.hiding(hid(api, f"call_{len(host.results) - 1}"))


def hid(api: Api, own: str) -> Hidden:
    """What the answer hid whose own call has this id."""
    call = PhantomCall("p1", "memory_query", "Which?")
    first: list[Part] = [Do("p1", "memory_query", {"question": "Which?"})]
    last: list[Part] = [Say("Found."), Do(own, "run", {"command": "run"})]
    return hidden(api, 0, [Round(said(api, first), [call], ["That."]), Round(said(api, last), [], [])])


def said(api: Api, parts: list[Part]) -> list[dict[str, Any]]:
    match api:
        case "messages":
            return [Messages.block(part) for part in parts]
        case "chat":
            return [Chat.whole(parts)["choices"][0]["message"]]
        case "responses":
            return [Responses.item(part) for part in parts]


@pytest.mark.parametrize("api", APIS)
def test_a_summary_is_asked_for_with_what_is_shorter(api: Api) -> None:
    host, state = paged(api)
    body = host.body(tools=[])
    made = _plan(api, body, state, PRICES, moves=True)
    assert made is not None
    assert b'"tools":[]' in made.body
    assert made.body.count(b"[memory m-") == len(state.levels)
    assert len(made.body) < 0.9 * len(body)
    assert not made.paged.plan.moved
    assert made.body.count(b'"p1"') == 2


@pytest.mark.parametrize("api", APIS)
def test_a_side_request_passes_as_it_came(api: Api) -> None:
    _, state = paged(api)
    other = Host(api, seed=1)
    other.turn()
    assert _plan(api, other.body(tools=[]), state, PRICES, moves=True) is None
