"""The ledger of calls of paid models, which the three services share."""

from __future__ import annotations

from shared.costs.ledger import Ledger, costed, in_words, record

__all__ = ["Ledger", "costed", "in_words", "record"]
