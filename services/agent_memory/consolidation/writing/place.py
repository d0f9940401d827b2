"""Where what is learned of a source lies, and who may write it there. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from services.agent_memory.consolidation.changes import Action, Change, Kind
from services.agent_memory.consolidation.learned import Derived, Source
from services.agent_memory.facts.schemas import Placed
from services.agent_memory.facts.writes.statements import Place, place_of
from shared.auth import Principal
from shared.review.reviews import About


class Writing(NamedTuple):
    """`place` is where all of it lies: what is learned of a session with a user is the user's alone."""

    principal: Principal
    source: Source
    place: Place

    @classmethod
    def of(cls, principal: Principal, source: Source, scope: str | None = None) -> Writing:
        """Raises Forbidden for a source whose scope the key may not write to."""
        named = {"user": source.user_id, "mission": source.mission_id, "agent": source.agent_name}
        own = next((f"{kind}:{name}" for kind, name in named.items() if name is not None), "shared")
        given = Placed(scope=scope or own, agent_name=source.agent_name, user_id=source.user_id)
        return cls(principal, source, place_of(principal, given))

    @property
    def about(self) -> About:
        source = self.source
        return About(self.place.scope, source.mission_id, source.agent_name, source.user_id)

    @property
    def tenant(self) -> str:
        return self.principal.tenant


def change(kind: Kind, action: Action, of: Derived, item_id: int | None = None, **more: Any) -> Change:
    return Change(kind=kind, action=action, item_id=item_id, turns=of.turns, trust=of.trust, **more)
