"""What Scrubjay cannot store is replaced or refused where it enters, so that no turn ends at it."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from scrubjay.models import TextBlock, ToolUse
from scrubjay_agent.channels.http import ChatInput
from scrubjay_agent.providers.protocol import Reply
from scrubjay_agent.tools.registry import Arguments, Calling, Tool
from tests.support.agent.scrubjay import FakeAgent, received


async def _names(_: Any, __: Calling) -> str:
    """As of a folder with a file whose name is not UTF-8."""
    return "caf\udce9.txt"


async def test_text_that_cannot_be_stored_is_replaced() -> None:
    calls = [
        ToolUse(id="", name="names\x00" + "s" * 200, input={"a\udcff": ["b\x00", 1, None]}),
        ToolUse(id="c", name="names", input={}),
    ]
    fake = FakeAgent(
        Reply([TextBlock(text="hm\x00"), *calls], None), tools=[Tool("names", "", Arguments, _names)]
    )
    agent = await fake.started()
    assert await asyncio.wait_for(agent.answer_of(received(text="hello\x00\udcff")), 5) == "done"
    said, called, results, _ = fake.sessions.events["jay.ada"]
    assert said.content == [TextBlock(text="hello\ufffd\ufffd")]
    assert called.content == [
        TextBlock(text="hm\ufffd"),
        ToolUse(
            id="call_0_1",
            name=("names\ufffd" + "s" * 200)[:200],
            input={"a\ufffd": ["b\ufffd", 1, None]},
        ),
        ToolUse(id="c", name="names", input={}),
    ]
    told: list[Any] = results.content
    assert [one.tool_use_id for one in told] == ["call_0_1", "c"]
    assert told[1].content == "caf\ufffd.txt"


@pytest.mark.parametrize("more", [{"tier": ""}, {"conversation": "main\n"}])
def test_names_that_scrubjay_refuses_are_refused(more: dict[str, str]) -> None:
    msgspec.convert({"message": "hello", "tier": "small", "conversation": "main"}, ChatInput)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"message": "hello", **more}, ChatInput)
