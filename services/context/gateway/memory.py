"""What a conversation answers to a model's calls. Its host sends all of it in every request: nothing else is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from services.context.gateway.cleanup import Action
from services.context.gateway.editing import Span
from services.context.gateway.finding import Line, lines_about, shown
from services.context.gateway.phantom import PhantomCall

UNKNOWN_HANDLE = "Unknown handle. A handle stands in the [memory …] line of a text of this conversation."
NO_ARGUMENT = (
    "The call lacks its argument: a handle for memory_fault and memory_release, a question for memory_query."
)
NOTHING_FOUND = "Nothing that this conversation has held answers that."
RELEASED = "Released. A line of it is left from when that costs least."
_LONGEST_QUESTION = 2_000
_TEXT = msgspec.json.Decoder(str)

Reference: TypeAlias = str | list[Line]
"""What an answer was made of: a text's handle, or lines."""


class Texts:
    """Of one request: `spans` leads from handles to JSON strings in `body`."""

    def __init__(self, body: bytes, spans: Mapping[str, Span]) -> None:
        self._body, self._spans = body, spans

    def __contains__(self, handle: str) -> bool:
        return handle in self._spans

    def handles(self) -> Sequence[str]:
        return [*self._spans]

    def of(self, handle: str) -> str | None:
        """None for what is no text of the conversation, and for what Unicode has no text for."""
        span = self._spans.get(handle)
        if span is None:
            return None
        try:
            return _TEXT.decode(self._body[span[0] : span[1]])
        except (msgspec.DecodeError, UnicodeError):
            return None

    def made_of(self, reference: Any) -> str | None:
        """The answer again. `reference` may have been JSON meanwhile."""
        if isinstance(reference, str):
            return self.of(reference)
        try:
            return shown(msgspec.convert(reference, list[Line]), self.of)
        except msgspec.ValidationError:
            return None


class ConversationMemory:
    """Of one request. `shorter` are the handles of what is not sent in full, `own` is what the host sent itself.

    `wish` keeps what the model says of texts. It raises AppError.
    """

    def __init__(
        self,
        texts: Texts,
        shorter: frozenset[str],
        own: Texts,
        wish: Callable[[Sequence[Action]], Awaitable[None]],
    ) -> None:
        self._texts, self._shorter, self._own, self._wish = texts, shorter, own, wish
        self.references: dict[str, Reference] = {}
        """Of answers, by their texts, where the host's own request leads to them."""

    async def answer(self, call: PhantomCall) -> str:
        if call.given is None:
            return NO_ARGUMENT
        if call.name == "memory_query":
            return await asyncio.to_thread(self._found, call.given[:_LONGEST_QUESTION])
        handle = _handle(call.given)
        if handle not in self._shorter:
            return UNKNOWN_HANDLE
        if call.name == "memory_release":
            await self._wish([Action("release", handle)])
            return RELEASED
        return self._whole(handle)

    async def act(self, actions: Sequence[Action]) -> None:
        """A handle that nobody knows changes nothing: the model wrote it, and gets no answer to a tag."""
        known = [action for action in actions if action.handle in self._texts]
        if known:
            await self._wish(known)

    def _whole(self, handle: str) -> str:
        text = self._texts.of(handle)
        if text is None:
            return UNKNOWN_HANDLE
        if handle in self._own:
            self.references[text] = handle
        return text

    def _found(self, question: str) -> str:
        """The newest texts are looked at first."""
        texts = ((handle, self._own.of(handle) or "") for handle in reversed(self._own.handles()))
        lines = lines_about(question, texts)
        told = shown(lines, self._own.of) or NOTHING_FOUND
        if lines:
            self.references[told] = lines
        return told


def _handle(given: str) -> str:
    """With or without what a model writes around it."""
    return given.strip().strip("[]").removeprefix("memory ").strip()
