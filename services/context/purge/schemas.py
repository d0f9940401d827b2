"""What a purge takes and answers."""

from __future__ import annotations

import msgspec

from services.context.schemas import SearchableScope, is_scope
from shared.body import Body
from shared.text import Name


class PurgeInput(Body, kw_only=True):
    """Exactly one: a scope, or whom or what the rows are of, wherever they are."""

    scope: SearchableScope | None = None
    """`mission:…`, `agent:…`, `user:…`, `project:…` or `shared`: what was stored in it."""
    mission_id: Name | None = None
    """The same as the scope `mission:…`."""
    agent_name: Name | None = None
    """The scope `agent:…`, what the agent wrote into missions, and what was learned of it."""
    user_id: Name | None = None
    """The scope `user:…`, what is remembered of the user, and every assembly made for the user or with any of it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in self.__struct_fields__ if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("scope: exactly one of scope, mission_id, agent_name and user_id is needed")
        if not is_scope(self.purged):
            raise ValueError("scope: must be mission:…, agent:…, user:…, project:… or shared")

    @property
    def purged(self) -> str:
        if self.scope is not None:
            return self.scope
        of = {"mission": self.mission_id, "agent": self.agent_name, "user": self.user_id}
        return next(f"{kind}:{name}" for kind, name in of.items() if name is not None)


class Receipt(msgspec.Struct):
    """What a purge erased: rows per table of each service."""

    scope: str
    erased: dict[str, dict[str, int]]
    """Rows by table, by service."""
