"""Which helper model to call, read from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from shared.settings import Env

Kind = Literal["extractive", "anthropic", "openai"]


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

    @classmethod
    def from_env(cls, values: Mapping[str, str] | None = None) -> HelperSettings:
        """Raises SettingsError, which names what is missing or wrong."""
        env = Env(values)
        kind: Kind = env.choice("SCRUBJAY_HELPER", "extractive", get_args(Kind))  # type: ignore[assignment]
        base_url = env.optional("SCRUBJAY_HELPER_BASE_URL")
        # A self-hosted endpoint may need no key.
        needs_key = kind != "extractive" and base_url is None
        settings = cls(
            kind=kind,
            model=env.text("SCRUBJAY_HELPER_MODEL", "none" if kind == "extractive" else None),
            api_key=env.text("SCRUBJAY_HELPER_API_KEY")
            if needs_key
            else env.optional("SCRUBJAY_HELPER_API_KEY"),
            base_url=base_url and base_url.rstrip("/"),
            timeout=env.number("SCRUBJAY_HELPER_TIMEOUT", 20.0, 0.05, 60),
            concurrency=env.integer("SCRUBJAY_HELPER_CONCURRENCY", 4, 1, 64),
        )
        env.done()
        return settings
