"""The search of every store: one call to each owner, in parallel."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from services.context import stores
from services.context.assembly.asking import Ask
from services.context.forwarding.owners import Failed, Owner, Owners
from services.context.schemas import Degraded
from services.context.stores import OwnerName
from shared.deadline import Deadline
from shared.search.evidence import SearchRequest, SearchResult, encode_vector

Scopes = dict[str, list[str]]
"""Of each store that is searched."""


class Found(NamedTuple):
    results: list[SearchResult]
    degraded: list[Degraded]


async def search(owners: Owners, ask: Ask, deadline: Deadline) -> Found:
    """A store whose owner failed is named with the reason."""
    searched = _stores_by_owner(ask.scopes)
    calls = (_search_owner(owners[name], ask, scopes, deadline) for name, scopes in searched.items())
    answers = await asyncio.gather(*calls)
    return Found(
        [result for answer in answers for result in answer.results],
        [degraded for answer in answers for degraded in answer.degraded],
    )


def _stores_by_owner(scopes: list[str]) -> dict[OwnerName, Scopes]:
    searched: dict[OwnerName, Scopes] = {}
    for store in stores.STORES:
        if (inside := store.scopes(scopes)) is not None:
            searched.setdefault(store.owner, {})[store.name] = inside
    return searched


async def _search_owner(owner: Owner, ask: Ask, scopes: Scopes, deadline: Deadline) -> Found:
    try:
        result = await owner.search(_request(ask, scopes), ask.principal, deadline, ask.request_id)
    except Failed as error:
        return Found([], [Degraded(store, f"{owner.name} {error.reason}") for store in scopes])
    if ask.as_of is not None:
        for store in result.stores.values():
            store.candidates = [c for c in store.candidates if c.created_at <= ask.as_of]
    return Found([result], [])


def _request(ask: Ask, scopes: Scopes) -> SearchRequest:
    vector = ask.embedded.vector
    return SearchRequest(
        query=ask.request.query,
        stores=scopes,
        agent=ask.request.caller,
        user_id=ask.request.user_id,
        vector=None if vector is None else encode_vector(vector),
        model=ask.embedded.model,
        as_of=ask.as_of,
    )
