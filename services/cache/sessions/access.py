"""Which sessions a key reaches.

A session belongs to an agent, a mission and a user. It holds all that an agent read, so a key that is bound to an agent
or to missions reaches only sessions that name its own.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from shared.auth import Principal
from shared.errors import Forbidden

_UNBOUND = "name a mission: this key is bound to some"


class Reach(NamedTuple):
    """The values of VISIBLE, from $2 on. None means any."""

    agent: str | None
    missions: list[str] | None
    users: list[str] | None

    @classmethod
    def of(cls, principal: Principal) -> Reach:
        return cls(principal.agent, principal.seen_missions(), principal.seen_users())


REACHED = """
    ({agent}::text is null or s.agent_name = {agent})
    and ({missions}::text[] is null or s.mission_id = any({missions}))
    and ({users}::text[] is null or s.user_id is null or s.user_id = any({users}))
"""
"""Whether a key reaches the session's row `s`."""
VISIBLE = REACHED.format(agent="$2", missions="$3", users="$4")


def require_parties(
    principal: Principal, agent_name: str | None, mission_id: str | None, user_id: str | None
) -> None:
    """Raises Forbidden for a session that the key would not reach."""
    principal.require_agent(agent_name)
    principal.require_user(user_id)
    if mission_id is not None:
        principal.require_mission(mission_id)
    elif principal.missions is not None:
        raise Forbidden(_UNBOUND)


def scope_of(agent_name: str | None, mission_id: str | None, user_id: str | None) -> str:
    """The scope in which a session lies."""
    named = {"mission": mission_id, "agent": agent_name, "user": user_id}
    return next((f"{kind}:{name}" for kind, name in named.items() if name is not None), "shared")


def require_change(principal: Principal, *, written_by: str, user_id: str | None) -> None:
    """A key of some users changes, of sessions about nobody, only those that it began. Raises Forbidden."""
    if principal.users is not None and user_id is None and written_by != principal.key:
        raise Forbidden("this key changes only sessions of its users and those that it began")


def as_uuid(session: str) -> UUID | None:
    try:
        return UUID(session)
    except ValueError:
        return None
