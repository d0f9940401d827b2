"""Principals, their scopes and grants. The context service verifies callers, and the owners trust it."""

from __future__ import annotations

import hmac
from typing import Literal

import msgspec

from shared.errors import Forbidden, Unauthorized
from shared.text import Language

Access = Literal["read", "write", "admin"]
OF_ENVIRONMENT = "env:"


class Principal(msgspec.Struct, frozen=True):
    """A verified caller. If set, `agent`, `missions` and `users` limit what it may access.

    `language` is its tenant's.
    """

    tenant: str
    key: str
    access: frozenset[Access]
    agent: str | None = None
    missions: frozenset[str] | None = None
    users: frozenset[str] | None = None
    language: Language | None = None

    @property
    def mission(self) -> str | None:
        """The mission, if it is bound to exactly one."""
        return next(iter(self.missions)) if self.missions is not None and len(self.missions) == 1 else None

    @property
    def bound(self) -> bool:
        """Whether its agent, missions or users are limited."""
        return self.agent is not None or self.missions is not None or self.users is not None

    @property
    def of_environment(self) -> bool:
        """A token that the installation was started with, not a key of one tenant."""
        return self.key.startswith(OF_ENVIRONMENT)

    def require(self, access: Access) -> None:
        if access not in self.access:
            raise Forbidden(f"this key has no {access} access")

    def require_agent(self, agent: str | None) -> None:
        """A key bound to an agent writes and calls only as that agent. Raises Forbidden."""
        if self.agent is not None and agent is not None and agent != self.agent:
            raise Forbidden(f"this key acts as agent {self.agent!r} only")

    def require_author(self, agent: str | None) -> None:
        """A key bound to an agent changes only what that agent wrote. Raises Forbidden."""
        if self.agent is not None and agent != self.agent:
            raise Forbidden(f"this key changes only what agent {self.agent!r} wrote")

    def require_every_agent(self) -> None:
        """For operations that affect every agent. Raises Forbidden."""
        if self.agent is not None:
            raise Forbidden(f"this key acts as agent {self.agent!r} only")

    def require_mission(self, mission_id: str) -> None:
        if self.missions is not None and mission_id not in self.missions:
            raise Forbidden(f"this key has no grant for mission {mission_id!r}")

    def require_every_mission(self) -> None:
        """For operations that affect every mission. Raises Forbidden."""
        if self.missions is not None:
            raise Forbidden("this key has no grant for all the missions that this may affect")

    def require_user(self, user_id: str | None) -> None:
        if self.users is not None and user_id is not None and user_id not in self.users:
            raise Forbidden(f"this key has no grant for user {user_id!r}")

    def require_every_user(self) -> None:
        """For operations that affect items about any user. Raises Forbidden."""
        if self.users is not None:
            raise Forbidden("this key has no grant for all the users that this may affect")

    def require_unbounded(self) -> None:
        """For operations that concern the whole tenant. Raises Forbidden."""
        if (self.agent, self.missions, self.users) != (None, None, None):
            raise Forbidden("this key is bound to an agent, missions or users; this needs one without bounds")

    def changes_only_its_own(self, scope: str) -> bool:
        """Whether the key changes only what it wrote there.

        A key of some missions or users, and no agent, changes what lies in these, and elsewhere only what it wrote.
        """
        bounds = {"mission": self.missions, "user": self.users}
        given = {kind for kind, names in bounds.items() if names is not None}
        return self.agent is None and bool(given) and scope.partition(":")[0] not in given

    def own_scopes(self) -> list[str] | None:
        """The scopes of files that the key may read: the shared one, and those of its bounds. None: all."""
        if not self.bound:
            return None
        agent = [] if self.agent is None else [f"agent:{self.agent}"]
        missions = [f"mission:{name}" for name in sorted(self.missions or ())]
        users = [f"user:{name}" for name in sorted(self.users or ())]
        return ["shared", *agent, *missions, *users]

    def seen_users(self, user_id: str | None = None) -> list[str] | None:
        """The users whose items a read may show, besides items about no user. None means all users.

        `user_id` narrows it to one user. Raises Forbidden when the key has no grant for it.
        """
        if user_id is not None:
            self.require_user(user_id)
            return [user_id]
        return None if self.users is None else sorted(self.users)

    def seen_missions(self) -> list[str] | None:
        """The missions that a read may show. None means all."""
        return None if self.missions is None else sorted(self.missions)

    def require_scope(self, scope: str) -> None:
        """`scope` is one of the tenant's: mission:…, agent:…, user:…, project:…, shared."""
        kind, _, name = scope.partition(":")
        if kind == "mission":
            self.require_mission(name)
        elif kind == "agent":
            self.require_agent(name)
        elif kind == "user":
            self.require_user(name)


def bearer(authorization: str | None) -> str:
    """The token of an Authorization header. Raises Unauthorized when it is absent or malformed."""
    kind, _, token = (authorization or "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise Unauthorized("a bearer token is required")
    return token.strip()


def same_secret(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())
