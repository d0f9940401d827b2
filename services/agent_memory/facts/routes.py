"""HTTP of facts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import Request, Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.agent_memory.facts.names import predicate_key
from services.agent_memory.facts.queries import Wanted
from services.agent_memory.facts.references import ReferenceReader
from services.agent_memory.facts.schemas import (
    AddFactInput,
    AddFactsInput,
    Fact,
    FactInput,
    Facts,
    InvalidatedFacts,
    InvalidateFactInput,
    QueryFactsInput,
    WrittenFact,
    WrittenFacts,
)
from services.agent_memory.facts.schemas_reading import (
    Aliases,
    AliasInput,
    FactStats,
    Neighbours,
    Predicates,
    References,
    ReferencesInput,
    RemoveAliasInput,
    RemovedAlias,
    WrittenAlias,
)
from services.agent_memory.facts.service import FactReader
from services.agent_memory.facts.writes.merging import AliasWriter
from services.agent_memory.facts.writes.service import FactWriter
from shared.errors import NotFound
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.provenance import utc
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems

MAX_ID = 2**63 - 1


@post("/write", operation_id="kg_write", opt=WRITE | KEYED, status_code=201)
async def write(
    request: Request[Any, Any, Any],
    data: JSONBody[FactInput],
    fact_writer: NamedDependency[FactWriter],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> WrittenFact:
    """Write the only value of an attribute: the subject's other open values of the predicate are closed.

    A statement about the past holds until the next value begins. A source that is not trusted closes no value of one
    that is: it stands beside it as disputed.
    """
    fact = AddFactInput(**msgspec.structs.asdict(data), single=True)
    written = await fact_writer.add(principal, [fact], await key_of(request), deadline)
    return written.results[0]


@post("/add", operation_id="kg_add", opt=WRITE | KEYED, status_code=201)
async def add(
    request: Request[Any, Any, Any],
    data: JSONBody[AddFactInput],
    fact_writer: NamedDependency[FactWriter],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> WrittenFact:
    """Add a fact beside the other values of its predicate. Stating it again changes nothing."""
    written = await fact_writer.add(principal, [data], await key_of(request), deadline)
    return written.results[0]


@post("/batch", operation_id="kg_batch", opt=WRITE | KEYED, status_code=201)
async def batch(
    request: Request[Any, Any, Any],
    data: JSONBody[AddFactsInput],
    fact_writer: NamedDependency[FactWriter],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> WrittenFacts:
    """Add up to 100 facts, all or none."""
    return await fact_writer.add(principal, data.facts, await key_of(request), deadline)


@post("/invalidate", operation_id="kg_invalidate", opt=WRITE | KEYED | problems(404), status_code=200)
async def invalidate(
    request: Request[Any, Any, Any],
    data: JSONBody[InvalidateFactInput],
    fact_writer: NamedDependency[FactWriter],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> InvalidatedFacts:
    """Close facts that no longer hold. Nothing is erased: a query as of an earlier time still finds them."""
    return await fact_writer.invalidate(principal, data, await key_of(request), deadline)


@post("/query", operation_id="kg_query", opt=READ | problems(403), status_code=200)
async def query(
    data: JSONBody[QueryFactsInput],
    fact_reader: NamedDependency[FactReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Facts:
    """Query facts by entity, predicate and both times, the newest first."""
    return await fact_reader.query(principal, data, deadline)


_Name = Annotated[str, Parameter(min_length=1, max_length=300, description="An entity, by any of its names.")]
_Predicate = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Only facts of this predicate.")
]
_User = Annotated[
    str | None,
    Parameter(min_length=1, max_length=200, description="Facts about this user or no user."),
]
_Scopes = Annotated[
    list[str] | None, Parameter(required=False, max_items=100, description="Facts of these scopes only.")
]
_KnownAt = Annotated[
    datetime | None,
    Parameter(description="As it was believed at this time. A time without an offset is UTC."),
]


@get("/timeline", operation_id="kg_timeline", opt=READ | problems(403))
async def timeline(
    entity: _Name,
    fact_reader: NamedDependency[FactReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    predicate: _Predicate = None,
    scopes: _Scopes = None,
    user_id: _User = None,
    known_at: _KnownAt = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Facts:
    """The history of an entity: what held of it and when, the earliest first, also what holds no longer or not yet."""
    wanted = Wanted(
        scopes=scopes,
        predicate_key=None if predicate is None else predicate_key(predicate),
        known_at=utc(known_at, "known_at"),
        every_time=True,
    )
    return await fact_reader.timeline(principal, entity, wanted, user_id, cursor, limit, deadline)


@get("/neighbours", operation_id="kg_neighbours", opt=READ | problems(403))
async def neighbours(
    entity: _Name,
    fact_reader: NamedDependency[FactReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    user_id: _User = None,
    hops: Annotated[int, Parameter(ge=1, le=4, description="How far to go.")] = 2,
    limit: Limit = DEFAULT_LIMIT,
) -> Neighbours:
    """What holds now of an entity, of the entities that these facts name, and so on, the nearest first."""
    return await fact_reader.neighbours(principal, entity, user_id, hops, limit, deadline)


@get("/predicates", operation_id="kg_predicates", opt=READ | problems(403))
async def predicates(
    fact_reader: NamedDependency[FactReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    user_id: _User = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Predicates:
    """The predicates of facts that hold now, in alphabetical order."""
    return await fact_reader.predicates(principal, user_id, cursor, limit, deadline)


@get("/stats", operation_id="kg_stats", opt=READ | problems(403))
async def stats(
    fact_reader: NamedDependency[FactReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    user_id: _User = None,
) -> FactStats:
    """How many facts there are, and of how many entities."""
    return await fact_reader.stats(principal, user_id, deadline)


@post("/aliases", operation_id="kg_add_alias", opt=WRITE | KEYED | problems(409), status_code=201)
async def add_alias(
    request: Request[Any, Any, Any],
    data: JSONBody[AliasInput],
    alias_writer: NamedDependency[AliasWriter],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> WrittenAlias:
    """Give an entity another name. What is known under both names is one entity's from then on.

    This holds in one scope. Answers 409 if the name belongs to another entity.
    """
    return await alias_writer.add(principal, data, await key_of(request), deadline)


@get("/aliases", operation_id="kg_aliases", opt=READ)
async def aliases(
    fact_reader: NamedDependency[FactReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    name: Annotated[
        str | None,
        Parameter(min_length=1, max_length=300, description="Only those of this name or leading to it."),
    ] = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Aliases:
    """List other names of entities, in alphabetical order."""
    return await fact_reader.aliases(principal, name, cursor, limit, deadline)


@post(
    "/aliases/remove", operation_id="kg_remove_alias", opt=WRITE | KEYED | problems(404, 409), status_code=200
)
async def remove_alias(
    request: Request[Any, Any, Any],
    data: JSONBody[RemoveAliasInput],
    alias_writer: NamedDependency[AliasWriter],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> RemovedAlias:
    """Take another name away from an entity. What was stated under the name is its own again.

    A fact that was stated under both names stays with the entity, and what later statements closed stays closed.
    """
    return await alias_writer.remove(principal, data, await key_of(request), deadline)


@get("/{fact_id:int}", operation_id="kg_get", opt=READ | problems(404))
async def get_fact(
    fact_id: FromPath[int],
    fact_reader: NamedDependency[FactReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Fact:
    """Get a fact as it is believed now, or was last."""
    if not 0 < fact_id <= MAX_ID:
        raise NotFound(f"no fact {fact_id}")
    return await fact_reader.get(principal, fact_id, deadline)


_HANDLERS: list[ControllerRouterHandler] = [
    write,
    add,
    batch,
    invalidate,
    query,
    timeline,
    neighbours,
    predicates,
    stats,
    add_alias,
    aliases,
    remove_alias,
    get_fact,
]


@post("/internal/references", opt=READ, status_code=200, include_in_schema=False)
async def internal_references(
    data: JSONBody[ReferencesInput],
    reference_reader: NamedDependency[ReferenceReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> References:
    """The scopes that scopes refer to, for questions about them."""
    for scope in data.scopes:
        principal.require_scope(scope)
    return await reference_reader.of(principal, data.scopes, data.as_of, deadline)


ROUTES: list[ControllerRouterHandler] = [
    Router("/api/kg", route_handlers=_HANDLERS, tags=["facts"]),
    internal_references,
]
