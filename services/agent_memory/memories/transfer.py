"""Exports memories as JSON Lines in pages, and imports them with their ids, as far as these were drawn here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import asyncpg
import msgspec

from services.agent_memory.memories import queries_transfer as queries
from services.agent_memory.memories.commits import queries as commits
from services.agent_memory.memories.commits.content import MemoryContent, require_mission, task_columns
from services.agent_memory.memories.commits.rows import Hashes, hashes, made
from services.agent_memory.memories.commits.rules import CommitRules
from services.agent_memory.memories.schemas import (
    Confirmation,
    TaskContext,
    task_context,
)
from services.agent_memory.memories.schemas_transfer import ExportedMemory, ImportResult
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.body import decode
from shared.concurrency.threads import beside
from shared.database import audit
from shared.database.audit import Deed
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import FieldError, Invalid, Unavailable
from shared.provenance import NOT_PAST, lies_ahead, utc
from shared.validation.values import MOST_ERRORS

MAX_LINES = 1_000
_TRIES = 5
NDJSON = "application/x-ndjson"

_DECODER = msgspec.json.Decoder(ExportedMemory)


def parse(body: bytes) -> list[ExportedMemory]:
    """Raises Invalid naming the lines and the fields."""
    lines: list[ExportedMemory] = []
    errors: list[FieldError] = []
    for number, line in enumerate(body.splitlines(), 1):
        if not line.strip():
            continue
        try:
            lines.append(decode(line, _DECODER))
            errors += [
                FieldError(field=f"line {number}.{time}", message=NOT_PAST) for time in _ahead(lines[-1])
            ]
        except Invalid as error:
            errors += [{**one, "field": f"line {number}.{one['field']}"} for one in error.errors or ()]
        if len(errors) >= MOST_ERRORS:
            break
    if errors:
        raise Invalid.of(errors[:MOST_ERRORS])
    if len(lines) > MAX_LINES:
        raise Invalid.field("body", f"at most {MAX_LINES} lines")
    if len({line.id for line in lines}) < len(lines):
        raise Invalid.field("body", "an id comes twice")
    return lines


def _ahead(line: ExportedMemory) -> Iterator[str]:
    """The times of a line that lie in the future."""
    times = [
        (name, getattr(line, name)) for name in ("occurred_at", "created_at", "updated_at", "confirmed_at")
    ]
    for place, confirmation in enumerate(line.confirmations):
        times += [(f"confirmations[{place}].first_at", confirmation.first_at)]
        times += [(f"confirmations[{place}].last_at", confirmation.last_at)]
    return (name for name, value in times if lies_ahead(value))


class MemoryTransfer:
    def __init__(self, database: Database, transactions: Transactions, rules: CommitRules) -> None:
        self._database = database
        self._transactions = transactions
        self._rules = rules

    async def export(
        self, principal: Principal, agent_name: str | None, after: int, limit: int, deadline: Deadline
    ) -> bytes:
        """A page as JSON Lines; of the key's agent where none is named, else of every agent."""
        agent = agent_name or principal.agent
        if agent is None:
            principal.require("admin")
        principal.require_agent(agent)

        async def work(c: Connection) -> list[ExportedMemory]:
            page = await export_page(c, principal, agent, after, limit)
            target = "tenant" if agent is None else f"agent:{agent}"
            exported = {"count": len(page), "after": after}
            await audit.record(c, principal, Deed(action="export", target=target, after=exported))
            return page

        lines = await self._database.transaction(principal.tenant, work, deadline)
        return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)

    async def restore(
        self, principal: Principal, lines: Sequence[ExportedMemory], key: Key | None, deadline: Deadline
    ) -> ImportResult:
        for line in lines:
            principal.require_agent(line.agent_name)
            principal.require_user(line.user_id)
            require_mission(principal, line.task_context)

        async def work(c: Connection) -> ImportResult:
            result = await restore_lines(c, self._rules, principal.tenant, lines)
            await audit.record(c, principal, _imported(lines, result))
            return result

        if key is not None:
            key = key.about(
                (line.agent_name for line in lines),
                (line.user_id for line in lines),
                (line.task_context.mission_namespace for line in lines if line.task_context is not None),
            )
        for _ in range(_TRIES):
            # An import for other agents may take one of the ids at the same time. The next try sees it.
            with suppress(asyncpg.UniqueViolationError):
                return await self._transactions.once(principal, "shared", ImportResult, work, key, deadline)
        raise Unavailable("postgres", "other imports take the same ids now")


def _imported(lines: Sequence[ExportedMemory], result: ImportResult) -> Deed:
    counts = {"imported": result.imported, "already_there": result.already_there}
    agents = {f"agent:{line.agent_name}" for line in lines}
    target = agents.pop() if len(agents) == 1 else "tenant"
    return Deed(action="import", target=target, after=counts)


async def export_page(
    c: Connection, principal: Principal, agent_name: str | None, after: int, limit: int
) -> list[ExportedMemory]:
    """Memories with ids above `after`, in order. Fewer than `limit` if more would not fit into one import."""
    rows = await queries.page(c, principal, agent_name, after, limit)
    confirmations = await queries.confirmations(c, principal, [row["id"] for row in rows])
    return [_line(row, confirmations.get(row["id"], [])) for row in rows]


def _line(row: asyncpg.Record, confirmations: list[Confirmation]) -> ExportedMemory:
    columns = {name: value for name, value in row.items() if name not in TaskContext.__struct_fields__}
    return ExportedMemory(**columns, task_context=task_context(row), confirmations=confirmations)


async def restore_lines(
    c: Connection, rules: CommitRules, tenant: str, lines: Sequence[ExportedMemory]
) -> ImportResult:
    """Skips facts that the agent already has, and gives a new id where the line's is taken or was never drawn here."""
    await commits.lock_agents(c, tenant, (line.agent_name for line in lines))
    own = await beside(sum(len(line.content) for line in lines), _hashes, lines)
    facts = [(line.agent_name, each.content) for line, each in zip(lines, own, strict=True)]
    known = await queries.ids_of_facts(
        c, tenant, [agent for agent, _ in facts], [hash_ for _, hash_ in facts]
    )
    new = [line for line, fact in zip(lines, facts, strict=True) if fact not in known]
    given = await _given_ids(c, tenant, new)
    added = Counter[str]()
    # In the order of their ids, so that two imports that want the same ones cannot deadlock.
    for line, fact, each in sorted(zip(lines, facts, own, strict=True), key=lambda one: one[0].id):
        if fact not in known:
            await _insert(c, rules, tenant, line, each, given)
            known[fact] = given[line.id]
            added[line.agent_name] += 1
    for agent, count in added.items():
        await commits.add_events(c, tenant, "memory_import", [commits.NewEvent(agent, {"count": count})])
    ids = given | {line.id: known[fact] for line, fact in zip(lines, facts, strict=True)}
    remapped = {old: id_ for old, id_ in ids.items() if old != id_}
    imported = added.total()
    return ImportResult(imported=imported, already_there=len(lines) - imported, remapped=remapped)


async def _given_ids(c: Connection, tenant: str, lines: Sequence[ExportedMemory]) -> dict[int, int]:
    """The id here of each memory in the lines, and of each that one of them absorbed."""
    own = [line.id for line in lines]
    absorbed = {again.absorbed_id for line in lines for again in line.confirmations} - {None, *own}
    highest = await queries.highest_drawn(c)
    taken = await queries.taken_ids(c, tenant, own)
    ids = [*own, *sorted(id_ for id_ in absorbed if id_ is not None)]
    new = [id_ for id_ in ids if not 0 < id_ <= highest or id_ in taken]
    drawn = dict(zip(new, await queries.draw(c, len(new)), strict=True))
    return {id_: drawn.get(id_, id_) for id_ in ids}


def _hashes(lines: Sequence[ExportedMemory]) -> list[Hashes]:
    return [hashes(line.content, line.user_id) for line in lines]


async def _insert(
    c: Connection,
    rules: CommitRules,
    tenant: str,
    line: ExportedMemory,
    own: Hashes,
    ids: Mapping[int, int],
) -> None:
    row, words = await made(
        tenant,
        line.agent_name,
        _stated(line),
        own,
        id=ids[line.id],
        pending=line.pending,
        access_count=min(line.access_count, queries.MOST_COUNTED),
        confirmed_count=min(line.confirmed_count, queries.MOST_COUNTED),
        confirmed_at=utc(line.confirmed_at, "confirmed_at"),
        created_at=utc(line.created_at, "created_at"),
        updated_at=utc(line.updated_at, "updated_at"),
    )
    await rules.restore(c, row, words)
    if line.confirmations:
        confirmations = [
            msgspec.structs.replace(again, absorbed_id=again.absorbed_id and ids[again.absorbed_id])
            for again in line.confirmations
        ]
        await queries.confirm_again(c, tenant, ids[line.id], confirmations)


def _stated(line: ExportedMemory) -> MemoryContent:
    """What the line states, as a claim: nobody here saw who said it."""
    claim = None if line.source_kind == "imported" else line.source_kind
    fields = (
        msgspec.structs.asdict(line)
        | {"occurred_at": utc(line.occurred_at), "source_kind": "imported", "source_claim": claim}
        | task_columns(line.task_context)
    )
    return MemoryContent(**{name: fields[name] for name in MemoryContent.__struct_fields__ if name in fields})
