"""The languages of missions, which the cache keeps, for questions that do not tell their own."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from services.context.forwarding.owners import Owner
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import AppError
from shared.search.languages.detection import certain_language
from shared.text import Language

_MISSION = "mission:"
_SECONDS = 2.0
_MOST = 10_000
# The share of the time left for the cache's answer.
_SHARE = 0.2
# A search takes ten, the tenant's among them.
_MOST_LIKELY = 9


class MissionLanguages:
    def __init__(self, cache: Owner) -> None:
        self._cache = cache
        self._without: dict[str, float] = {}

    async def likely(
        self, principal: Principal, query: str, scopes: Sequence[str], deadline: Deadline, request_id: str
    ) -> list[Language]:
        """The languages of the missions among the scopes; none for a query that tells its own, or without an answer.

        That no mission of a tenant has one is remembered for _SECONDS.
        """
        missions = [scope.removeprefix(_MISSION) for scope in scopes if scope.startswith(_MISSION)]
        now, tenant = time.monotonic(), principal.tenant
        if not missions or now - self._without.get(tenant, -_SECONDS) < _SECONDS:
            return []
        if certain_language(query) is not None:
            return []
        body = msgspec.json.encode({"missions": missions})
        soon = Deadline(deadline.left() * _SHARE)
        try:
            answer = await self._cache.ask(
                "POST", "/internal/languages", principal, soon, request_id, body=body
            )
        except AppError:
            answer = {"languages": {}, "any": False}
        if not answer["any"]:
            if len(self._without) > _MOST:
                self._without.clear()
            self._without[tenant] = now
        return list(dict.fromkeys(answer["languages"].values()))[:_MOST_LIKELY]
