"""HTTP of histories."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath, Parameter
from litestar.types import ControllerRouterHandler

from services.cache.sessions.histories.schemas import Admissions, Faults, ListedObjects, Transitions
from services.cache.sessions.histories.service import ADMISSIONS, FAULTS, OBJECTS, TRANSITIONS, Histories
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, problems

_READ = READ | problems(404)
OfObject = Annotated[UUID | None, Parameter(description="Only of this object.")]


@get("/{session_id:str}/faults", operation_id="session_faults", opt=_READ)
async def faults(
    session_id: FromPath[str],
    histories: NamedDependency[Histories],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    object_id: OfObject = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Faults:
    """List what was brought back and what was asked, in order."""
    return await histories.page(FAULTS, principal, session_id, object_id, cursor, limit, deadline)


@get("/{session_id:str}/transitions", operation_id="session_transitions", opt=_READ)
async def transitions(
    session_id: FromPath[str],
    histories: NamedDependency[Histories],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    object_id: OfObject = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Transitions:
    """List the changes of fidelity, in order: what shrank or came back, when, and why."""
    return await histories.page(TRANSITIONS, principal, session_id, object_id, cursor, limit, deadline)


@get("/{session_id:str}/admissions", operation_id="session_admissions", opt=_READ)
async def admissions(
    session_id: FromPath[str],
    histories: NamedDependency[Histories],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    object_id: OfObject = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Admissions:
    """List what was admitted or rejected, in order, with the parts of each score."""
    return await histories.page(ADMISSIONS, principal, session_id, object_id, cursor, limit, deadline)


@get("/{session_id:str}/objects", operation_id="session_objects", opt=_READ)
async def objects(
    session_id: FromPath[str],
    histories: NamedDependency[Histories],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> ListedObjects:
    """List a session's objects in the order in which they came, evicted ones too, without their texts."""
    return await histories.page(OBJECTS, principal, session_id, None, cursor, limit, deadline)


HANDLERS: list[ControllerRouterHandler] = [faults, transitions, admissions, objects]
