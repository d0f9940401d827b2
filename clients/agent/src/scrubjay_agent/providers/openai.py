"""Any endpoint that speaks OpenAI's chat completions, through the SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, cast

from openai import APIStatusError, AsyncOpenAI, OpenAIError
from openai.types.chat import ChatCompletion

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


class OpenAIProvider:
    format: Literal["anthropic", "openai"] = "openai"

    def __init__(self, settings: Model) -> None:
        self.model = settings.model
        self._most = settings.max_tokens
        self._retries = settings.retries
        self._client = AsyncOpenAI(
            api_key=secret(settings.api_key_env),
            base_url=settings.base_url,
            timeout=settings.timeout,
            max_retries=0,
        )

    async def complete(
        self, prompt: Prompt, messages: Sequence[MessageInput], tools: Sequence[ToolSpec]
    ) -> Reply:
        system = [{"role": each.role, "content": each.content} for each in prompt.messages or []]
        request: dict[str, Any] = {
            "model": self.model,
            "max_completion_tokens": self._most,
            "messages": [*system, *(one for each in messages for one in converted(each))],
        }
        if tools:
            request["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": each.name,
                        "description": each.description,
                        "parameters": each.schema,
                    },
                }
                for each in tools
            ]
        return await patiently(lambda: self._call(request), self._retries)

    async def _call(self, request: dict[str, Any]) -> Reply:
        with _translated():
            return _reply(cast("ChatCompletion", await self._client.chat.completions.create(**request)))

    async def close(self) -> None:
        await self._client.close()


def converted(message: MessageInput) -> list[dict[str, Any]]:
    """One message; results of tools are one each."""
    blocks = blocks_of(message)
    results = [block for block in blocks if isinstance(block, ToolResult)]
    if results:
        return [{"role": "tool", "tool_call_id": one.tool_use_id, "content": one.content} for one in results]
    if message.role == "assistant":
        return [_assistant(blocks)]
    return [{"role": message.role, "content": [_part(block) for block in blocks]}]


def _assistant(blocks: Sequence[Any]) -> dict[str, Any]:
    text = "\n".join(block.text for block in blocks if isinstance(block, TextBlock))
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": json.dumps(block.input)},
        }
        for block in blocks
        if isinstance(block, ToolUse)
    ]
    said: dict[str, Any] = {"role": "assistant", "content": text or None}
    return said | ({"tool_calls": calls} if calls else {})


def _part(block: TextBlock | ImageBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if block.data is None:
        return {"type": "text", "text": IMAGE_GONE}
    return {"type": "image_url", "image_url": {"url": f"data:{block.media_type};base64,{block.data}"}}


def _reply(answer: ChatCompletion) -> Reply:
    said = answer.choices[0].message
    content: list[TextBlock | ToolUse] = [TextBlock(text=said.content)] if said.content else []
    content += [
        ToolUse(id=call.id, name=call.function.name, input=_arguments(call.function.arguments))
        for call in said.tool_calls or []
        if call.type == "function"
    ]
    used = answer.usage
    if used is None:
        return Reply(content, None)
    cached = (used.prompt_tokens_details and used.prompt_tokens_details.cached_tokens) or 0
    return Reply(content, Usage(used.prompt_tokens - cached, used.completion_tokens, cached))


def _arguments(text: str) -> dict[str, Any]:
    """What is not an object becomes one, which the tool then refuses: the model sees why."""
    try:
        given = json.loads(text or "{}")
    except ValueError:
        given = None
    return given if isinstance(given, dict) else {"not_an_object": text}


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except APIStatusError as error:
        raise RefusedError(error.status_code, error.message) from error
    except (OpenAIError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise LostError(repr(error)) from error
