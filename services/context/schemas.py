"""Types that the bodies of several packages share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from services.context import stores

# The names of stores, which a type checker cannot read from the registry.
if TYPE_CHECKING:
    SourceStore = str
else:
    SourceStore = Literal[tuple(stores.BY_NAME)]
Weight = Annotated[float, Meta(ge=0.0, le=10.0)]
TokenShare = Annotated[float, Meta(ge=0.0, le=1.0)]
TokenBudget = Annotated[int, Meta(ge=1, le=16_000)]
SearchableScope = Annotated[str, Meta(min_length=1, max_length=250)]

_SCOPE = re.compile(r"^(?:(?:mission|agent|user|project):\S.*|shared)$", re.S)

NOT_A_SCOPE = "must be mission:…, agent:…, user:…, project:… or shared"


def is_scope(text: str) -> bool:
    return _SCOPE.match(text) is not None


class Success(msgspec.Struct):
    success: bool = True
    """It was done."""


class Degraded(msgspec.Struct):
    source: str
    """A store, or the embedder."""
    reason: str
    """Such as down, timeout, erroring, overloaded, outdated or breaker open."""
