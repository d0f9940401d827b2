"""Weights and budgets, as operators set them and feedback moves them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from services.context.schemas import SourceStore, TokenBudget, TokenShare, Weight
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import BigId, Name


class SourceWeight(msgspec.Struct):
    caller: str
    """`*`: every caller without a row of its own."""
    source: str
    weight: float
    token_share: float
    """The source's share of the budget."""
    manual: bool
    """An operator set it, and learning leaves it alone."""
    updated_at: datetime


class SourceWeights(msgspec.Struct):
    """Rows that differ from the start values. `*` stands for every caller without a row of its own."""

    weights: list[SourceWeight]
    """A row for each caller and store."""
    start: dict[str, float]
    """The start values, by store."""


class WeightInput(Body, kw_only=True):
    """Learning leaves a manual row alone."""

    caller: Name
    """`*`: every caller without a row of its own."""
    source: SourceStore
    weight: Weight
    token_share: TokenShare | None = None
    """The source's share of the budget. Left out, it stays."""
    manual: bool = True
    """False lets learning continue from this value."""


class WeightChange(msgspec.Struct):
    id: int
    caller: str
    source: str
    old_weight: float
    new_weight: float
    old_token_share: float
    new_token_share: float
    cause: str
    """`operator` or `eval`."""
    effectiveness: float | None
    """How useful the source's items were."""
    assemblies: int | None
    """How many assemblies it was learned from."""
    created_at: datetime


class WeightHistory(Page[WeightChange]):
    """A page of changes, newest first."""


class HistoryCursor(Cursor, tag="weight history"):
    id: BigId


class CallerBudget(msgspec.Struct):
    caller: str
    default_budget: int
    min_budget: int
    max_budget: int
    ceiling: int | None
    """The largest budget of any request by the caller."""
    manual: bool
    """An operator set it, and learning leaves it alone."""
    updated_at: datetime


class CallerBudgets(msgspec.Struct):
    budgets: list[CallerBudget]


class BudgetInput(Body, kw_only=True):
    """No request of the caller may exceed `ceiling`. Learning moves the default between min and max."""

    caller: Name
    default_budget: TokenBudget
    min_budget: TokenBudget | None = None
    max_budget: TokenBudget | None = None
    ceiling: TokenBudget | None = None
    manual: bool = True
    """False lets learning continue from this value."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.min_budget is not None and self.min_budget > self.default_budget:
            yield "min_budget", "must not exceed default_budget"
        if self.max_budget is not None and self.max_budget < self.default_budget:
            yield "max_budget", "must not be below default_budget"


class WeightAdjustment(msgspec.Struct):
    caller: str
    source: str
    old_weight: float
    new_weight: float
    old_token_share: float
    new_token_share: float
    effectiveness: float | None
    """Null: the source was in no block, and its weight moves back towards the start value."""


class BudgetAdjustment(msgspec.Struct):
    caller: str
    old_budget: int
    new_budget: int


class Evaluated(msgspec.Struct):
    """What one cycle changed. The counts are of all rows that now hold settings."""

    weight_adjustments: list[WeightAdjustment]
    """Weights that changed."""
    budget_adjustments: list[BudgetAdjustment]
    """Budgets that changed."""
    weights_count: int
    """Rows of weights."""
    budgets_count: int
    """Rows of budgets."""
    assemblies: int
    """How many assemblies had new feedback."""
