"""Weights and budgets, as operators set them and feedback moves them."""

from __future__ import annotations

from datetime import datetime

import msgspec

from services.context.schemas import SourceStore, TokenBudget, TokenShare, Weight
from shared.body import Body
from shared.text import Name


class SourceWeight(msgspec.Struct):
    caller: str
    """`*`: everybody without a row of their own."""
    source: str
    weight: float
    token_share: float
    """Its share of the budget."""
    manual: bool
    """Set by an operator, and left alone by learning."""
    updated_at: datetime


class SourceWeights(msgspec.Struct):
    """Rows that differ from the start values; caller `*` stands for all who have none of their own."""

    weights: list[SourceWeight]
    start: dict[str, float]
    """The start values, by store."""


class WeightInput(Body, kw_only=True):
    """A manual row is left alone by learning."""

    caller: Name
    """`*`: everybody without a row of their own."""
    source: SourceStore
    weight: Weight
    token_share: TokenShare | None = None
    """Its share of the budget; left out, it stays."""
    manual: bool = True
    """False lets learning go on from here."""


class WeightChange(msgspec.Struct):
    caller: str
    source: str
    old_weight: float
    new_weight: float
    old_token_share: float
    new_token_share: float
    cause: str
    """`operator` or `eval`."""
    effectiveness: float | None
    """How much of what was shown was of use."""
    assemblies: int | None
    """How many it was learned from."""
    created_at: datetime


class WeightHistory(msgspec.Struct):
    data: list[WeightChange]


class CallerBudget(msgspec.Struct):
    caller: str
    default_budget: int
    min_budget: int
    max_budget: int
    ceiling: int | None
    """What no request may exceed."""
    manual: bool
    """Set by an operator, and left alone by learning."""
    updated_at: datetime


class CallerBudgets(msgspec.Struct):
    budgets: list[CallerBudget]


class BudgetInput(Body, kw_only=True):
    """`ceiling` is what no request of the caller may exceed. Learning moves the default between min and max."""

    caller: Name
    default_budget: TokenBudget
    min_budget: TokenBudget | None = None
    max_budget: TokenBudget | None = None
    ceiling: TokenBudget | None = None
    manual: bool = True
    """False lets learning go on from here."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_budget is not None and self.min_budget > self.default_budget:
            raise ValueError("min_budget: must not exceed default_budget")
        if self.max_budget is not None and self.max_budget < self.default_budget:
            raise ValueError("max_budget: must not be below default_budget")


class WeightAdjustment(msgspec.Struct):
    caller: str
    source: str
    old_weight: float
    new_weight: float
    old_token_share: float
    new_token_share: float
    effectiveness: float | None
    """Null: it was in no block, and goes back towards its start."""


class BudgetAdjustment(msgspec.Struct):
    caller: str
    old_budget: int
    new_budget: int


class Evaluated(msgspec.Struct):
    """What one cycle changed; the counts are of rows that hold settings now."""

    weight_adjustments: list[WeightAdjustment]
    budget_adjustments: list[BudgetAdjustment]
    weights_count: int
    budgets_count: int
    assemblies: int
    """How many had feedback that was new."""
