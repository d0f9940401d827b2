"""A key can give other keys only what it has itself."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import msgspec

from services.context.keys.schemas import NO_LIMITS, KeyInput, Limits
from shared.auth import Principal
from shared.errors import Forbidden


class Holder(NamedTuple):
    """The key that makes or manages others. `limits` are those in force. Without `expires_at` it never expires."""

    principal: Principal
    expires_at: datetime | None = None
    limits: Limits = NO_LIMITS


def narrowed(holder: Holder, given: KeyInput) -> KeyInput:
    """`given`, with the holder's bounds where it has none. Raises Forbidden when it asks for more."""
    principal = holder.principal
    principal.require_agent(given.agent)
    for mission in given.missions or ():
        principal.require_mission(mission)
    for user in given.users or ():
        principal.require_scope(f"user:{user}")
    limits = {
        name: getattr(holder.limits, name) if getattr(given, name) is None else getattr(given, name)
        for name in Limits.__struct_fields__
    }
    own = msgspec.structs.replace(
        given,
        agent=given.agent or principal.agent,
        missions=_or(given.missions, principal.missions),
        users=_or(given.users, principal.users),
        expires_at=given.expires_at or holder.expires_at,
        **limits,
    )
    require_within(holder, own.expires_at, Limits.of(limits))
    return own


def require_within(holder: Holder, expires_at: datetime | None, limits: Limits) -> None:
    """Raises Forbidden for a key that would outlive its holder or exceed its limits."""
    end = holder.expires_at
    if end is not None and (expires_at is None or expires_at > end):
        raise Forbidden("a key must not outlive the one that made it")
    for name in Limits.__struct_fields__:
        most, wanted = getattr(holder.limits, name), getattr(limits, name)
        if most is not None and (wanted is None or wanted > most):
            raise Forbidden(f"this key may grant {most:g} {name.replace('_', ' ')} at most")


def _or(given: list[str] | None, own: frozenset[str] | None) -> list[str] | None:
    return sorted(own) if given is None and own is not None else given
