"""How much a fact counts that nobody has stated again for long. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

Kind = Literal["lasting", "state", "taste", "other"]

FLOOR = 0.5
"""What old facts keep: old is not wrong."""
HALF_LIVES: Mapping[Kind, timedelta | None] = {
    "lasting": None,
    "state": timedelta(days=180),
    "taste": timedelta(days=365),
    "other": timedelta(days=365),
}
"""By the kind of predicate; None: it never fades."""
_LASTING = (
    "name|full name|first name|last name|surname|born in|birthday|date of birth|is from|grew up in|nationality"
    "|native language|mother tongue|is allergic to|studied at|capital|capital of|mother|father|brother|sister|son"
    "|daughter|refers to"
)
_STATE = (
    "lives in|works at|works as|role|age|is|manager|boss|employer|company|team lead|owner|owner of|maintainer|lead"
    "|tech lead|on-call engineer|port|default port|version|current version|latest version|url|address|hostname"
    "|region|deadline|release date|default branch|budget|partner|city|country|time zone|timezone"
    "|phone number|email|e-mail"
)
_TASTE = "likes|dislikes|prefers|plays|is learning"
_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(_LASTING.split("|"), "lasting"),
    **dict.fromkeys(_STATE.split("|"), "state"),
    **dict.fromkeys(_TASTE.split("|"), "taste"),
}
_NAME_OF = "'s name"


class Weight(NamedTuple):
    weight: float
    """From FLOOR to 1."""
    half_life_days: float | None
    """None: it never fades."""


def kind_of(predicate_key: str) -> Kind:
    if predicate_key.replace("’", "'").endswith(_NAME_OF):
        return "lasting"
    if predicate_key.startswith(("favourite ", "favorite ", "preferred ")):
        return "taste"
    return _KINDS.get(predicate_key, "other")


def weight(predicate_key: str, stated_at: datetime, now: datetime) -> Weight:
    """What is above FLOOR halves with every half-life since the fact was last stated."""
    half_life = HALF_LIVES[kind_of(predicate_key)]
    if half_life is None:
        return Weight(1.0, None)
    age = max(timedelta(), now - stated_at)
    return Weight(FLOOR + (1 - FLOOR) * float(2.0 ** -(age / half_life)), half_life / timedelta(days=1))
