"""What a long-term memory states, and who may change it. Pure."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

import asyncpg
import msgspec

from services.agent_memory.chunk_words import ChunkWords, bodies_of
from services.agent_memory.long_term.schemas import EditMemoryInput, Kind, Status, WriteMemoryInput, misplaced
from shared.auth import Principal
from shared.embeddings import fact_key
from shared.errors import Conflict, Forbidden, Invalid
from shared.provenance import TRUSTED, Origin, SourceKind, date_words, head, utc
from shared.search import code
from shared.search.chunking import chunk
from shared.search.languages.detection import certain_language
from shared.search.lexicon import Hints, indexed
from shared.text import Language, Step
from shared.tokens import estimate_tokens_of

EVERYBODY = "shared"


class LongTermContent(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a memory that its writer states, or that the server stamps on the writing."""

    scope: str
    kind: Kind
    content: str
    agent_name: str | None = None
    user_id: str | None = None
    topics: list[str] = []
    tone: str | None = None
    ended_at: datetime | None = None
    owed_by: str | None = None
    owed_to: str | None = None
    due_at: datetime | None = None
    status: Status | None = None
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
    written_by: str
    source_kind: SourceKind = "agent"
    source_claim: SourceKind | None = None
    recalled_from: int | None = None
    paths: list[str] = []
    symbols: list[str] = []
    step: Step | None = None
    language: Language | None = None
    """None: it is detected."""
    origin: str | None = None


class LongTermRow(LongTermContent, frozen=True, kw_only=True):
    """A row of `memory.long_term`. The database sets the id of a new one."""

    tenant: str
    content_hash: str
    """In Postgres's hex format of a bytea."""
    token_count: int
    chunks: int
    id: int | None = None


def written(principal: Principal, memory: WriteMemoryInput) -> LongTermContent:
    """Raises Invalid for a memory that names no scope, no user and no agent."""
    origin = Origin.of(principal, memory.source_kind)
    scope = memory.scope or _default_scope(memory)
    kind, _, name = scope.partition(":")
    return LongTermContent(
        scope=scope,
        kind=memory.kind,
        content=memory.content,
        agent_name=memory.agent_name,
        user_id=name if kind == "user" else memory.user_id,
        topics=memory.topics,
        tone=memory.tone,
        ended_at=utc(memory.ended_at, "ended_at"),
        owed_by=memory.owed_by,
        owed_to=memory.owed_to,
        due_at=utc(memory.due_at, "due_at"),
        status="open" if memory.kind == "commitment" else None,
        occurred_at=utc(memory.occurred_at),
        session_id=memory.session_id,
        seq=memory.seq,
        speaker=memory.speaker,
        written_by=principal.key,
        source_kind=origin.kind,
        source_claim=origin.claim,
        recalled_from=memory.recalled_from,
        paths=memory.paths,
        symbols=memory.symbols,
        step=memory.step,
        language=memory.language or _tenants_language(principal, memory.content),
        origin=memory.origin,
    )


def _default_scope(memory: WriteMemoryInput) -> str:
    if memory.user_id is not None:
        return f"user:{memory.user_id}"
    if memory.agent_name is not None:
        return f"agent:{memory.agent_name}"
    raise Invalid.field("scope", "is required unless user_id or agent_name is given")


def _tenants_language(principal: Principal, content: str) -> Language | None:
    """The tenant's language, unless the content tells its own."""
    language = principal.language
    return None if language is None or certain_language(content) is not None else language


def require_own(principal: Principal, row: asyncpg.Record) -> None:
    """Raises Forbidden for a memory that the principal sees but may not change."""
    principal.require_author(row["agent_name"])
    if row["written_by"] != principal.key and principal.changes_only_its_own(row["scope"]):
        raise Forbidden("this key changes only memories of its own missions or users, or that it wrote")


def edited(principal: Principal, stored: LongTermContent, change: EditMemoryInput) -> LongTermContent:
    """The editor's key and source replace the stored ones only if the text changes. Raises Invalid, Conflict."""
    if wrong := list(misplaced(change, stored.kind)):
        raise Invalid.field(*wrong[0])
    names = ("topics", "tone", "owed_by", "owed_to", "status")
    changes = {name: value for name in names if (value := getattr(change, name)) is not None}
    changes |= {name: utc(value, name) for name in ("ended_at", "due_at") if (value := getattr(change, name))}
    if change.due_at is not None and change.status is None and stored.status == "expired":
        changes["status"] = "open"
    if change.content is not None and change.content != stored.content:
        changes |= _reworded(principal, stored, change, change.content)
    return msgspec.structs.replace(stored, **changes)


def _reworded(
    principal: Principal, stored: LongTermContent, change: EditMemoryInput, content: str
) -> dict[str, Any]:
    origin = Origin.of(principal, change.source_kind)
    if stored.source_kind in TRUSTED and origin.kind not in TRUSTED:
        raise Conflict(f"a {origin.kind}'s text does not replace what a {stored.source_kind} said")
    return {
        "content": content,
        "language": change.language or _tenants_language(principal, content),
        "written_by": principal.key,
        "source_kind": origin.kind,
        "source_claim": origin.claim,
    }


def row_of(tenant: str, memory: LongTermContent, memory_id: int | None = None) -> LongTermRow:
    stated = msgspec.structs.asdict(memory)
    texts = [value for name, value in stated.items() if name not in _UNCOUNTED]
    return LongTermRow(
        **stated,
        tenant=tenant,
        content_hash=f"\\x{_hash(memory).hex()}",
        token_count=estimate_tokens_of(texts),
        chunks=len(chunk(memory.content)),
        id=memory_id,
    )


# Fields with few fixed values, or that say where the memory is from.
_UNCOUNTED = frozenset(
    ["kind", "status", "language", "step", "source_kind", "source_claim", "written_by", "origin"]
)


def _hash(memory: LongTermContent) -> bytes:
    """Equal hashes are repeats: the same fact about the same user, at the same place of a session or the same time.

    What is imported is a repeat of what has the same origin, whatever became of its text.
    """
    if memory.origin is not None:
        return hashlib.sha256(msgspec.json.encode([memory.origin, memory.user_id])).digest()
    at = memory.due_at if memory.kind == "commitment" else memory.occurred_at
    place = (memory.session_id, memory.seq) if memory.seq is not None else (None, None)
    when = at.isoformat() if at is not None and memory.kind in ("episode", "commitment") else None
    parts = [fact_key(memory.content), memory.user_id, when, *place]
    return hashlib.sha256(msgspec.json.encode(parts)).digest()


def words_of(row: LongTermRow) -> ChunkWords:
    about_code = [*row.paths, *row.symbols]
    hints = Hints(terms=code.given(about_code), language=row.language)
    due = None if row.due_at is None else f"due {date_words(row.due_at.date())}"
    words = indexed(row.content, hints)
    return ChunkWords(
        **msgspec.structs.asdict(words),
        bodies=bodies_of(row.content, words),
        head=head(
            row.speaker or row.agent_name,
            row.occurred_at,
            None if row.kind == "knowledge" else row.kind,
            *row.topics,
            row.tone,
            row.owed_by,
            row.owed_to,
            due,
            *map(code.spaced, about_code),
            # Twice, so that the turns of who is named rank above those that mention the name.
            row.speaker,
        ),
    )
