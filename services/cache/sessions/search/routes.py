"""HTTP of search over a session's objects."""

from __future__ import annotations

from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from litestar.types import ControllerRouterHandler

from services.cache.sessions.search.assembling import AssemblySearch
from services.cache.sessions.search.schemas import FoundObjects, NumberedAnswer, SearchObjectsInput
from services.cache.sessions.search.service import ObjectSearch
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, problems


@post("/{session_id:str}/search", operation_id="session_search", opt=READ | problems(404), status_code=200)
async def search(
    session_id: FromPath[str],
    data: JSONBody[SearchObjectsInput],
    object_search: NamedDependency[ObjectSearch],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> FoundObjects:
    """Search the objects of a session by words and by meaning, also those that its context no longer shows.

    An object that was admitted a moment ago is found by its words at once.
    """
    return await object_search.search(principal, session_id, data, deadline)


@get("/all/objects/{number:int}", operation_id="session_numbered_object", opt=READ | problems(404))
async def numbered(
    number: FromPath[int],
    assembly_search: NamedDependency[AssemblySearch],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> NumberedAnswer:
    """Get all of an object by the number in its handle, `object:<number>`. This is no fault: its fidelity stays."""
    return NumberedAnswer(await assembly_search.numbered(principal, number, deadline))


HANDLERS: list[ControllerRouterHandler] = [search, numbered]
