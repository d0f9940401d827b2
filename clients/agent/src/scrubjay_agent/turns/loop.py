"""The loop: the model is called and its tools are run, until it answers.

Where it stands is read from the trail, so the loop of a turn that a restart interrupted goes on where it was.
"""

from __future__ import annotations

import logging

from scrubjay.models import MessageInput, Prompt, TextBlock, ToolUse
from scrubjay_agent.journal.entries import digest
from scrubjay_agent.providers.protocol import LostError, RefusedError
from scrubjay_agent.stored import storable, storable_value
from scrubjay_agent.tools.registry import Calling
from scrubjay_agent.turns.calling import Caller, CeilingError
from scrubjay_agent.turns.conversation import Conversation, answered, results
from scrubjay_agent.turns.monitor import Monitor

_TOO_LONG = "I stopped after {} steps without an answer. Ask me to go on if I should."
_CEILING = "I made no further call: what my calls may cost is spent."
_REFUSED = "I cannot reach the model at the moment ({}). Please ask again."
_NOTHING = "(no answer)"
# As many characters a name in the trail has at most.
_MOST_NAME = 200
_log = logging.getLogger(__name__)


class Loop:
    def __init__(self, caller: Caller, turns: int, monitor: Monitor) -> None:
        self._caller = caller
        self._turns = turns
        self._monitor = monitor

    async def run(self, conversation: Conversation, calling: Calling, prompt: Prompt) -> str:
        """The answer, which is in the trail."""
        try:
            return await self._answer(conversation, calling, prompt)
        finally:
            self._monitor.idle(calling.key)

    async def abandon(self, calling: Calling) -> None:
        """After a turn that was cancelled and will not go on: its last call may be billed."""
        await self._caller.abandon(calling.key, calling.session)

    async def _answer(self, conversation: Conversation, calling: Calling, prompt: Prompt) -> str:
        again = True
        while (answer := conversation.answer) is None:
            if calls := conversation.open_calls:
                self._monitor.tools(calling, conversation.calls_made, [call.name for call in calls])
                content = await calling.tools.answers(calls, calling, conversation.calls_made, again=again)
                key = digest(calling.key, "results", conversation.calls_made)
                await conversation.append(key, results(content))
            else:
                await self._call(conversation, calling, prompt)
            again = False
        return answer

    async def _call(self, conversation: Conversation, calling: Calling, prompt: Prompt) -> None:
        number = conversation.calls_made
        key = digest(calling.key, "answer", number)
        self._monitor.thinking(calling, number)
        if number >= self._turns:
            return await conversation.append(key, answered(_TOO_LONG.format(self._turns)))
        try:
            reply = await self._caller.call(
                calling.key, number, calling.session, prompt, conversation.messages, calling.tools.specs
            )
        except CeilingError:
            return await conversation.append(key, answered(_CEILING))
        except (RefusedError, LostError) as error:
            _log.warning("no answer of the model: %s", error)
            reason = f"status {error.status}" if isinstance(error, RefusedError) else "no answer"
            return await conversation.append(key, answered(_REFUSED.format(reason)))
        if not reply.content:
            return await conversation.append(key, answered(_NOTHING))
        said = MessageInput(
            role="assistant",
            content=[_stored(block, f"call_{number}_{place}") for place, block in enumerate(reply.content)],
        )
        return await conversation.append(key, said)


def _stored(block: TextBlock | ToolUse, name: str) -> TextBlock | ToolUse:
    """As the trail takes it. Some models give their calls no id: they get this name."""
    if isinstance(block, TextBlock):
        return TextBlock(text=storable(block.text))
    return ToolUse(
        id=storable(block.id)[:_MOST_NAME] or name,
        name=storable(block.name)[:_MOST_NAME] or "unnamed",
        input=storable_value(block.input),
    )
