"""Learns from turns with the helper model if there is one, and by rules where it does not answer in time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog
from prometheus_client import Counter

from services.agent_memory.consolidation.extraction import rules
from services.agent_memory.consolidation.extraction.model.answer import Told, prompt, schema
from services.agent_memory.consolidation.extraction.model.checking import checked
from services.agent_memory.consolidation.extraction.parties import speaker
from services.agent_memory.consolidation.learned import Learned, Source, Turn
from shared.concurrency.batching import slices
from shared.concurrency.threads import beside, in_worker
from shared.llm import Helper, Passage

log = structlog.get_logger()

ITEMS = Counter("scrubjay_extracted_items_total", "What the helper model says that turns teach", ["outcome"])

# Rules take longer for a character than those that `beside` is measured with.
_WEIGHT = 10
_CHARACTERS = 24_000
"""Of the turns of one call."""
_LONGEST = 8_000
_ANSWER_TOKENS = 4_000


class Learning:
    def __init__(self, helper: Helper | None) -> None:
        self._helper = helper

    async def learn(self, tenant: str, turns: Sequence[Turn], source: Source, seconds: float) -> Learned:
        """What tools answer teaches nothing, and is not sent."""
        heard = [turn for turn in turns if turn.role != "tool"]
        helper = self._helper
        if helper is None:
            return await _by_rules(heard, source)
        end = asyncio.get_running_loop().time() + seconds
        work = (
            _by_model(helper, tenant, stretch, source, end) for stretch in slices(heard, _length, _CHARACTERS)
        )
        found = await asyncio.gather(*work)
        return Learned(
            facts=tuple(fact for each in found for fact in each.facts),
            episodes=tuple(episode for each in found for episode in each.episodes),
            commitments=tuple(promise for each in found for promise in each.commitments),
            aliases=tuple(alias for each in found for alias in each.aliases),
        )


async def _by_rules(turns: Sequence[Turn], source: Source) -> Learned:
    return await beside(_WEIGHT * sum(len(turn.text) for turn in turns), rules.learn, turns, source)


async def _by_model(
    helper: Helper, tenant: str, turns: Sequence[Turn], source: Source, end: float
) -> Learned:
    passages = [Passage(turn.text[:_LONGEST], turn.at, speaker(turn, source) or turn.role) for turn in turns]
    try:
        async with asyncio.timeout_at(end):
            told = await helper.extract(
                prompt(), passages, schema(), Told, most_tokens=_ANSWER_TOKENS, tenant=tenant
            )
    except TimeoutError:
        told = None
    if told is None:
        return await _by_rules(turns, source)
    learned, kept, dropped = await in_worker(checked, told, turns, source)
    ITEMS.labels("kept").inc(kept)
    ITEMS.labels("dropped").inc(dropped)
    if dropped and not kept:
        log.warning("nothing that the helper model says is true of its turns", dropped=dropped)
        return await _by_rules(turns, source)
    return learned


def _length(turn: Turn) -> int:
    return min(len(turn.text), _LONGEST)
