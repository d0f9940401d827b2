"""What the rules learn without a model: facts that a sentence states, and promises with a date. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.agent_memory.consolidation.learned import (
    Learned,
    LearnedCommitment,
    LearnedFact,
    Source,
    Turn,
)
from shared.concurrency.threads import beside
from shared.sentences.lasting import promised
from shared.sentences.triples import triples

# A longer text speaks of a promise among other things.
_SHORT = 600


async def learn(turns: Sequence[Turn], source: Source) -> Learned:
    return await beside(sum(len(turn.text) for turn in turns), learn_by_rules, turns, source)


def learn_by_rules(turns: Sequence[Turn], source: Source) -> Learned:
    said = [turn for turn in turns if turn.role in ("user", "assistant")]
    return Learned(
        facts=tuple(fact for turn in said for fact in _facts(turn)),
        commitments=tuple(promise for turn in said for promise in _promises(turn, source)),
    )


def _facts(turn: Turn) -> Iterator[LearnedFact]:
    """What an agent says of itself is no fact."""
    for triple in triples(turn.text, turn.author if turn.role == "user" else None):
        yield LearnedFact(**triple._asdict(), valid_from=turn.at, turns=(turn.position,), trust=turn.trust)


def _promises(turn: Turn, source: Source) -> Iterator[LearnedCommitment]:
    by_user = turn.role == "user"
    for due in promised(turn.text, turn.at) if len(turn.text) <= _SHORT else ():
        yield LearnedCommitment(
            content=turn.text.strip(),
            said_at=turn.at,
            due_at=due,
            owed_by=turn.author,
            owed_to=source.agent_name if by_user else source.user_id,
            turns=(turn.position,),
            trust=turn.trust,
        )
