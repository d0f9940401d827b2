"""An optional reranker scores the best candidates again. Assembly continues without it when it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

from shared.search.relevance import Scored
from shared.settings import Env, SettingsError
from shared.spending import Meter

Kind = Literal["none", "voyage"]
# How many of the best candidates are scored again, and how much that score weighs.
DEPTH = 50
WEIGHT = 0.3


class Reranker(Protocol):
    name: str

    async def score(self, query: str, texts: list[str]) -> list[float]:
        """One number per text, on any scale; higher is better. Raises RerankerUnavailable."""

    async def close(self) -> None: ...


class RerankerUnavailable(Exception):
    """`reason` is one of dead, slow, refused, malformed, ceiling."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class RerankSettings:
    kind: Kind = "none"
    model: str = "rerank-2.5-lite"
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None

    @classmethod
    def from_env(cls, values: Mapping[str, str] | None = None) -> RerankSettings:
        """Raises SettingsError, which names what is missing or wrong."""
        env = Env(values)
        name = env.text("SCRUBJAY_RERANKER", "none")
        kind = next((kind for kind in get_args(Kind) if kind == name), None)
        if kind is None:
            raise SettingsError([f"SCRUBJAY_RERANKER must be one of {', '.join(get_args(Kind))}: {name!r}"])
        settings = cls(
            kind=kind,
            model=env.text("SCRUBJAY_RERANKER_MODEL", "rerank-2.5-lite"),
            api_key=env.text("VOYAGE_API_KEY") if kind == "voyage" else None,
            base_url=env.optional("VOYAGE_BASE_URL"),
        )
        env.done()
        return settings


def open_reranker(settings: RerankSettings, meter: Meter | None = None) -> Reranker | None:
    if settings.kind == "none":
        return None
    # Imported only when selected, because it loads further libraries.
    from services.context.rerank.voyage import VoyageReranker

    return VoyageReranker(settings, meter)


def blend(scored: list[Scored], second: list[float]) -> list[Scored]:
    """Orders the best `len(second)` candidates by a mix of relevance and reranker score; the others stay.

    The reranker's scores are stretched over the range of the relevances, so that the scale stays.
    """
    looked, rest = scored[: len(second)], scored[len(second) :]
    if len(looked) < 2:
        return scored
    low, high = min(second), max(second)
    least, most = looked[-1].relevance, looked[0].relevance
    spread = (high - low) or 1.0
    mixed = [
        one._replace(
            relevance=(1 - WEIGHT) * one.relevance
            + WEIGHT * (least + (value - low) / spread * (most - least))
        )
        for one, value in zip(looked, second, strict=True)
    ]
    return sorted([*mixed, *rest], key=lambda s: (-s.relevance, s.store, s.candidate.id, s.candidate.chunk))
