"""Which helper model to call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

Kind = Literal["extractive", "anthropic", "openai"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class HelperSettings:
    kind: Kind = "extractive"
    """`extractive`: no model."""
    model: str = ""
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout: float = 20.0
    """In seconds, for one call."""
    concurrency: int = 4
    """The most summaries that a process asks for at once, and the most answers."""
