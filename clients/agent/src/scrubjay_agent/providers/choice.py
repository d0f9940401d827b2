"""Which provider the settings name."""

from __future__ import annotations

from scrubjay_agent.providers.protocol import Provider
from scrubjay_agent.settings import Model


def provider_of(settings: Model) -> Provider:
    if settings.provider == "anthropic":
        # Each SDK takes most of a second to import.
        from scrubjay_agent.providers.anthropic import AnthropicProvider

        return AnthropicProvider(settings)
    # As above.
    from scrubjay_agent.providers.openai import OpenAIProvider

    return OpenAIProvider(settings)
