"""A model that writes text, where an operator has set one: summaries, answers, what turns teach, syntheses.

Without one, callers keep to what they find in the text itself.
"""

from __future__ import annotations

from shared.llm.helper import Answered, Helper, Reached, Record, Spent, Written
from shared.llm.opening import open_helper
from shared.llm.prompts import Passage
from shared.llm.provider import HelperUnavailable
from shared.llm.settings import HelperSettings, HelperVariables, helper_from_env

__all__ = [
    "Answered",
    "Helper",
    "HelperSettings",
    "HelperUnavailable",
    "HelperVariables",
    "Passage",
    "Reached",
    "Record",
    "Spent",
    "Written",
    "helper_from_env",
    "open_helper",
]
