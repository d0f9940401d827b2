"""How many tokens a text takes, and where it may be cut to take fewer."""

from __future__ import annotations

from shared.tokens.estimate import CHARACTERS_PER_TOKEN, estimate_tokens, estimate_tokens_of, width, within

__all__ = ["CHARACTERS_PER_TOKEN", "estimate_tokens", "estimate_tokens_of", "width", "within"]
