"""Which requests get the gateway's tools, and how those of a session go out."""

from __future__ import annotations

from typing import Any

import pytest

from services.context.gateway.passing.paging import _plan
from services.context.gateway.sessions.state import State
from shared.spending.prices import bundled
from tests.support.gateway.agent import Host

PRICES = bundled()


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
