"""Authenticates callers and checks their access to a route."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

from litestar import Request

from shared import identity
from shared.auth import Principal
from shared.errors import Unauthorized
from shared.identity import Verifier
from shared.spending.payer import Payer, pay
from shared.vocabulary import in_query
from shared.web.parameters import refuse_unknown

Authenticate = Callable[[Request[Any, Any, Any]], Awaitable[Principal]]
Screen = Callable[[Request[Any, Any, Any], Principal], Awaitable[bytes]]
"""Answers the body to decode in place of the request's own."""


BODY = "body"
"""Where the state of a request's scope holds what `screen` answered."""
_WITHOUT_BODY = ("GET", "HEAD")


def inward(verifier: Verifier) -> Authenticate:
    """For the owners: the context service alone can sign the header that names the principal."""

    async def authenticate(request: Request[Any, Any, Any]) -> Principal:
        return verifier.principal(request.headers.get(identity.HEADER, ""))

    return authenticate


def tenant_of(verifier: Verifier) -> Callable[[Mapping[bytes, bytes]], str]:
    """For the owners: the tenant that the identity header names, or else an empty name."""
    name = identity.HEADER.encode()

    def tenant(headers: Mapping[bytes, bytes]) -> str:
        try:
            return verifier.principal(headers.get(name, b"").decode("latin-1")).tenant
        except Unauthorized:
            return ""

    return tenant


def authorize(
    authenticate: Authenticate, screen: Screen | None = None
) -> Callable[[Request[Any, Any, Any]], Awaitable[None]]:
    """Litestar runs it before it reads the query and the body: a caller without access learns nothing about them.

    It refuses query parameters that the route does not know, which Litestar ignores.

    It is not one of Litestar's guards, because Litestar copies the handler for those in each request.
    """

    async def before_request(request: Request[Any, Any, Any]) -> None:
        access = request.route_handler.opt.get("access", "admin")
        if access != "public":
            principal = await authenticate(request)
            principal.require(access)
            request.scope["state"]["principal"] = principal
            pay(Payer(principal.tenant, principal.key, principal.agent, principal.mission))
        if request.scope["query_string"]:
            names = _parameters(request.route_handler.fn)
            request.scope["query_string"] = in_query(request.scope["query_string"], names)
            if access != "public":
                refuse_unknown(request)
        if screen is not None and access != "public" and request.method not in _WITHOUT_BODY:
            request.scope["state"][BODY] = await screen(request, request.scope["state"]["principal"])

    return before_request


@cache
def _parameters(handler: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(handler).parameters)
