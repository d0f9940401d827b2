"""HTTP of relationships."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from litestar import Request, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.cache.sessions.relationships.schemas import (
    Related,
    RelateInput,
    Relation,
    Relationships,
    Unrelated,
)
from services.cache.sessions.relationships.service import RelationshipService
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems


@post(
    "/{session_id:str}/relationships",
    operation_id="session_relate",
    opt=WRITE | KEYED | problems(404, 409),
    status_code=200,
)
async def relate(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    data: JSONBody[RelateInput],
    relationships: NamedDependency[RelationshipService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Related:
    """Say what an object has to do with another. What it depends on comes up with it, when it is brought back."""
    return await relationships.relate(principal, session_id, data, await key_of(request), deadline)


@get("/{session_id:str}/relationships", operation_id="session_relationships", opt=READ | problems(404))
async def list_relationships(
    session_id: FromPath[str],
    relationships: NamedDependency[RelationshipService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    relationship: Annotated[Relation | None, Parameter(description="Only of this kind.")] = None,
    object_id: Annotated[UUID | None, Parameter(description="Only those of this object.")] = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Relationships:
    """List the relationships between the objects of a session, the earliest first."""
    return await relationships.list_relationships(
        principal,
        session_id,
        deadline,
        relationship=relationship,
        object_id=object_id,
        cursor=cursor,
        limit=limit,
    )


@delete(
    "/{session_id:str}/relationships/{relationship_id:uuid}",
    operation_id="session_unrelate",
    opt=WRITE | problems(404, 409),
    status_code=200,
)
async def unrelate(
    session_id: FromPath[str],
    relationship_id: FromPath[UUID],
    relationships: NamedDependency[RelationshipService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Unrelated:
    """Take a relationship back. Its objects stay."""
    return await relationships.remove(principal, session_id, relationship_id, deadline)


HANDLERS: list[ControllerRouterHandler] = [relate, list_relationships, unrelate]
