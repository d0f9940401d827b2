"""A short-lived cache of each caller's weights and budget."""

from __future__ import annotations

import time
from typing import NamedTuple

from services.context.assembly import queries
from services.context.assembly.queries import CallerConfig
from shared.database.postgres import Database
from shared.deadline import Deadline

_SECONDS = 2.0
_MOST = 10_000


class _Kept(NamedTuple):
    since: float
    config: CallerConfig


class CallerConfigs:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: dict[tuple[str, str], _Kept] = {}

    async def get(self, tenant: str, caller: str, deadline: Deadline) -> CallerConfig:
        """A caller's weights and budget, at most _SECONDS old."""
        kept = self._kept.get((tenant, caller))
        if kept is not None and time.monotonic() - kept.since < _SECONDS:
            return kept.config
        config = await self._database.run(
            tenant, lambda c: queries.caller_config(c, tenant, caller), deadline
        )
        if len(self._kept) > _MOST:
            self._kept.clear()
        self._kept[tenant, caller] = _Kept(time.monotonic(), config)
        return config

    def forget(self, tenant: str) -> None:
        """Makes an operator's change take effect here at once. Other replicas follow within _SECONDS."""
        for key in [key for key in self._kept if key[0] == tenant]:
            del self._kept[key]
