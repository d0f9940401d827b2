"""Where a model's cosines lie, which of them is noise and which a paraphrase, and how much evidence suffices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shared.settings import Env, SettingsError

VARIABLE = "SCRUBJAY_COSINE_BAND"
FLOORS_VARIABLE = "SCRUBJAY_RELEVANCE_FLOORS"


class Floors(NamedTuple):
    """Evidence, from 0 to 1."""

    noise: float = 0.15
    """A candidate with less is noise and is dropped."""
    answer: float = 0.49
    """When no candidate has this much, nothing answers the question."""


FLOORS = Floors()


class Band(NamedTuple):
    """A model's cosines lie in a narrow band: `low` is noise, `high` a paraphrase."""

    low: float
    high: float
    floors: Floors = FLOORS


COSINE_BANDS: Mapping[str, Band] = {
    "bge-small-en-v1.5-int8": Band(0.45, 0.85),
    # Turns of conversations get as much evidence, the wanted and the others, as with the model above.
    "multilingual-e5-small-q4": Band(0.75, 0.90),
    "default": Band(0.20, 0.75),
}


def band_of(model: str) -> Band:
    return COSINE_BANDS.get(model, COSINE_BANDS["default"])


def from_env(env: Env, model: str) -> Band | None:
    """None where no variable is set. Raises SettingsError for one that is wrong."""
    band, floors = _pair(env, VARIABLE), _pair(env, FLOORS_VARIABLE)
    if band is not None and not -1 <= band[0] < band[1] <= 1:
        raise SettingsError([f"{VARIABLE} must be low,high with -1 <= low < high <= 1: {band}"])
    if floors is not None and not 0 <= floors[0] <= floors[1] < 1:
        raise SettingsError(
            [f"{FLOORS_VARIABLE} must be noise,answer with 0 <= noise <= answer < 1: {floors}"]
        )
    if band is None and floors is None:
        return None
    found = band_of(model) if band is None else Band(*band)
    return found if floors is None else found._replace(floors=Floors(*floors))


def _pair(env: Env, variable: str) -> tuple[float, float] | None:
    text = env.optional(variable)
    if text is None:
        return None
    try:
        first, second = map(float, text.split(","))
    except ValueError:
        raise SettingsError([f"{variable} must be two numbers with a comma between them: {text!r}"]) from None
    return first, second
