"""The scopes that a request's missions and projects refer to, which agent-memory keeps as facts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from services.context.forwarding.owners import Owner
from services.context.schemas import Degraded
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import AppError, Forbidden

SOURCE = "references"
_KINDS = ("mission:", "project:")
_SECONDS = 2.0
_MOST = 10_000
# The share of the time left for the answer.
_SHARE = 0.2


class Neighbours(NamedTuple):
    """Scopes to search besides, or the reason why they are not known."""

    scopes: list[str]
    degraded: list[Degraded]


NONE = Neighbours([], [])


class _Answer(msgspec.Struct):
    any: bool
    """Whether anything of the tenant refers to anything."""
    scopes: list[str]


class References:
    def __init__(self, agent_memory: Owner) -> None:
        self._agent_memory = agent_memory
        self._without: dict[str, float] = {}
        self._with: set[str] = set()

    async def neighbours(
        self,
        principal: Principal,
        scopes: Sequence[str],
        as_of: datetime | None,
        deadline: Deadline,
        request_id: str,
    ) -> Neighbours:
        """Only what the key may read. That nothing of a tenant refers to anything is remembered for _SECONDS."""
        referring = [scope for scope in scopes if scope.startswith(_KINDS)]
        now, tenant = time.monotonic(), principal.tenant
        if not referring or now - self._without.get(tenant, -_SECONDS) < _SECONDS:
            return NONE
        body = msgspec.json.encode({"scopes": referring, "as_of": as_of})
        soon = Deadline(deadline.left() * _SHARE)
        try:
            given = await self._agent_memory.ask(
                "POST", "/internal/references", principal, soon, request_id, body=body
            )
            answer = msgspec.convert(given, _Answer)
        except (AppError, msgspec.ValidationError) as error:
            # Nothing is missing where nothing is known to refer to anything.
            missing = tenant in self._with
            return Neighbours([], [Degraded(SOURCE, _reason(error))] if missing else [])
        self._learn(tenant, now, found=answer.any)
        return Neighbours([scope for scope in _readable(principal, answer.scopes) if scope not in scopes], [])

    def _learn(self, tenant: str, now: float, *, found: bool) -> None:
        for known in (self._with, self._without):
            if len(known) > _MOST:
                known.clear()
        if found:
            self._with.add(tenant)
        else:
            self._with.discard(tenant)
            self._without[tenant] = now


def _reason(error: AppError | msgspec.ValidationError) -> str:
    """As other sources say it: what follows the owner's name."""
    detail = error.detail if isinstance(error, AppError) else ""
    return detail.partition(": ")[2] or "erroring"


def _readable(principal: Principal, scopes: Sequence[str]) -> Iterator[str]:
    for scope in scopes:
        try:
            principal.require_scope(scope)
        except Forbidden:
            continue
        yield scope
