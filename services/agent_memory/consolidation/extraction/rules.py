"""What turns teach by rules of English, without a model. Pure, deterministic, and linear in the turns.

Users and agents state facts and promise; a document states the facts of its lines, and of its sentences those about
somebody with a name. What tools answer teaches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from services.agent_memory.consolidation.extraction.aliases import aliases
from services.agent_memory.consolidation.extraction.episodes import episode
from services.agent_memory.consolidation.extraction.events import events
from services.agent_memory.consolidation.extraction.facts import facts, of_lines
from services.agent_memory.consolidation.extraction.parties import parties
from services.agent_memory.consolidation.extraction.promises import promises
from services.agent_memory.consolidation.extraction.saying import Said, sentences
from services.agent_memory.consolidation.learned import Learned, LearnedFact, Source, Turn

# What a step writes in one transaction. Each other name takes some queries of its own.
MOST_FACTS, MOST, MOST_NAMES = 2_000, 400, 40


def learn(turns: Sequence[Turn], source: Source) -> Learned:
    heard = [turn for turn in turns if turn.role != "tool"]
    between = parties(heard, source)
    said = [[*sentences(turn, between.speaker(turn))] for turn in heard]
    spoken = [each for turn, of in zip(heard, said, strict=True) if turn.role != "document" for each in of]
    whole = episode(spoken, between)
    stated = (fact for turn, of in zip(heard, said, strict=True) for fact in _facts(turn, of, source))
    named = {(each.alias, each.entity): each for of in reversed(said) for each in aliases(of, source)}
    return Learned(
        facts=tuple(islice(stated, MOST_FACTS)),
        episodes=(*islice(events(spoken, between), MOST), *([] if whole is None else [whole])),
        commitments=tuple(islice(promises(spoken, between), MOST)),
        aliases=tuple(islice(sorted(named.values(), key=lambda each: each.turns), MOST_NAMES)),
    )


def _facts(turn: Turn, said: Sequence[Said], source: Source) -> list[LearnedFact]:
    """Each once: what a line states may be a sentence, too."""
    found = [*of_lines(turn), *facts(said, source)]
    return [*{(each.subject, each.predicate, each.object): each for each in reversed(found)}.values()][::-1]
