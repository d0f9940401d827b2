"""The HTTP channel. Each caller has a token of its own, which says who speaks."""

from __future__ import annotations

import asyncio
import hmac
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scrubjay.client import AsyncClient
from scrubjay.errors import ApiError, ScrubjayError
from scrubjay_agent.agent import Agent, FullError
from scrubjay_agent.journal.entries import Address, Received, digest
from scrubjay_agent.settings import Http, HttpToken, Settings, secret
from scrubjay_agent.turns.monitor import Monitor

_MOST_BYTES = 1_000_000
_PERIODS = ("today", "week", "all")
T = TypeVar("T")
Handler = Callable[[Request, "Caller"], Awaitable[Response]]


class ChatInput(msgspec.Struct, forbid_unknown_fields=True):
    message: Annotated[str, Meta(min_length=1, max_length=200_000)]
    conversation: Annotated[str, Meta(pattern=r"^[\w-]{1,60}\Z")] = "main"
    tier: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class ResetInput(msgspec.Struct, forbid_unknown_fields=True):
    """Exactly one of them."""

    session: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    all: bool = False


@dataclass(frozen=True)
class Caller:
    user: str
    token: str
    operator: bool


class ProblemError(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class HttpChannel:
    def __init__(
        self, settings: Settings, http: Http, jay: AsyncClient, agent: Agent, monitor: Monitor
    ) -> None:
        self._name, self._wait, self._model = settings.name, http.wait, settings.model.model
        self._silent = settings.silent
        self._jay, self._agent, self._monitor = jay, agent, monitor
        self._callers = [_caller(name, token) for name, token in http.tokens.items()]

    def app(self) -> Starlette:
        routes: list[tuple[str, str, Handler]] = [
            ("POST", "/api/v1/chat", self._chat),
            ("POST", "/api/v1/notify", self._notify),
            ("GET", "/api/v1/status", self._status),
            ("GET", "/api/v1/sessions", self._sessions),
            ("GET", "/api/v1/cost", self._cost),
            ("GET", "/api/v1/monitor", self._monitored),
            ("POST", "/api/v1/sessions/reset", self._reset),
            ("GET", "/api/v1/sessions/{id}/history", self._history),
        ]
        return Starlette(
            routes=[Route(path, self._guarded(handler), methods=[method]) for method, path, handler in routes]
        )

    def _guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            try:
                return await handler(request, self._who(request))
            except ProblemError as error:
                return _problem(error.status, error.detail)
            except FullError:
                return _problem(429, "too many of your messages have no answer yet")
            except ApiError as error:
                status = error.problem.status
                return _problem(status if status in (404, 409) else 503, error.problem.detail)
            except ScrubjayError:
                return _problem(503, "Scrubjay is away")

        return guarded

    def _who(self, request: Request) -> Caller:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        for caller in self._callers:
            if scheme.lower() == "bearer" and hmac.compare_digest(caller.token.encode(), given.encode()):
                return caller
        raise ProblemError(401, "a bearer token is needed")

    async def _chat(self, request: Request, caller: Caller) -> Response:
        given = await _body(request, ChatInput)
        name = _key(request)
        message = self._message(caller, given, name, "http")
        try:
            answer = await asyncio.wait_for(self._agent.answer_of(message), self._wait)
        except TimeoutError:
            body = {"status": "pending", "idempotency_key": name, "session": message.session}
            return _json(body, 202)
        silent = answer.strip() in self._silent
        return _json({"reply": answer, "silent": silent, "session": message.session, "idempotency_key": name})

    async def _notify(self, request: Request, caller: Caller) -> Response:
        given = await _body(request, ChatInput)
        name = _key(request)
        message = self._message(caller, given, name, "system")
        await self._agent.offer(message)
        return _json({"status": "accepted", "idempotency_key": name, "session": message.session}, 202)

    def _message(self, caller: Caller, given: ChatInput, name: str, source: Any) -> Received:
        """A key belongs to its caller and its message: another message under it is another one's."""
        return Received(
            key=f"{source}:{caller.user}:{digest(name, given.message, given.conversation)}",
            session=f"{self._name}.{source}.{caller.user}.{given.conversation}",
            user=caller.user,
            source=source,
            address=Address("http" if source == "http" else None, caller.user),
            text=given.message,
            at=datetime.now(UTC),
            tier=given.tier,
        )

    async def _status(self, _: Request, caller: Caller) -> Response:
        _require(caller)
        costs = await self._jay.costs(agent=self._name).page()
        return _json(
            {
                "status": "ok",
                "agent": self._name,
                "model": self._model,
                "uptime_seconds": round(self._monitor.uptime, 1),
                "answered": self._monitor.answered,
                "working": len(self._monitor.now()),
                "today_usd": costs.today.cost_usd,
            }
        )

    async def _sessions(self, _: Request, caller: Caller) -> Response:
        user = None if caller.operator else caller.user
        page = await self._jay.sessions.session_list(
            agent_name=self._name, user_id=user, status="active", limit=200
        ).page()
        return _json(
            [
                {
                    "id": one.external_id,
                    "user": one.user_id,
                    "events": one.last_seq,
                    "last_active_at": one.last_active_at,
                }
                for one in page.data
            ]
        )

    async def _cost(self, request: Request, caller: Caller) -> Response:
        _require(caller)
        period = request.query_params.get("period", "today")
        if period not in _PERIODS:
            raise ProblemError(400, f"period is one of {', '.join(_PERIODS)}")
        costs = await self._jay.costs(agent=self._name, by="model").page()
        groups = {str(group.name): getattr(group, period) for group in costs.data}
        return _json({"period": period, "total": getattr(costs, period), "models": groups})

    async def _monitored(self, _: Request, caller: Caller) -> Response:
        _require(caller)
        return _json({"model": self._model, "turns": self._monitor.now()})

    async def _reset(self, request: Request, caller: Caller) -> Response:
        given = await _body(request, ResetInput)
        if given.all == (given.session is not None):
            raise ProblemError(400, "give session, or all")
        if given.session is not None:
            await self._own(given.session, caller)
            await self._jay.sessions.session_reset(session_id=given.session)
            return _json({"sessions": 1})
        _require(caller)
        sessions = [
            one.external_id
            async for one in self._jay.sessions.session_list(agent_name=self._name, status="active")
            # The journal is no conversation.
            if one.user_id is not None
        ]
        for session in sessions:
            await self._jay.sessions.session_reset(session_id=session)
        return _json({"sessions": len(sessions)})

    async def _history(self, request: Request, caller: Caller) -> Response:
        session = request.path_params["id"]
        await self._own(session, caller)
        full = request.query_params.get("full") == "true"
        page = await self._jay.sessions.session_history(
            session, full=full, cursor=request.query_params.get("cursor"), limit=200
        ).page()
        return _json({"events": page.data, "next": page.next})

    async def _own(self, session: str, caller: Caller) -> None:
        """Raises ProblemError: what is not the caller's is not there."""
        stands = (await self._jay.sessions.session_get(session)).data
        mine = stands.agent_name == self._name and stands.user_id is not None
        if not mine or not (caller.operator or stands.user_id == caller.user):
            raise ProblemError(404, "there is no such session")


def _caller(name: str, token: HttpToken) -> Caller:
    return Caller(name, secret(token.env), token.operator)


def _require(caller: Caller) -> None:
    if not caller.operator:
        raise ProblemError(403, "this needs an operator's token")


def _key(request: Request) -> str:
    return request.headers.get("idempotency-key") or uuid.uuid4().hex


async def _body(request: Request, kind: type[T]) -> T:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BYTES:
            raise ProblemError(413, f"a body has at most {_MOST_BYTES} bytes")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError as error:
        raise ProblemError(400, str(error)) from error


def _json(content: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def _problem(status: int, detail: str) -> Response:
    body = {"type": "about:blank", "title": detail, "status": status, "detail": detail}
    headers = {"www-authenticate": "Bearer"} if status == 401 else {}
    return Response(msgspec.json.encode(body), status, headers, "application/problem+json")
