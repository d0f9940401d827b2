"""Anthropic's models, through their own client. Imported only when selected: it takes most of a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
)
from anthropic.types import Usage

from shared.llm.provider import Completion, HelperUnavailable, Tokens, refused
from shared.llm.settings import HelperSettings

_BASE_URL = "https://api.anthropic.com"
_TOOL = "report"


class AnthropicProvider:
    def __init__(self, settings: HelperSettings) -> None:
        self._model = settings.model
        # We time out ourselves, and what needs no model serves those whose call fails.
        self._client = AsyncAnthropic(
            api_key=settings.api_key or "none",
            base_url=settings.base_url or _BASE_URL,
            timeout=settings.timeout,
            max_retries=0,
        )

    async def complete(self, rules: str, text: str, schema: dict[str, Any], most_tokens: int) -> Completion:
        with _translated():
            answer = await self._client.messages.create(
                model=self._model,
                max_tokens=most_tokens,
                system=rules,
                messages=[{"role": "user", "content": text}],
                tools=[{"name": _TOOL, "description": "Reports what was found.", "input_schema": schema}],
                tool_choice={"type": "tool", "name": _TOOL},
            )
            given = [each.input for each in answer.content if each.type == "tool_use"]
            return Completion(msgspec.json.encode(given[0]) if given else b"null", _tokens(answer.usage))

    async def ready(self) -> None:
        with _translated():
            await self._client.models.list(limit=1)

    async def close(self) -> None:
        await self._client.close()


def _tokens(usage: Usage) -> Tokens:
    return Tokens(
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens or 0,
        usage.cache_creation_input_tokens or 0,
    )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except APITimeoutError as error:
        raise HelperUnavailable("slow", str(error)) from error
    except APIConnectionError as error:
        raise HelperUnavailable("dead", str(error)) from error
    except APIStatusError as error:
        raise refused(error.status_code, error.response.headers.get("Retry-After"), error.message) from error
    except (AnthropicError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise HelperUnavailable("malformed", repr(error)) from error
