"""Which tools there are, and how a call of one is carried out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from scrubjay.errors import NotReachedError, UnavailableError
from scrubjay.models import ToolResult, ToolUse
from scrubjay_agent.journal.entries import Received, digest
from scrubjay_agent.journal.journal import SupersededError
from scrubjay_agent.providers.protocol import ToolSpec
from scrubjay_agent.stored import storable

_CUT = "\n[… {} characters are left out]"
_INTERRUPTED = (
    "The agent was restarted during this call. Whether it took effect is not known: look before repeating."
)
_log = logging.getLogger(__name__)


class ToolError(Exception):
    """What the model is told."""


@dataclass(frozen=True)
class Calling:
    """Who calls a tool: the turn, and the message that it answers."""

    key: str
    """The turn's name. A sub-agent's begins with its caller's."""
    session: str
    message: Received
    tools: Registry
    call: str = ""
    """The call's place in the turn: some models give each call the same id."""

    def once(self, *parts: object) -> str:
        """Names what this call does, so that a repeat of it does nothing more."""
        return digest(self.session, self.key, self.call, *parts)


class Arguments(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What a tool takes."""


Run = Callable[[Any, Calling], Awaitable[str]]


class Tool(NamedTuple):
    name: str
    description: str
    arguments: type[Arguments]
    run: Run
    repeatable: bool = True
    """A call that a restart interrupted may run again."""
    confined: bool = False
    """It reaches files or the shell: off for messages from networks."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, schema_of(self.arguments))


def schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """Without references, which some models' endpoints do not follow."""
    (schema,), components = msgspec.json.schema_components([arguments], ref_template="{name}")
    made = components[schema["$ref"]]
    return {key: value for key, value in made.items() if key not in ("title", "description")}


class Registry:
    def __init__(self, tools: Sequence[Tool], truncation: int) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._truncation = truncation

    @property
    def names(self) -> Collection[str]:
        return self._tools.keys()

    @property
    def specs(self) -> list[ToolSpec]:
        return [tool.spec for tool in self._tools.values()]

    def but(self, denied: Collection[str]) -> Registry:
        """Without these: they are neither offered nor carried out."""
        return Registry([tool for tool in self._tools.values() if tool.name not in denied], self._truncation)

    def for_message(self, message: Received, network: Collection[str]) -> Registry:
        """What this message may use."""
        if message.local:
            return self
        return self.but(
            [tool.name for tool in self._tools.values() if tool.confined and tool.name not in network]
        )

    async def answers(
        self, calls: Sequence[ToolUse], calling: Calling, step: int, *, again: bool
    ) -> list[ToolResult]:
        """One after the other.

        `step` says which answer of the model they are of. `again`: a restart may have interrupted them.
        """
        return [
            await self._answer(call, replace(calling, call=f"{step}.{place}"), again)
            for place, call in enumerate(calls)
        ]

    async def _answer(self, call: ToolUse, calling: Calling, again: bool) -> ToolResult:
        """What a tool raises is the model's to read. But a tool that Scrubjay gave no answer runs again, later."""
        tool = self._tools.get(call.name)
        try:
            if tool is None:
                raise ToolError(f"there is no tool {call.name!r} here")
            if again and not tool.repeatable:
                raise ToolError(_INTERRUPTED)
            given = msgspec.convert(call.input, tool.arguments)
            said = await tool.run(given, calling)
        except (ToolError, msgspec.ValidationError) as error:
            return ToolResult(tool_use_id=call.id, content=self._cut(str(error)), is_error=True)
        except (asyncio.CancelledError, SupersededError, NotReachedError, UnavailableError):
            raise
        except Exception as error:
            _log.warning("tool %s failed", call.name, exc_info=True)
            return ToolResult(tool_use_id=call.id, content=self._cut(repr(error)), is_error=True)
        return ToolResult(tool_use_id=call.id, content=self._cut(said))

    def _cut(self, text: str) -> str:
        text = storable(text)
        over = len(text) - self._truncation
        return text if over <= 0 else text[: self._truncation] + _CUT.format(over)
