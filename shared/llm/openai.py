"""Any endpoint that speaks OpenAI's chat completions, through its own client. Imported only when selected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    OpenAIError,
)
from openai.types import CompletionUsage

from shared.llm.provider import Completion, HelperUnavailable, Tokens, refused
from shared.llm.settings import HelperSettings

_BASE_URL = "https://api.openai.com/v1"


class OpenAIProvider:
    def __init__(self, settings: HelperSettings) -> None:
        self._model = settings.model
        # We time out ourselves, and what needs no model serves those whose call fails.
        self._client = AsyncOpenAI(
            api_key=settings.api_key or "none",
            base_url=settings.base_url or _BASE_URL,
            timeout=settings.timeout,
            max_retries=0,
        )

    async def complete(self, rules: str, text: str, schema: dict[str, Any], most_tokens: int) -> Completion:
        with _translated():
            answer = await self._client.chat.completions.create(
                model=self._model,
                max_completion_tokens=most_tokens,
                messages=[{"role": "system", "content": rules}, {"role": "user", "content": text}],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "report", "schema": schema, "strict": True},
                },
            )
            given = answer.choices[0].message.content or "null"
            return Completion(given.encode("utf-8", "replace"), _tokens(answer.usage))

    async def ready(self) -> None:
        with _translated():
            await self._client.models.list()

    async def close(self) -> None:
        await self._client.close()


def _tokens(usage: CompletionUsage | None) -> Tokens | None:
    """What the prompt had in the cache counts apart. Some servers count nothing."""
    if usage is None:
        return None
    cached = (usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens) or 0
    return Tokens(usage.prompt_tokens - cached, usage.completion_tokens, cached)


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
    except (OpenAIError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise HelperUnavailable("malformed", repr(error)) from error
