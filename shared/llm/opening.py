"""Opens the helper model that the settings name."""

from __future__ import annotations

from shared.llm.helper import Helper, Reached, Record
from shared.llm.provider import Provider
from shared.llm.settings import HelperSettings


def open_helper(settings: HelperSettings, record: Record, reached: Reached | None = None) -> Helper | None:
    """None where no model is set. `record` is told of what each call has taken, and `reached` asked before each."""
    provider = _provider(settings)
    return None if provider is None else Helper(provider, settings, record, reached)


def _provider(settings: HelperSettings) -> Provider | None:
    if settings.kind == "anthropic":
        # Not before it is selected: its libraries take memory and most of a second.
        from shared.llm.anthropic import AnthropicProvider

        return AnthropicProvider(settings)
    if settings.kind == "openai":
        # Not before it is selected: its libraries take memory and most of a second.
        from shared.llm.openai import OpenAIProvider

        return OpenAIProvider(settings)
    return None
