"""HTTP of reviews."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import JSONBody, Parameter

from services.context.review.schemas import (
    DecisionInput,
    DecisionTaken,
    ReviewQueue,
    ReviewRule,
    ReviewRuleInput,
    ReviewRules,
)
from services.context.review.service import QueueFilter, Review
from shared.errors import Invalid
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.review.schemas import Reason
from shared.text import mission_problem
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN, READ, problems
from shared.web.request import request_id_of

_Kind = Annotated[Reason | None, Parameter(description="Only what stands there for this reason.")]
_Mission = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Only what is of this mission.")
]
_Agent = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Only what this agent wrote.")
]
_OfMission = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="The mission that the rule is for.")
]
_OfAgent = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="The agent that the rule is for.")
]
_QueueLimit = Annotated[int, Parameter(ge=1, le=100, description="The largest number of items in a page.")]


@get("/", operation_id="context_review", opt=READ | problems(403))
async def queue(
    request: Request[Any, Any, Any],
    review: NamedDependency[Review],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    kind: _Kind = None,
    mission: _Mission = None,
    agent: _Agent = None,
    cursor: CursorText = None,
    limit: _QueueLimit = 50,
) -> ReviewQueue:
    """List what a reviewer should look at: writes that wait, near duplicates, disputes, low trust, what was derived.

    A write that waits is shown to admin keys within their bounds, and to the key of the agent that wrote it.
    """
    wanted = QueueFilter(kind, _clean("mission", mission), _clean("agent", agent))
    return await review.queue(principal, wanted, cursor, limit, deadline, request_id_of(request.scope))


@post("/decide", operation_id="context_review_decide", opt=ADMIN | problems(404, 409, 422), status_code=200)
async def decide(
    request: Request[Any, Any, Any],
    review: NamedDependency[Review],
    data: JSONBody[DecisionInput],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> DecisionTaken:
    """Approve, merge, edit or forget an item of the queue. Deciding the same again answers the same.

    Another decision about what was decided already is 409. A key that is bound to an agent decides nothing.
    """
    return await review.decide(principal, data, deadline, request_id_of(request.scope))


@get("/rules", operation_id="context_review_rules", opt=ADMIN)
async def rules(
    review: NamedDependency[Review],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> ReviewRules:
    """List the missions and agents whose writes wait for a reviewer."""
    return await review.rules(principal, cursor, limit, deadline)


@put("/rules", operation_id="context_set_review_rule", opt=ADMIN | problems(404))
async def set_rule(
    review: NamedDependency[Review],
    data: JSONBody[ReviewRuleInput],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> ReviewRule:
    """Let the writes of a mission or of an agent wait for a reviewer, from now on.

    They are acknowledged and kept, but no search, list or block shows them before they are approved.
    """
    return await review.set_rule(principal, data, deadline)


@delete("/rules", operation_id="context_reset_review_rule", opt=ADMIN)
async def reset_rule(
    review: NamedDependency[Review],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    mission: _OfMission = None,
    agent: _OfAgent = None,
) -> None:
    """Let the writes of a mission or of an agent no longer wait. What waits already goes on waiting."""
    if (mission is None) == (agent is None):
        raise Invalid.field("mission", "exactly one of mission and agent is needed")
    if mission is not None and (problem := mission_problem(mission)) is not None:
        raise Invalid.field("mission", problem)
    given = ReviewRuleInput(mission_id=mission, agent_name=_clean("agent", agent))
    await review.reset_rule(principal, given, deadline)


def _clean(name: str, value: str | None) -> str | None:
    """Raises Invalid for what Postgres cannot compare with."""
    if value is not None and "\x00" in value:
        raise Invalid.field(name, "must not contain U+0000")
    return value


REVIEW = Router("/review", route_handlers=[queue, decide, rules, set_rule, reset_rule])
