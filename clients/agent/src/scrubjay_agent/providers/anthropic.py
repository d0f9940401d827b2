"""Anthropic's Messages API, through its own SDK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, Literal, cast

from anthropic import AnthropicError, APIStatusError, AsyncAnthropic
from anthropic.types import Message

from scrubjay.models import ImageBlock, MessageInput, Prompt, TextBlock, ToolResult, ToolUse
from scrubjay_agent.providers.protocol import (
    IMAGE_GONE,
    LostError,
    RefusedError,
    Reply,
    ToolSpec,
    Usage,
    blocks_of,
    patiently,
)
from scrubjay_agent.settings import Model, secret


class AnthropicProvider:
    format: Literal["anthropic", "openai"] = "anthropic"

    def __init__(self, settings: Model) -> None:
        self.model = settings.model
        self._most = settings.max_tokens
        self._retries = settings.retries
        self._client = AsyncAnthropic(
            api_key=secret(settings.api_key_env),
            base_url=settings.base_url,
            timeout=settings.timeout,
            max_retries=0,
        )

    async def complete(
        self, prompt: Prompt, messages: Sequence[MessageInput], tools: Sequence[ToolSpec]
    ) -> Reply:
        request: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self._most,
            "system": system(prompt),
            "messages": converted(messages),
            "tools": [
                {"name": one.name, "description": one.description, "input_schema": one.schema}
                for one in tools
            ],
        }
        return await patiently(lambda: self._call(request), self._retries)

    async def _call(self, request: dict[str, Any]) -> Reply:
        with _translated():
            return _reply(cast("Message", await self._client.messages.create(**request)))

    async def close(self) -> None:
        await self._client.close()


def system(prompt: Prompt) -> list[dict[str, Any]]:
    """The prompt's parts, with the marks of what the provider caches."""
    return [
        {"type": "text", "text": block.text}
        | ({} if block.cache_control is None else {"cache_control": _cached(block.cache_control)})
        for block in prompt.system or []
    ]


def _cached(control: Any) -> dict[str, str]:
    return {"type": control.type, "ttl": control.ttl}


def converted(messages: Sequence[MessageInput]) -> list[dict[str, Any]]:
    """Results of tools are the user's; what one side says in a row is one message."""
    sides = groupby(messages, key=lambda each: "assistant" if each.role == "assistant" else "user")
    return [
        {"role": side, "content": [_block(block) for each in said for block in blocks_of(each)]}
        for side, said in sides
    ]


def _block(block: TextBlock | ToolUse | ToolResult | ImageBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ToolUse):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
    if isinstance(block, ToolResult):
        return {
            "type": "tool_result",
            "tool_use_id": block.tool_use_id,
            "content": block.content,
            "is_error": block.is_error,
        }
    if block.data is None:
        return {"type": "text", "text": IMAGE_GONE}
    source = {"type": "base64", "media_type": block.media_type, "data": block.data}
    return {"type": "image", "source": source}


def _reply(answer: Message) -> Reply:
    content: list[TextBlock | ToolUse] = []
    for block in answer.content:
        if block.type == "text" and block.text:
            content.append(TextBlock(text=block.text))
        elif block.type == "tool_use":
            content.append(ToolUse(id=block.id, name=block.name, input=dict(cast("Any", block.input))))
    used = answer.usage
    usage = Usage(
        used.input_tokens,
        used.output_tokens,
        used.cache_read_input_tokens or 0,
        used.cache_creation_input_tokens or 0,
    )
    return Reply(content, usage)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except APIStatusError as error:
        raise RefusedError(error.status_code, error.message) from error
    except (AnthropicError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise LostError(repr(error)) from error
