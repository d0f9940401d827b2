"""Asks every owner what waits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from services.context.backlog.schemas import StoreWaiting, TenantBacklog
from services.context.forwarding.owners import Failed, Owner
from services.context.schemas import Degraded
from shared.auth import Principal
from shared.concurrency import clock
from shared.database.index_queue import StoreBacklog
from shared.deadline import Deadline

_A_YEAR = 365 * 86_400.0
# Less than the caller's time, so that one slow owner does not cost the answer of the other.
_SHARE = 0.8


class TenantBacklogs:
    def __init__(self, owners: Mapping[str, Owner]) -> None:
        self._owners = owners

    async def waiting(self, principal: Principal, deadline: Deadline, request_id: str) -> TenantBacklog:
        """Raises Forbidden for a key that is bound, because the counts are those of the whole tenant."""
        principal.require_unbounded()
        patience = Deadline(deadline.left() * _SHARE)
        answers = await asyncio.gather(
            *(self._ask(owner, principal, patience, request_id) for owner in self._owners.values())
        )
        backlog = TenantBacklog([], [])
        for answer in answers:
            if isinstance(answer, Degraded):
                backlog.degraded.append(answer)
            else:
                backlog.stores += answer
        return backlog

    async def _ask(
        self, owner: Owner, principal: Principal, deadline: Deadline, request_id: str
    ) -> list[StoreWaiting] | Degraded:
        try:
            answer = await owner.backlog(principal, deadline, request_id)
        except Failed as error:
            return Degraded(owner.name, error.reason)
        return [_of(store) for store in answer]


def _of(store: StoreBacklog) -> StoreWaiting:
    seconds = store.seconds_left
    expected = None
    if store.items and seconds is not None and seconds < _A_YEAR:
        expected = clock.now() + timedelta(seconds=seconds)
    return StoreWaiting(store=store.store, items=store.items, expected_at=expected)
