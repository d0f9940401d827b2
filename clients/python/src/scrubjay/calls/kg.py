"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from scrubjay._call import Call, PagedCall, fields, path
from scrubjay.models import (
    AddFactInput,
    Alias,
    Aliases,
    Fact,
    Facts,
    FactStats,
    InvalidatedFacts,
    Neighbours,
    PredicateCount,
    Predicates,
    RemovedAlias,
    WrittenAlias,
    WrittenFact,
    WrittenFacts,
)


def add(
    *,
    subject: str,
    predicate: str,
    object: str,
    scope: str | None = None,
    mission_namespace: str | None = None,
    agent_name: str | None = None,
    user_id: str | None = None,
    confidence: float | None = None,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    recalled_from: int | str | None = None,
    dispatch_id: int | str | None = None,
    single: bool | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[WrittenFact]:
    """Add a fact beside the other values of its predicate. Stating it again changes nothing.

    Args:
        scope: Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default
            its mission, or else its agent, or else `shared`.
        mission_namespace: The mission whose scope it gets if `scope` is left out.
        agent_name: The agent that states it.
        user_id: The user it is about. A purge of the user erases it.
        subject: What it is about.
        predicate: The attribute or the relation, such as `lives in`.
        object: The value, or the name of another entity.
        confidence: How certain it is. Default: `1.0`.
        valid_from: Since when it holds, by default now. A time without an offset is UTC.
        valid_to: When it ceased to hold, exclusive. By default it still holds.
        source_kind: The kind of source it is from. Only users and agents close what users and agents
            stated, and the key of an agent closes only what this agent stated. Default: `"agent"`.
        recalled_from: The assembly that led to it.
        dispatch_id: The dispatch it was learned in.
        single: The predicate has one value at a time: the subject's other open values of it are closed.
            Default: `false`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_namespace`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/kg/add",
        answer=WrittenFact,
        seconds=5.0,
        repeatable=True,
        body=fields(
            scope=scope,
            mission_namespace=mission_namespace,
            agent_name=agent_name,
            user_id=user_id,
            subject=subject,
            predicate=predicate,
            object=object,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            source_kind=source_kind,
            recalled_from=recalled_from,
            dispatch_id=dispatch_id,
            single=single,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_namespace"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def add_alias(
    *,
    alias: str,
    entity: str,
    scope: str | None = None,
    mission_namespace: str | None = None,
    agent_name: str | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[WrittenAlias]:
    """Give an entity another name. What is known under both names is one entity's from then on. This holds
    in one scope. Answers 409 if the name belongs to another entity.

    Args:
        scope: Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default
            its mission, or else its agent, or else `shared`.
        mission_namespace: The mission whose scope it gets if `scope` is left out.
        agent_name: The agent that states it.
        alias: The other name.
        entity: The entity, by any of its names.
        source_kind: The kind of source that says so. Only users and agents merge what users and agents
            stated. Default: `"agent"`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_namespace`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/kg/aliases",
        answer=WrittenAlias,
        seconds=5.0,
        repeatable=True,
        body=fields(
            scope=scope,
            mission_namespace=mission_namespace,
            agent_name=agent_name,
            alias=alias,
            entity=entity,
            source_kind=source_kind,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_namespace"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def aliases(
    *,
    name: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Aliases, Alias]:
    """List other names of entities, in alphabetical order.

    Args:
        name: Only those of this name or leading to it.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/kg/aliases",
        answer=Aliases,
        seconds=2.0,
        repeatable=True,
        query={"name": name, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def remove_alias(
    *,
    alias: str,
    scope: str | None = None,
    mission_namespace: str | None = None,
    agent_name: str | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[RemovedAlias]:
    """Take another name away from an entity. What was stated under the name is its own again. A fact that
    was stated under both names stays with the entity, and what later statements closed stays closed.

    Args:
        scope: Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default
            its mission, or else its agent, or else `shared`.
        mission_namespace: The mission whose scope it gets if `scope` is left out.
        agent_name: The agent that states it.
        alias: The other name.
        source_kind: The kind of source that says so. Only users and agents take apart what users and
            agents stated. Default: `"agent"`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_namespace`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/kg/aliases/remove",
        answer=RemovedAlias,
        seconds=5.0,
        repeatable=True,
        body=fields(
            scope=scope,
            mission_namespace=mission_namespace,
            agent_name=agent_name,
            alias=alias,
            source_kind=source_kind,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_namespace"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def batch(
    *,
    facts: Sequence[AddFactInput],
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[WrittenFacts]:
    """Add up to 100 facts, all or none.

    Args:
        facts: The facts to add.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/kg/batch",
        answer=WrittenFacts,
        seconds=5.0,
        repeatable=True,
        body=fields(facts=facts),
        own={"agent": "agent_name", "mission": "mission_namespace"},
        each="facts",
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def invalidate(
    *,
    scope: str | None = None,
    mission_namespace: str | None = None,
    agent_name: str | None = None,
    user_id: str | None = None,
    id: int | str | None = None,
    subject: str | None = None,
    predicate: str | None = None,
    object: str | None = None,
    at: datetime | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[InvalidatedFacts]:
    """Close facts that no longer hold. Nothing is erased: a query as of an earlier time still finds them.

    Args:
        scope: Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default
            its mission, or else its agent, or else `shared`.
        mission_namespace: The mission whose scope it gets if `scope` is left out.
        agent_name: The agent that states it.
        user_id: The user it is about. A purge of the user erases it.
        id: The fact.
        subject: The entity whose facts to close, by any of its names.
        predicate: Only facts of this predicate.
        object: Only facts with this value.
        at: Since when it no longer holds, by default now. A time without an offset is UTC.
        source_kind: The kind of source that says so. Only users and agents close what users and agents
            stated. Default: `"agent"`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_namespace`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/kg/invalidate",
        answer=InvalidatedFacts,
        seconds=5.0,
        repeatable=True,
        body=fields(
            scope=scope,
            mission_namespace=mission_namespace,
            agent_name=agent_name,
            user_id=user_id,
            id=id,
            subject=subject,
            predicate=predicate,
            object=object,
            at=at,
            source_kind=source_kind,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_namespace"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def neighbours(
    *,
    entity: str,
    user_id: str | None = None,
    hops: int | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[Neighbours]:
    """What holds now of an entity, of the entities that these facts name, and so on, the nearest first.

    Args:
        entity: An entity, by any of its names.
        user_id: Facts about this user or no user.
        hops: How far to go.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/kg/neighbours",
        answer=Neighbours,
        seconds=2.0,
        repeatable=True,
        query={"entity": entity, "user_id": user_id, "hops": hops, "limit": limit},
        timeout=timeout,
    )


def predicates(
    *,
    user_id: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Predicates, PredicateCount]:
    """The predicates of facts that hold now, in alphabetical order.

    Args:
        user_id: Facts about this user or no user.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/kg/predicates",
        answer=Predicates,
        seconds=2.0,
        repeatable=True,
        query={"user_id": user_id, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def query(
    *,
    entity: str | None = None,
    predicate: str | None = None,
    at: datetime | None = None,
    known_at: datetime | None = None,
    every_time: bool | None = None,
    scopes: Sequence[str] | None = None,
    user_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    timeout: float | None = None,
) -> PagedCall[Facts, Fact]:
    """Query facts by entity, predicate and both times, the newest first.

    Args:
        entity: The subject or the object, by any of its names.
        predicate: Only facts of this predicate.
        at: Facts that held at this time. A time without an offset is UTC.
        known_at: As it was believed at this time.
        every_time: Also facts that hold no longer or not yet. Default: `false`.
        scopes: Facts of these scopes only.
        user_id: Facts about this user or no user.
        limit: At most this many items. Default: `100`.
        cursor: The `next` of the previous page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="POST",
        path="/api/kg/query",
        answer=Facts,
        seconds=2.0,
        repeatable=True,
        body=fields(
            entity=entity,
            predicate=predicate,
            at=at,
            known_at=known_at,
            every_time=every_time,
            scopes=scopes,
            user_id=user_id,
            limit=limit,
            cursor=cursor,
        ),
        timeout=timeout,
    )


def stats(
    *,
    user_id: str | None = None,
    timeout: float | None = None,
) -> Call[FactStats]:
    """How many facts there are, and of how many entities.

    Args:
        user_id: Facts about this user or no user.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/kg/stats",
        answer=FactStats,
        seconds=2.0,
        repeatable=True,
        query={"user_id": user_id},
        timeout=timeout,
    )


def timeline(
    *,
    entity: str,
    predicate: str | None = None,
    scopes: Sequence[str] | None = None,
    user_id: str | None = None,
    known_at: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Facts, Fact]:
    """The history of an entity: what held of it and when, the earliest first, also what holds no longer or
    not yet.

    Args:
        entity: An entity, by any of its names.
        predicate: Only facts of this predicate.
        scopes: Facts of these scopes only.
        user_id: Facts about this user or no user.
        known_at: As it was believed at this time. A time without an offset is UTC.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/kg/timeline",
        answer=Facts,
        seconds=2.0,
        repeatable=True,
        query={
            "entity": entity,
            "predicate": predicate,
            "scopes": scopes,
            "user_id": user_id,
            "known_at": known_at,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def write(
    *,
    subject: str,
    predicate: str,
    object: str,
    scope: str | None = None,
    mission_namespace: str | None = None,
    agent_name: str | None = None,
    user_id: str | None = None,
    confidence: float | None = None,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    recalled_from: int | str | None = None,
    dispatch_id: int | str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[WrittenFact]:
    """Write the only value of an attribute: the subject's other open values of the predicate are closed. A
    statement about the past holds until the next value begins. A source that is not trusted closes no
    value of one that is: it stands beside it as disputed.

    Args:
        scope: Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default
            its mission, or else its agent, or else `shared`.
        mission_namespace: The mission whose scope it gets if `scope` is left out.
        agent_name: The agent that states it.
        user_id: The user it is about. A purge of the user erases it.
        subject: What it is about.
        predicate: The attribute or the relation, such as `lives in`.
        object: The value, or the name of another entity.
        confidence: How certain it is. Default: `1.0`.
        valid_from: Since when it holds, by default now. A time without an offset is UTC.
        valid_to: When it ceased to hold, exclusive. By default it still holds.
        source_kind: The kind of source it is from. Only users and agents close what users and agents
            stated, and the key of an agent closes only what this agent stated. Default: `"agent"`.
        recalled_from: The assembly that led to it.
        dispatch_id: The dispatch it was learned in.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_namespace`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/kg/write",
        answer=WrittenFact,
        seconds=5.0,
        repeatable=True,
        body=fields(
            scope=scope,
            mission_namespace=mission_namespace,
            agent_name=agent_name,
            user_id=user_id,
            subject=subject,
            predicate=predicate,
            object=object,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            source_kind=source_kind,
            recalled_from=recalled_from,
            dispatch_id=dispatch_id,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_namespace"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def get(
    fact_id: int,
    *,
    timeout: float | None = None,
) -> Call[Fact]:
    """Get a fact as it is believed now, or was last.

    Args:
        fact_id: The id of a fact: the number of a handle `kg:<id>`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/kg/{fact_id}", fact_id=fact_id),
        answer=Fact,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )
