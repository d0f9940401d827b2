"""HTTP of semantic objects."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.cache.sessions.objects.admission import Admission
from services.cache.sessions.objects.paging import Paging
from services.cache.sessions.objects.reading import ObjectReader
from services.cache.sessions.objects.schemas import (
    AdmitInput,
    AdmittedObjects,
    FaultInput,
    ObjectAnswer,
    PinInput,
    Pressure,
    ReleaseInput,
    Restored,
    SessionContext,
    TurnEnded,
    TurnInput,
)
from services.cache.sessions.objects.turns import Turns
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems

_CHANGE = WRITE | KEYED | problems(404, 409)
_READ = READ | problems(404)
Shown = Annotated[
    int | None,
    Parameter(
        ge=0, le=3, description="How much of it `content` holds: 0 all, 1 and 2 its summaries, 3 one line."
    ),
]


@post("/{session_id:str}/objects", operation_id="session_admit", opt=_CHANGE, status_code=201)
async def admit(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    data: JSONBody[AdmitInput],
    admission: NamedDependency[Admission],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> AdmittedObjects:
    """Take something into a session's context: a file that was read, the result of a tool, a decision.

    The same content of the same source is only touched. Another content supersedes the older one, of which a line is
    left.
    """
    return await admission.admit(principal, session_id, data, await key_of(request), deadline)


@get("/{session_id:str}/objects/{object_id:uuid}", operation_id="session_object", opt=_READ)
async def semantic_object(
    session_id: FromPath[str],
    object_id: FromPath[UUID],
    object_reader: NamedDependency[ObjectReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    fidelity: Shown = None,
) -> ObjectAnswer:
    """Get an object as the context shows it, or as it would at another fidelity. A fault brings it back whole."""
    return ObjectAnswer(await object_reader.get(principal, session_id, object_id, fidelity, deadline))


@get("/{session_id:str}/context", operation_id="session_context", opt=_READ)
async def context(
    session_id: FromPath[str],
    object_reader: NamedDependency[ObjectReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> SessionContext:
    """The context of a session as one block. Between batches it only grows at its end, which keeps a prompt's cache."""
    return await object_reader.context(principal, session_id, deadline)


@get("/{session_id:str}/pressure", operation_id="session_pressure", opt=_READ)
async def pressure(
    session_id: FromPath[str],
    object_reader: NamedDependency[ObjectReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Pressure:
    """How much of its budget the context of a session takes, and how many objects have which fidelity."""
    return await object_reader.pressure(principal, session_id, deadline)


@post("/{session_id:str}/turns", operation_id="session_turn", opt=_CHANGE, status_code=200)
async def end_turn(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    data: JSONBody[TurnInput],
    turns: NamedDependency[Turns],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> TurnEnded:
    """End a turn. If its context takes too much of the budget, one batch makes the block anew.

    One call can also take in what the next turn begins with, and answer with its context.
    """
    return await turns.end(principal, session_id, data, await key_of(request), deadline)


@post(
    "/{session_id:str}/objects/{object_id:uuid}/fault",
    operation_id="session_fault",
    opt=_CHANGE,
    status_code=200,
)
async def fault(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    object_id: FromPath[UUID],
    data: JSONBody[FaultInput],
    paging: NamedDependency[Paging],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Restored:
    """Bring an object back whole, byte for byte, and pin it for a while. What it depends on comes up with it."""
    return await paging.fault(principal, session_id, object_id, data, await key_of(request), deadline)


@post(
    "/{session_id:str}/objects/{object_id:uuid}/pin",
    operation_id="session_pin",
    opt=_CHANGE,
    status_code=200,
)
async def pin(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    object_id: FromPath[UUID],
    data: JSONBody[PinInput],
    paging: NamedDependency[Paging],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> ObjectAnswer:
    """Keep an object as it is, except in an emergency."""
    key = await key_of(request)
    return ObjectAnswer(await paging.pin(principal, session_id, object_id, data, key, deadline))


@post(
    "/{session_id:str}/objects/{object_id:uuid}/unpin",
    operation_id="session_unpin",
    opt=_CHANGE,
    status_code=200,
)
async def unpin(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    object_id: FromPath[UUID],
    paging: NamedDependency[Paging],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> ObjectAnswer:
    """Let an object shrink again."""
    return ObjectAnswer(await paging.unpin(principal, session_id, object_id, await key_of(request), deadline))


@post(
    "/{session_id:str}/objects/{object_id:uuid}/release",
    operation_id="session_release",
    opt=_CHANGE,
    status_code=200,
)
async def release(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    object_id: FromPath[UUID],
    data: JSONBody[ReleaseInput],
    paging: NamedDependency[Paging],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> ObjectAnswer:
    """Say that an object is no longer needed. A line of it is left, and a fault brings it back."""
    key = await key_of(request)
    return ObjectAnswer(await paging.release(principal, session_id, object_id, data, key, deadline))


HANDLERS: list[ControllerRouterHandler] = [
    admit,
    semantic_object,
    context,
    pressure,
    end_turn,
    fault,
    pin,
    unpin,
    release,
]
