"""Asks the helper model what turns teach, a stretch at a time. Where it gives no answer, the rules do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import structlog
from prometheus_client import Counter

from services.agent_memory.consolidation.extraction import rules
from services.agent_memory.consolidation.extraction.model.answer import Told, prompt, schema
from services.agent_memory.consolidation.extraction.model.checking import checked
from services.agent_memory.consolidation.extraction.parties import speaker
from services.agent_memory.consolidation.learned import Learned, Source, Turn
from shared.concurrency.threads import in_worker
from shared.llm import Helper, Passage

log = structlog.get_logger()

ITEMS = Counter("scrubjay_extracted_items_total", "What the helper model says that turns teach", ["outcome"])

_CHARACTERS = 24_000
"""Of the turns of one call."""
_LONGEST = 8_000
_ANSWER_TOKENS = 4_000


async def learn(helper: Helper | None, tenant: str, turns: Sequence[Turn], source: Source) -> Learned:
    """What tools answer teaches nothing, and is not sent."""
    heard = [turn for turn in turns if turn.role != "tool"]
    if helper is None:
        return await in_worker(rules.learn, heard, source)
    found = [await _of_stretch(helper, tenant, stretch, source) for stretch in _stretches(heard)]
    return Learned(
        facts=tuple(fact for each in found for fact in each.facts),
        episodes=tuple(episode for each in found for episode in each.episodes),
        commitments=tuple(promise for each in found for promise in each.commitments),
        aliases=tuple(alias for each in found for alias in each.aliases),
    )


async def _of_stretch(helper: Helper, tenant: str, turns: Sequence[Turn], source: Source) -> Learned:
    passages = [Passage(turn.text[:_LONGEST], turn.at, speaker(turn, source) or turn.role) for turn in turns]
    told = await helper.extract(prompt(), passages, schema(), Told, most_tokens=_ANSWER_TOKENS, tenant=tenant)
    if told is None:
        return await in_worker(rules.learn, turns, source)
    learned, kept, dropped = await in_worker(checked, told, turns, source)
    ITEMS.labels("kept").inc(kept)
    ITEMS.labels("dropped").inc(dropped)
    if dropped and not kept:
        log.warning("nothing that the helper model extracted is true of its turns", dropped=dropped)
        return await in_worker(rules.learn, turns, source)
    return learned


def _stretches(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    stretch: list[Turn] = []
    size = 0
    for turn in turns:
        length = min(len(turn.text), _LONGEST)
        if stretch and size + length > _CHARACTERS:
            yield stretch
            stretch, size = [], 0
        stretch.append(turn)
        size += length
    if stretch:
        yield stretch
