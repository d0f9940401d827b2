"""Where a model's cosines lie: relevance needs to know which of them is noise, and which a paraphrase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shared.settings import Env, SettingsError

VARIABLE = "SCRUBJAY_COSINE_BAND"


class Band(NamedTuple):
    """A model's cosines lie in a narrow band: `low` is noise, `high` a paraphrase."""

    low: float
    high: float

    def share(self, cosine: float) -> float:
        """0 for noise and 1 for a paraphrase. A higher cosine gives more than 1."""
        return max(0.0, (cosine - self.low) / (self.high - self.low))


COSINE_BANDS: Mapping[str, Band] = {
    "bge-small-en-v1.5-int8": Band(0.45, 0.85),
    "default": Band(0.20, 0.75),
}


def band_of(model: str) -> Band:
    return COSINE_BANDS.get(model, COSINE_BANDS["default"])


def from_env(env: Env) -> Band | None:
    """Raises SettingsError unless the variable is absent or `low,high` with -1 <= low < high <= 1."""
    text = env.optional(VARIABLE)
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low = high = 0.0
    if not -1 <= low < high <= 1:
        raise SettingsError([f"{VARIABLE} must be low,high with -1 <= low < high <= 1: {text!r}"])
    return Band(low, high)
