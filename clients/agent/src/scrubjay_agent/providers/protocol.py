"""What every provider does, in neutral terms: the messages are those of Scrubjay's trail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from scrubjay.models import MessageInput, Prompt, TextBlock, ToolUse

T = TypeVar("T")
_PAUSE = 0.5
IMAGE_GONE = "[an image that is no longer at hand]"


@dataclass(frozen=True)
class ToolSpec:
    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Usage:
    """Tokens, as Scrubjay counts them: `input` is what was read neither from the provider's cache nor into it."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True)
class Reply:
    content: list[TextBlock | ToolUse]
    usage: Usage | None

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))


class RefusedError(Exception):
    """The provider answered that it will not. Nothing was billed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class LostError(Exception):
    """No answer came. The provider may have billed the call."""


class Provider(Protocol):
    format: Literal["anthropic", "openai"]
    """The shape in which it takes a prompt."""
    model: str

    async def complete(
        self, prompt: Prompt, messages: Sequence[MessageInput], tools: Sequence[ToolSpec]
    ) -> Reply:
        """Raises RefusedError or LostError."""
        ...

    async def close(self) -> None: ...


def blocks_of(message: MessageInput) -> Sequence[Any]:
    content = message.text if message.content is None else message.content
    return [TextBlock(text=content)] if isinstance(content, str) else content or []


async def patiently(call: Callable[[], Awaitable[T]], retries: int) -> T:
    """Repeats what was refused as busy, and nothing else: that alone is certainly not billed."""
    for attempt in range(retries):
        try:
            return await call()
        except RefusedError as error:
            if error.status != 429 and error.status < 500:
                raise
            await asyncio.sleep(_PAUSE * 2**attempt)
    return await call()
