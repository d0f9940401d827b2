"""What turns teach by rules of English, without a model. Pure, deterministic, and linear in the turns.

Users and agents state facts and promise; a document states the facts of its lines, and of its sentences those about
somebody with a name. What tools answer teaches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.agent_memory.consolidation.extraction.aliases import aliases
from services.agent_memory.consolidation.extraction.episodes import episode
from services.agent_memory.consolidation.extraction.events import events
from services.agent_memory.consolidation.extraction.facts import facts, of_lines
from services.agent_memory.consolidation.extraction.parties import parties
from services.agent_memory.consolidation.extraction.promises import promises
from services.agent_memory.consolidation.extraction.saying import Said, sentences
from services.agent_memory.consolidation.learned import Learned, LearnedFact, Source, Turn


def learn(turns: Sequence[Turn], source: Source) -> Learned:
    heard = [turn for turn in turns if turn.role != "tool"]
    between = parties(heard, source)
    said = [[*sentences(turn, between.speaker(turn))] for turn in heard]
    spoken = [each for turn, of in zip(heard, said, strict=True) if turn.role != "document" for each in of]
    whole = episode(spoken, between)
    return Learned(
        facts=tuple(fact for turn, of in zip(heard, said, strict=True) for fact in _facts(turn, of, source)),
        episodes=(*events(spoken, between), *([] if whole is None else [whole])),
        commitments=tuple(promises(spoken, between)),
        aliases=tuple(alias for of in said for alias in aliases(of, source)),
    )


def _facts(turn: Turn, said: Sequence[Said], source: Source) -> list[LearnedFact]:
    """Each once: what a line states may be a sentence, too."""
    found = [*of_lines(turn), *facts(said, source)]
    return [*{(each.subject, each.predicate, each.object): each for each in reversed(found)}.values()][::-1]
