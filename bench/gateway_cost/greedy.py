"""The control: in every turn all but the last twenty results are stubs, as pagers do that forget the cache."""

from __future__ import annotations

from collections.abc import Mapping

from services.context.gateway.paging.blocks import Reading
from services.context.gateway.paging.economy import Rates
from services.context.gateway.paging.forms import Level
from services.context.gateway.paging.plan import Plan, Policy, Standing

_LAST = 20


def greedy(reading: Reading, known: Mapping[str, Standing], _: Rates, __: Policy) -> Plan:
    results = [block.key for block in reading.blocks if block.kind == "result"]
    levels = dict.fromkeys(results[:-_LAST], Level.STUB)
    moved = {key: Standing(level, reading.turns) for key, level in levels.items() if key not in known}
    return Plan(levels, moved, bool(moved))
