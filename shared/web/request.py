"""What `Admission` notes about a request in the state of its ASGI scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from litestar import Request

from shared import deadline as deadlines
from shared.deadline import Deadline

REQUEST_ID = "x-request-id"


def request_id_of(scope: Any) -> str:
    return str(scope["state"]["request_id"])


def name_route(scope: Any, route: str) -> None:
    """Names the route for metrics when Litestar has no template for it, as for a mount."""
    scope["state"]["route"] = route


def when_ended(scope: Any, act: Callable[[], None]) -> None:
    """`act` is called once the request has been answered, or its client has gone."""
    scope["state"].setdefault("ended", []).append(act)


def deadline_of_route(request: Request[Any, Any, Any]) -> Deadline:
    opt = request.route_handler.opt
    return deadline_of(request.scope, reads=opt.get("access") == "read", seconds=opt.get("seconds"))


def longest_deadline(request: Request[Any, Any, Any]) -> Deadline:
    """Of a request that asks for what `may_take` longer."""
    return deadline_of(request.scope, reads=True, seconds=request.route_handler.opt["longest"])


def deadline_of(scope: Any, *, reads: bool, seconds: float | None = None) -> Deadline:
    """Reads get READ_SECONDS and writes WRITE_SECONDS, or else `seconds`, unless the caller asked for less."""
    default = seconds or (deadlines.READ_SECONDS if reads else deadlines.WRITE_SECONDS)
    state = scope["state"]
    return deadlines.from_header(state["timeout"], default, state["arrived"])
