"""A provider's own context editing: Anthropic's `clear_tool_uses_20250919`, which knows one request at a time.

Above a number of input tokens all results but the newest few are cleared, again in every request. What it cleared
comes back only by running the tool again, which costs what a fault costs.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.context.gateway.paging.blocks import Reading
from services.context.gateway.paging.economy import Rates
from services.context.gateway.paging.forms import Level
from services.context.gateway.paging.paged import Planner
from services.context.gateway.paging.plan import Plan, Policy, Standing

# Its defaults: https://docs.claude.com/en/docs/build-with-claude/context-editing.
TRIGGER, KEPT = 100_000, 3


def delegated(trigger: int = TRIGGER, kept: int = KEPT) -> Planner:
    def cleared(reading: Reading, known: Mapping[str, Standing], _: Rates, __: Policy) -> Plan:
        results = [block.key for block in reading.blocks if block.kind == "result"]
        chosen = results[: len(results) - kept] if reading.total > trigger else []
        levels = dict.fromkeys(chosen, Level.STUB)
        moved = {key: Standing(level, reading.turns) for key, level in levels.items() if key not in known}
        return Plan(levels, moved, bool(moved))

    return cleared
