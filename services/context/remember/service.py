"""Writes each piece of what was said to the owner of its store, once, and reports where it went."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from services.context import stores
from services.context.forwarding.owners import Owner, outdated
from services.context.remember.copies import keep, to_copy
from services.context.remember.routing import Piece, Place, pieces, route
from services.context.remember.schemas import Kept, KeptStatus, RememberInput, RememberResult, Store
from services.context.remember.stating import ToState, state, to_state
from services.context.remember.turns import Turn, taken, turn_of
from shared.auth import Principal
from shared.concurrency import clock
from shared.database.idempotency import Key, Records
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError, Invalid, PassedOn, TooMany, Unavailable
from shared.telemetry import tracing

_STORES: tuple[Store, ...] = ("psychic_cache", "agent_memory")
_STORED = ("created", "updated", "pending")
# The most entries or memories that an owner takes in a write, and turns in a query.
_BATCH = 100
_TURNS = 1_000
# The share of the time left that owners do not get, so that we can report what one stored when the other is late.
_KEPT_SHARE = 0.1


class _Plan(msgspec.Struct):
    """What a retry of an incomplete request repeats, even if the settings have changed in between."""

    ttl_hours: float


class _Asked(NamedTuple):
    principal: Principal
    request: RememberInput
    plan: _Plan
    key: Key | None
    deadline: Deadline
    request_id: str


class _Item(NamedTuple):
    """A piece to store. `at` is the index of its line in the answer."""

    at: int
    piece: Piece
    place: Place


class _Written(NamedTuple):
    id: int
    handle: str
    status: KeptStatus
    expires_at: datetime | None = None
    """None: its agent keeps it until it is forgotten."""
    why: str | None = None
    """Replaces the rule that chose the place."""


_Outcome = _Written | AppError


class Remember:
    def __init__(
        self, database: Database, records: Records, owners: Mapping[str, Owner], ttl_hours: float
    ) -> None:
        """`ttl_hours` is how long missions keep what does not say it."""
        self._ttl_hours = ttl_hours
        self._database = database
        self._records = records
        self._owners = owners

    @tracing.memory("upsert_memory", "context")
    async def remember(
        self,
        principal: Principal,
        request: RememberInput,
        key: Key | None,
        deadline: Deadline,
        request_id: str,
    ) -> RememberResult:
        """Raises Unavailable, with what was `stored`, when an owner did not answer. A retry with the same key stores
        the rest. Raises the owner's refusal when everything was refused."""
        _check(principal, request)
        plan = _Plan(request.ttl_hours or self._ttl_hours)
        if key is not None:
            begun = await self._begin(principal, request, key, plan, deadline)
            if isinstance(begun, RememberResult):
                return begun
            plan = begun
        asked = _Asked(
            principal, request, plan, key, deadline.shorter(deadline.left() * _KEPT_SHARE), request_id
        )
        lines, items, facts = await asyncio.to_thread(_plan, request)
        copies = to_copy(request, [(item.at, item.piece) for item in items], clock.now())
        groups = [[item for item in items if item.place.store == store] for store in _STORES]
        memory = self._owners["agent_memory"]
        copied, stated, outcomes = await asyncio.gather(
            keep(memory, principal, request, copies, asked.deadline, request_id),
            state(memory, principal, request, facts, asked.deadline, request_id),
            asyncio.gather(*map(self._write, [asked] * len(_STORES), _STORES, groups)),
        )
        failed: list[AppError] = []
        for group, written in zip(groups, outcomes, strict=True):
            for item, outcome in zip(group, written, strict=True):
                lines[item.at] = _line(item, outcome)
                failed += [outcome] if isinstance(outcome, AppError) else []
        for at, copy in copied.items():
            lines[at].also = copy
        for at, facts_of_line in stated.items():
            lines[at].facts = facts_of_line
        stored = [line for line in lines if line.status in _STORED]
        _raise_for(failed, stored, len(items))
        answer = RememberResult(lines, len(stored))
        if key is not None:
            await self._database.run(
                principal.tenant,
                lambda c: self._records.complete(c, principal.tenant, key, answer, 200),
                deadline,
            )
        return answer

    async def _begin(
        self, principal: Principal, request: RememberInput, key: Key, plan: _Plan, deadline: Deadline
    ) -> RememberResult | _Plan:
        mission = request.mission_namespace
        scope = f"agent:{request.caller}" if mission is None else f"mission:{mission}"
        about = key.about([request.caller], [request.user_id])
        return await self._database.run(
            principal.tenant,
            lambda c: self._records.begin(c, principal.tenant, scope, about, RememberResult, plan),
            deadline,
        )

    async def _write(self, asked: _Asked, store: Store, items: Sequence[_Item]) -> list[_Outcome]:
        """The outcome of each item. A failure is returned, not raised, so that other items are still written."""
        try:
            stored = await self._stored_turns(asked, items) if store == "psychic_cache" else {}
        except AppError as error:
            return [error] * len(items)
        outcomes: list[_Outcome] = []
        known = [taken(stored, turn_of(item.piece)) for item in items]
        new = [item for item, entry in zip(items, known, strict=True) if entry is None]
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            try:
                if store == "psychic_cache":
                    outcomes += await self._write_entries(asked, batch)
                else:
                    outcomes += await self._write_memories(asked, batch)
            except AppError as error:
                outcomes += [error] * len(batch)
        written = iter(outcomes)
        return [entry or next(written) for entry in known]

    async def _stored_turns(self, asked: _Asked, items: Sequence[_Item]) -> dict[Turn, list[_Written]]:
        """The session's turns that the mission already has: callers tend to send the whole conversation each time."""
        if asked.request.session_id is None:
            return {}
        turns = list(dict.fromkeys(turn for item in items if (turn := turn_of(item.piece)) is not None))
        batches = [turns[start : start + _TURNS] for start in range(0, len(turns), _TURNS)]
        answers = await asyncio.gather(*(self._turns_in_cache(asked, batch) for batch in batches))
        entries: dict[Turn, list[_Written]] = {}
        for stored in (turn for answer in answers for turn in answer["turns"]):
            turn = Turn(stored["speaker"], stored["seq"], stored["content_sha256"])
            entries.setdefault(turn, []).append(_stored(stored))
        return entries

    async def _turns_in_cache(self, asked: _Asked, turns: Sequence[Turn]) -> Any:
        body = {
            "mission_id": asked.request.mission_namespace,
            "session_id": asked.request.session_id,
            "user_id": asked.request.user_id,
            "turns": [turn._asdict() for turn in turns],
        }
        return await self._owners["cache"].ask(
            "POST",
            "/internal/turns",
            asked.principal,
            asked.deadline,
            asked.request_id,
            body=msgspec.json.encode(body),
        )

    async def _write_entries(self, asked: _Asked, batch: Sequence[_Item]) -> list[_Outcome]:
        body = {"entries": [_entry(asked.request, item, asked.plan.ttl_hours) for item in batch]}
        answer = await self._post("cache", "/api/psychic-cache/write/batch", asked, body)
        return [_entry_outcome(entry) for entry in answer["data"]["entries"]]

    async def _write_memories(self, asked: _Asked, batch: Sequence[_Item]) -> list[_Outcome]:
        body = {"memories": [_memory(asked.request, item) for item in batch]}
        answer = await self._post("agent_memory", "/api/agent-memory/batch", asked, body)
        return [
            _Written(result["memory_id"], stores.OWN.handle(result["memory_id"]), result["status"])
            for result in answer["results"]
        ]

    async def _post(self, owner: str, path: str, asked: _Asked, body: Any) -> Any:
        encoded = msgspec.json.encode(body)
        return await self._owners[owner].ask(
            "POST",
            path,
            asked.principal,
            asked.deadline,
            asked.request_id,
            body=encoded,
            key=_key_of(asked.key, owner, encoded),
        )


def _check(principal: Principal, request: RememberInput) -> None:
    """Runs before anything is stored. Raises Forbidden, Invalid."""
    if request.ttl_hours is not None and request.mission_namespace is None:
        raise Invalid.field("ttl_hours", "needs a mission: agents keep memories until they are forgotten")
    principal.require_agent(request.caller)
    if request.mission_namespace is not None:
        principal.require_mission(request.mission_namespace)
    principal.require_user(request.user_id)


def _plan(request: RememberInput) -> tuple[list[Kept], list[_Item], list[ToState]]:
    """A line of the answer for every piece, the pieces to store, their facts. A message's pieces go to one place."""
    lines: list[Kept] = []
    items: list[_Item] = []
    places: dict[int, Place] = {}
    older = stores.source_of(request.supersedes or "")
    for piece, reason in pieces(request):
        if reason is not None:
            lines.append(_skipped(piece, reason))
            continue
        place = places.get(piece.item) or route(
            piece.text,
            piece.source_kind,
            piece.speaker,
            request.caller,
            request.mission_namespace is not None and older is not stores.OWN,
            temporary=request.ttl_hours is not None or older is stores.CACHE,
        )
        places[piece.item] = place
        lines.append(_skipped(piece, place.why))
        if place.store is not None:
            items.append(_Item(len(lines) - 1, piece, place))
    return lines, items, to_state(request, [(item.at, item.piece) for item in items])


def _skipped(piece: Piece, why: str) -> Kept:
    return Kept(item=piece.item, piece=piece.number, status="skipped", why=why, expires_at=None)


def _line(item: _Item, outcome: _Outcome) -> Kept:
    line = Kept(
        item=item.piece.item,
        piece=item.piece.number,
        status="refused",
        why=item.place.why,
        expires_at=None,
        store=item.place.store,
        kind=item.place.kind,
    )
    if isinstance(outcome, AppError):
        line.why = outcome.detail
    else:
        line.id, line.handle, line.status = outcome.id, outcome.handle, outcome.status
        line.review = "pending" if outcome.id < 0 else None
        line.why = outcome.why or line.why
        line.expires_at = outcome.expires_at
    return line


def _raise_for(failed: Sequence[AppError], stored: Sequence[Kept], count: int) -> None:
    away = next((error for error in failed if not isinstance(error, PassedOn)), None)
    if away is not None:
        away.extra["stored"] = msgspec.to_builtins(stored)
        raise away
    if failed and len(failed) == count:
        raise failed[0]


def _common(request: RememberInput, piece: Piece) -> dict[str, Any]:
    fields = {
        **request.of_each_item(),
        "content": piece.text,
        "agent_name": request.caller,
        "source_kind": piece.source_kind,
        "speaker": piece.speaker,
        "occurred_at": piece.occurred_at,
        "seq": piece.seq,
        "paths": piece.about.paths,
        "symbols": piece.about.symbols,
        "step": piece.about.step,
        "supersedes": request.supersedes and int(request.supersedes.partition(":")[2]),
    }
    return {name: value for name, value in fields.items() if value not in (None, [])}


def _entry(request: RememberInput, item: _Item, ttl_hours: float) -> dict[str, Any]:
    return {
        **_common(request, item.piece),
        "ttl_hours": ttl_hours,
        "context_type": item.place.kind,
        "mission_id": request.mission_namespace,
        **item.place.fields,
    }


def _memory(request: RememberInput, item: _Item) -> dict[str, Any]:
    # Other agents must not see what was said about a user outside a mission.
    private = request.user_id is not None and request.mission_namespace is None
    return {**_common(request, item.piece), "memory_type": item.place.kind, "private": private}


def _entry_outcome(entry: Mapping[str, Any]) -> _Outcome:
    if entry.get("data") is not None:
        data = entry["data"]
        return _Written(
            data["id"], stores.CACHE.handle(data["id"]), "created", datetime.fromisoformat(data["expires_at"])
        )
    status, problem = int(entry["status"]), entry["error"]
    if status == 429:
        return TooMany(problem["detail"], retry_after=1.0)
    away = status >= 500 or outdated(problem)
    return Unavailable("cache", problem["detail"]) if away else PassedOn(status, problem)


def _stored(turn: Mapping[str, Any]) -> _Written:
    return _Written(
        turn["id"],
        stores.CACHE.handle(turn["id"]),
        "skipped",
        datetime.fromisoformat(turn["expires_at"]),
        "the mission has it of this session already",
    )


def _key_of(key: Key | None, owner: str, body: bytes) -> str | None:
    """An owner's key for a batch: the same on every retry that has the same items left to write."""
    if key is None:
        return None
    parts = (key.value.encode(), owner.encode(), body)
    return "remember-" + hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
