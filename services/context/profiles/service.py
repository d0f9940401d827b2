"""Reads profiles for blocks, and lets admins and their subjects' own keys change them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from services.context.profiles import queries
from services.context.profiles.schemas import ONE_SUBJECT, Profile, ProfileCursor, ProfileInput, Profiles
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Action, Deed
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Invalid
from shared.paging.pages import page_of

_SECONDS = 2.0
_MOST = 10_000


class ProfileService:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._without: dict[str, float] = {}

    async def of(self, tenant: str, scopes: Sequence[str], deadline: Deadline) -> list[Profile]:
        """The profiles of these subjects, agents' first.

        That a tenant has none is remembered for _SECONDS. A profile is not, so that an erased one shows nowhere.
        """
        now = time.monotonic()
        if now - self._without.get(tenant, -_SECONDS) < _SECONDS:
            return []

        async def work(c: Connection) -> list[Profile] | None:
            found = await queries.profiles_of(c, tenant, scopes)
            return found or ([] if await queries.has_any(c, tenant) else None)

        found = await self._database.run(tenant, work, deadline)
        if found is None:
            if len(self._without) > _MOST:
                self._without.clear()
            self._without[tenant] = now
        return found or []

    async def find(self, principal: Principal, scope: str, deadline: Deadline) -> Profile | None:
        """A subject's profile, as far as the key may read it."""
        listed = await self._database.run(
            principal.tenant,
            lambda c: queries.list_profiles(c, principal, [scope], after=None, limit=1),
            deadline,
        )
        return listed[0] if listed else None

    async def list(
        self,
        principal: Principal,
        scopes: Sequence[str],
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Profiles:
        """Of these subjects, or of all where none is named. Raises Forbidden for a subject beyond the key's bounds."""
        for scope in scopes:
            principal.require_scope(scope)
        position = ProfileCursor.read(cursor)
        after = None if position is None else position.scope
        found = await self._database.run(
            principal.tenant,
            lambda c: queries.list_profiles(c, principal, [*scopes] or None, after=after, limit=limit + 1),
            deadline,
        )
        page = page_of(found, limit, lambda profile: ProfileCursor(scope=profile.scope))
        return Profiles(list(page.rows), page.next)

    async def put(self, principal: Principal, given: ProfileInput, deadline: Deadline) -> Profile:
        """Raises Forbidden."""
        _require_owner(principal, given.scope)

        async def work(c: Connection) -> Profile:
            before = await queries.profiles_of(c, principal.tenant, [given.scope])
            profile = await queries.put_profile(c, principal, given)
            old = _settings(before[0]) if before else None
            await _record(c, principal, "profile_set", given.scope, old, _settings(profile))
            return profile

        profile = await self._database.transaction(principal.tenant, work, deadline)
        # Other replicas follow within _SECONDS.
        self._without.pop(principal.tenant, None)
        return profile

    async def delete(self, principal: Principal, scopes: Sequence[str], deadline: Deadline) -> None:
        """Raises Forbidden, or Invalid unless there is one subject. To delete what is not there changes nothing."""
        if len(scopes) != 1:
            raise Invalid.field("agent_name", ONE_SUBJECT)
        (scope,) = scopes
        _require_owner(principal, scope)

        async def work(c: Connection) -> None:
            deleted = await queries.delete_profile(c, principal.tenant, scope)
            if deleted is not None:
                await _record(c, principal, "profile_delete", scope, _settings(deleted), None)

        await self._database.transaction(principal.tenant, work, deadline)


def _require_owner(principal: Principal, scope: str) -> None:
    """A profile stands in every block for its subject, so its writer must reach all of these. Raises Forbidden.

    A key that is bound to the subject needs no admin access.
    """
    kind, _, name = scope.partition(":")
    principal.require_scope(scope)
    principal.require_every_mission()
    if kind == "agent":
        principal.require_every_user()
        own = principal.agent == name
    else:
        principal.require_every_agent()
        own = principal.users == frozenset([name])
    if not own:
        principal.require("admin")


def _settings(profile: Profile) -> dict[str, Any]:
    """What the audit keeps of a profile: nothing that it says."""
    return {"characters": len(profile.text), "background": profile.background}


async def _record(
    c: Connection, principal: Principal, action: Action, scope: str, before: Any, after: Any
) -> None:
    await audit.record(c, principal, Deed(action=action, target=scope, before=before, after=after))
