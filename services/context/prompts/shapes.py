"""A prompt in the shapes that providers take. Pure.

https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching: at most four breakpoints, those that are kept
longer first, and no empty text. OpenAI caches what begins alike, without being asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from services.context.prompts.schemas import AnthropicBlock, CacheControl, OpenAIMessage, PromptTier

Ttl = Literal["5m", "1h"]


def for_anthropic(tiers: Sequence[PromptTier], stable_ttl: Ttl) -> list[AnthropicBlock]:
    """What `system` takes. The dynamic part comes last, behind the breakpoints."""
    kept: dict[str, Ttl] = {"stable": stable_ttl, "semi_stable": "5m"}
    return [
        AnthropicBlock(
            "text",
            tier.text,
            CacheControl("ephemeral", kept[tier.stability]) if tier.stability in kept else msgspec.UNSET,
        )
        for tier in tiers
        if tier.text.strip()
    ]


def for_openai(tiers: Sequence[PromptTier]) -> list[OpenAIMessage]:
    """One message, because not every endpoint that speaks this protocol takes two."""
    text = "\n\n".join(tier.text for tier in tiers if tier.text.strip())
    return [OpenAIMessage("system", text)] if text else []
