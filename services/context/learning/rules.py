"""What feedback says about a caller's sources and budget. Pure.

docs/decisions/0040-effectiveness.md to 0042-weak-feedback.md explain the constants and the three dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from services.context import stores
from services.context.log.replay import BACKGROUND, LoggedCandidate

LEARNING_RATE = 0.1
WEIGHT_MIN, WEIGHT_MAX = 0.1, 1.5
TOKEN_SHARE_MIN, TOKEN_SHARE_MAX = 0.05, 0.8
EVAL_BATCH_SIZE = 10
BUDGET_RAISE, BUDGET_CUT = 1.10, 0.95
# A budget rises when blocks are full and at least half of their tokens were useful. It falls when half stays empty.
_FULL, _EMPTY = 0.9, 0.5
_MOSTLY = 0.5
WEAK = 0.5
"""The weight of an implicit signal; explicit feedback counts 1."""


class Experience(NamedTuple):
    """One assembly and its feedback. `used` holds handles of items or of their chunks."""

    candidates: Sequence[LoggedCandidate]
    used: frozenset[str]
    explicit: bool
    token_budget: int
    total_tokens: int
    tokens_used: int | None = None
    budget_asked: bool = False

    @property
    def relevant_tokens(self) -> int:
        """The block's tokens without its background, which says nothing about sources and budgets."""
        return self.total_tokens - sum(c.taken for c in self.candidates if c.outcome == BACKGROUND)


class Effectiveness(NamedTuple):
    confidence: float
    usage_rate: float
    appearance_rate: float

    @property
    def total(self) -> float:
        return 0.5 * self.confidence + 0.3 * self.usage_rate + 0.2 * self.appearance_rate


class Setting(msgspec.Struct, frozen=True):
    """The weight and token share in force for a caller and a source."""

    weight: float
    token_share: float
    manual: bool = False


class BudgetSetting(msgspec.Struct, frozen=True):
    default_budget: int
    min_budget: int
    max_budget: int
    manual: bool = False


class _Seen:
    def __init__(self) -> None:
        self.appeared = self.helped = self.items = self.used = 0.0


def measure(batch: Sequence[Experience]) -> dict[str, Effectiveness]:
    """The effectiveness of each source that had an item in a block.

    confidence: the share of its appearances in which an item was used, as (used + 1) / (appearances + 2) so that
    few appearances prove little. usage_rate: the share of its items that were used. appearance_rate: the share of
    blocks that it was in. An assembly with implicit signals counts WEAK, any other 1.
    """
    total = 0.0
    seen: dict[str, _Seen] = {}
    for experience in batch:
        counts = 1.0 if experience.explicit else WEAK
        total += counts
        for store, (items, used) in _counted(experience).items():
            source = seen.setdefault(store, _Seen())
            source.appeared += counts
            source.helped += counts * (used > 0)
            source.items += counts * items
            source.used += counts * used
    return {
        store: Effectiveness(
            (source.helped + 1) / (source.appeared + 2), source.used / source.items, source.appeared / total
        )
        for store, source in seen.items()
    }


def _counted(experience: Experience) -> dict[str, tuple[int, int]]:
    """How many items were taken and used, by source."""
    counted: dict[str, tuple[int, int]] = {}
    for candidate in experience.candidates:
        store = candidate.store
        if candidate.taken and candidate.outcome != BACKGROUND and store in stores.BY_NAME:
            items, used = counted.get(store, (0, 0))
            counted[store] = (items + 1, used + was_used(candidate.handle, experience.used))
    return counted


def was_used(handle: str, used: frozenset[str]) -> bool:
    return handle in used or handle.partition("#")[0] in used


def adjust(
    settings: Mapping[str, Setting], starts: Mapping[str, Setting], seen: Mapping[str, Effectiveness]
) -> dict[str, Setting]:
    """The settings that change. Each moves a tenth of the way to what its effectiveness deserves.

    A source that was in no block moves a tenth of the way back to its start value. Otherwise a weight that keeps a
    source out of every block could never recover.
    """
    changed = {}
    for store, setting in settings.items():
        if setting.manual:
            continue
        wanted = _deserved(seen[store].total) if store in seen else starts[store]
        moved = Setting(
            _towards(setting.weight, wanted.weight, WEIGHT_MIN, WEIGHT_MAX),
            _towards(setting.token_share, wanted.token_share, TOKEN_SHARE_MIN, TOKEN_SHARE_MAX),
        )
        if moved != setting:
            changed[store] = moved
    return changed


def _deserved(effectiveness: float) -> Setting:
    return Setting(
        WEIGHT_MIN + effectiveness * (WEIGHT_MAX - WEIGHT_MIN),
        TOKEN_SHARE_MIN + effectiveness * (TOKEN_SHARE_MAX - TOKEN_SHARE_MIN),
    )


def _towards(value: float, wanted: float, low: float, high: float) -> float:
    return round(min(high, max(low, value + LEARNING_RATE * (wanted - value))), 4)


def adjust_budget(setting: BudgetSetting, batch: Iterable[Experience]) -> int:
    """The caller's new default budget. Manual rows stay, and so do those that too few assemblies used."""
    own = [one for one in batch if not one.budget_asked]
    if setting.manual or len(own) < EVAL_BATCH_SIZE:
        return setting.default_budget
    utilisation = sum(one.relevant_tokens / one.token_budget for one in own) / len(own)
    saturation = sum(one.relevant_tokens >= _FULL * one.token_budget for one in own) / len(own)
    wanted: float = setting.default_budget
    if saturation >= _MOSTLY and sum(map(_share_used, own)) / len(own) >= _MOSTLY:
        wanted *= BUDGET_RAISE
    elif utilisation < _EMPTY:
        wanted *= BUDGET_CUT
    return min(setting.max_budget, max(setting.min_budget, round(wanted)))


def _share_used(one: Experience) -> float:
    """The share of a block's tokens that was useful: as the caller counted, or else by the items it named."""
    spent = one.tokens_used
    if spent is None:
        spent = sum(
            c.taken for c in one.candidates if c.outcome != BACKGROUND and was_used(c.handle, one.used)
        )
    return min(1.0, spent / one.relevant_tokens) if one.relevant_tokens else 0.0
