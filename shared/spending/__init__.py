"""What calls of paid models take: their tokens, their prices, and who they are made for."""

from __future__ import annotations

from shared.spending.calls import Cost, Meter, Outcome, Tokens, estimated_tokens, outcome_of
from shared.spending.payer import Payer, charged_to, payer_of
from shared.spending.prices import Prices

__all__ = [
    "Cost",
    "Meter",
    "Outcome",
    "Payer",
    "Prices",
    "Tokens",
    "charged_to",
    "estimated_tokens",
    "outcome_of",
    "payer_of",
]
