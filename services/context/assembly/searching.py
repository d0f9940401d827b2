"""Searches every store, with one parallel call to each owner."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

from services.context import stores
from services.context.assembly.asking import Ask
from services.context.assembly.graph.lines import graph_scopes
from services.context.forwarding.owners import Failed, Owners
from services.context.schemas import Degraded
from services.context.stores import OwnerName
from shared.deadline import Deadline
from shared.search.evidence import (
    GRAPH,
    NEAR,
    Candidate,
    SearchRequest,
    SearchResult,
    StoreResult,
    Triple,
    encode_vector,
)

GRAPH_OWNER: OwnerName = "agent_memory"
Scopes = dict[str, list[str]]
"""The scopes to search, by store."""


class Found(NamedTuple):
    results: list[SearchResult]
    degraded: list[Degraded]

    def stores(self) -> Iterator[StoreResult]:
        for result in self.results:
            yield from result.stores.values()

    def graph(self) -> list[Triple]:
        """Facts of the question's entities."""
        return [triple for result in self.results for triple in result.graph or ()]

    def background(self) -> list[Candidate]:
        """All that the caller's own memory holds, where that is little and was asked for."""
        return [memory for store in self.stores() for memory in store.background]


async def search(owners: Owners, ask: Ask, deadline: Deadline) -> Found:
    """Reports each store whose owner failed, with the reason. Raises an owner's refusal."""
    searched = _stores_by_owner(ask.scopes)
    if ask.request.session_id is not None:
        objects = stores.SESSION_OBJECTS
        searched.setdefault(objects.owner, {})[objects.name] = [f"session:{ask.request.session_id}"]
    if ask.request.user_id is not None:
        of_users = searched.setdefault(stores.PERSISTENT.owner, {}).setdefault(stores.PERSISTENT.name, [])
        of_users += {f"user:{ask.request.user_id}"}.difference(of_users)
    within = graph_scopes(ask.budget.tokens, ask.scopes, ask.request.caller, ask.request.user_id)
    if within is not None:
        searched.setdefault(GRAPH_OWNER, {})[GRAPH] = within
    neighbours = ask.neighbours.scopes
    for owner, near in _stores_by_owner(neighbours).items() if neighbours else ():
        searched.setdefault(owner, {}).update(
            {f"{NEAR}{name}": scopes for name, scopes in near.items() if scopes}
        )
    answers = await asyncio.gather(
        *(
            owners[owner].search(_request(ask, scopes), ask.principal, deadline, ask.request_id)
            for owner, scopes in searched.items()
        ),
        return_exceptions=True,
    )
    found = Found([], [])
    for (owner, scopes), answer in zip(searched.items(), answers, strict=True):
        if isinstance(answer, Failed):
            stores_of_owner = dict.fromkeys(name.removeprefix(NEAR) for name in scopes)
            found.degraded.extend(Degraded(store, f"{owner} {answer.reason}") for store in stores_of_owner)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            found.results.append(with_neighbours(_until(answer, ask.as_of), neighbours))
            if GRAPH in scopes and answer.graph is None:
                found.degraded.append(Degraded(GRAPH, f"{owner} outdated"))
    return found


def _stores_by_owner(scopes: list[str]) -> dict[OwnerName, Scopes]:
    searched: dict[OwnerName, Scopes] = {}
    for store in stores.STORES:
        if (inside := store.scopes(scopes)) is not None:
            searched.setdefault(store.owner, {})[store.name] = inside
    return searched


def with_neighbours(result: SearchResult, neighbours: Collection[str]) -> SearchResult:
    """Adds what the neighbours' scopes hold to each store. How rare words are, the request's own scopes say."""
    for name in [name for name in result.stores if name.startswith(NEAR)]:
        near = result.stores.pop(name)
        # An owner also searches what is the caller's own and everybody's.
        near.candidates = [candidate for candidate in near.candidates if candidate.scope in neighbours]
        near.items = {scope: count for scope, count in (near.items or {}).items() if scope in neighbours}
        for candidate in near.candidates:
            candidate.labels = [*candidate.labels, f"from {candidate.scope}"]
        store = result.stores.setdefault(name.removeprefix(NEAR), near)
        if store is not near:
            _add(near, store)
    return result


def _add(near: StoreResult, store: StoreResult) -> None:
    store.candidates += near.candidates
    store.items = {**(store.items or {}), **(near.items or {})}
    if not store.documents:
        store.documents, store.df = near.documents, near.df


def _until(result: SearchResult, as_of: datetime | None) -> SearchResult:
    """Drops the few candidates recorded after `as_of` that an owner may return."""
    if as_of is not None:
        for store in result.stores.values():
            store.candidates = [c for c in store.candidates if c.created_at <= as_of]
            then = {c.id for c in (*store.candidates, *store.background)}
            for candidate in (*store.candidates, *store.background):
                # Nothing says when an item was superseded. One that is not found may not have been there then.
                if candidate.superseded_by not in then:
                    candidate.superseded_by = None
                if candidate.confirmed_at is not None and candidate.confirmed_at > as_of:
                    candidate.confirmed_at = None
    return result


def _request(ask: Ask, scopes: Scopes) -> SearchRequest:
    vector = ask.embedded.vector
    return SearchRequest(
        query=ask.request.query,
        stores=scopes,
        agent=ask.request.caller,
        user_id=ask.request.user_id,
        language=ask.request.language,
        likely=ask.languages,
        vector=None if vector is None else encode_vector(vector),
        model=ask.embedded.model,
        as_of=ask.as_of,
        background=ask.budget.tokens if stores.OWN.name in scopes and ask.background else None,
        whole=ask.request.whole_objects and stores.SESSION_OBJECTS.name in scopes,
    )
