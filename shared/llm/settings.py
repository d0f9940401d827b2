"""Which helper model to call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from shared.settings import Env

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


class HelperVariables(NamedTuple):
    """What the settings are called in the environment. Only services that read them name them."""

    kind: str
    model: str
    api_key: str
    base_url: str
    timeout: str
    concurrency: str


def helper_from_env(env: Env, names: HelperVariables) -> HelperSettings:
    kind: Kind = env.choice(names.kind, "extractive", KINDS)  # type: ignore[assignment]
    base_url = env.optional(names.base_url)
    # A self-hosted endpoint may need no key.
    needs_key = kind != "extractive" and base_url is None
    return HelperSettings(
        kind=kind,
        model=env.text(names.model, "none" if kind == "extractive" else None),
        api_key=env.text(names.api_key) if needs_key else env.optional(names.api_key),
        base_url=base_url and base_url.rstrip("/"),
        timeout=env.number(names.timeout, 20.0, 0.05, 60),
        concurrency=env.integer(names.concurrency, 4, 1, 64),
    )
