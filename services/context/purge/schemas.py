"""What a purge takes and answers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from services.context.schemas import NOT_A_SCOPE, SearchableScope, is_scope
from shared.body import Body
from shared.text import Name

_SUBJECTS = ("scope", "mission_id", "agent_name", "user_id")


class PurgeInput(Body, kw_only=True):
    """Exactly one of a scope, or the mission, agent or user whose rows to erase everywhere."""

    scope: SearchableScope | None = None
    """Everything stored in `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`; or `tenant`: everything."""
    mission_id: Name | None = None
    """The same as the scope `mission:…`."""
    agent_name: Name | None = None
    """The scope `agent:…`, what the agent wrote into missions, and what was learned about it."""
    user_id: Name | None = None
    """The same as the scope `user:…`: all about the user, and every assembly for the user or with any of this."""
    tenant: Name | None = None
    """With the scope `tenant`: another than the caller's own, for an admin token of the environment only."""
    confirm: Name | None = None
    """With the scope `tenant`, the tenant's name. It cannot be undone."""

    def checks(self) -> Iterator[tuple[str, str]]:
        given = [name for name in _SUBJECTS if getattr(self, name) is not None]
        if self.of_tenant and len(given) == 1:
            if self.confirm is None:
                yield "confirm", "must be the name of the tenant"
            return
        for name in ("tenant", "confirm"):
            if getattr(self, name) is not None:
                yield name, "goes with the scope `tenant` only"
        if len(given) != 1:
            yield "scope", "exactly one of scope, mission_id, agent_name and user_id is needed"
        elif not is_scope(self.purged):
            yield given[0], NOT_A_SCOPE if self.scope is not None else "must not begin with a space"

    @property
    def of_tenant(self) -> bool:
        return self.scope == "tenant"

    @property
    def purged(self) -> str:
        if self.scope is not None:
            return self.scope
        of = {"mission": self.mission_id, "agent": self.agent_name, "user": self.user_id}
        return next(f"{kind}:{name}" for kind, name in of.items() if name is not None)

    @property
    def user(self) -> str | None:
        """The user that is erased, however the request names it."""
        kind, _, name = self.purged.partition(":")
        return name if kind == "user" else None

    @property
    def subject(self) -> tuple[str, str] | None:
        """The kind and the name of whom it erases everywhere, with the keys bound to it alone; None for a scope."""
        kind, _, name = self.purged.partition(":")
        everywhere = kind in ("mission", "user") or self.agent_name is not None
        return (kind, name) if everywhere else None


class Receipt(msgspec.Struct):
    """The rows that a purge erased."""

    scope: str
    erased: dict[str, dict[str, int]]
    """Erased rows by service and table."""
