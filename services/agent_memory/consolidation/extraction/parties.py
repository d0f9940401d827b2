"""Who speaks to whom in the turns that are read. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from services.agent_memory.consolidation.extraction.saying import Said
from services.agent_memory.consolidation.learned import Source, Turn


class Parties(NamedTuple):
    names: tuple[str, ...]
    """Everybody who speaks, in the order of their first turns."""
    source: Source

    def who(self, said: Said) -> str | None:
        return said.who or self.speaker(said.turn)

    def speaker(self, turn: Turn) -> str | None:
        return speaker(turn, self.source)

    def other_than(self, said: Said) -> str | None:
        """The one other who speaks there, or whom the session is with."""
        who, source = self.who(said), self.source
        known = (*self.names, *filter(None, (source.user_id, source.agent_name)))
        others = [*dict.fromkeys(name for name in known if name != who)]
        return others[0] if len(others) == 1 else None


def parties(turns: Sequence[Turn], source: Source) -> Parties:
    names = dict.fromkeys(filter(None, (speaker(turn, source) for turn in turns)))
    return Parties(tuple(names), source)


def speaker(turn: Turn, source: Source) -> str | None:
    """By the name of the turn, or else as the user or the agent of the session."""
    if turn.role not in ("user", "assistant"):
        return None
    return turn.author or (source.user_id if turn.role == "user" else source.agent_name)


def states_of_itself(turn: Turn, source: Source) -> str | None:
    """Whose facts "I" states: what an agent says of itself is none, unless it speaks under a name of its own."""
    if turn.role == "user" or (
        turn.role == "assistant" and turn.author not in (None, source.agent_name, "assistant")
    ):
        return speaker(turn, source)
    return None
