"""Learns from turns by rules, beside the event loop."""

from __future__ import annotations

from collections.abc import Sequence

from services.agent_memory.consolidation.extraction import rules
from services.agent_memory.consolidation.learned import Learned, Source, Turn
from shared.concurrency.threads import beside

# Rules take longer for a character than those that `beside` is measured with.
_WEIGHT = 10


async def learn(turns: Sequence[Turn], source: Source) -> Learned:
    return await beside(_WEIGHT * sum(len(turn.text) for turn in turns), rules.learn, turns, source)
