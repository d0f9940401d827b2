"""Writes learned episodes and commitments. What the scope has already stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from services.agent_memory.chunk_words import ChunkWords
from services.agent_memory.consolidation.changes import Change, Kind
from services.agent_memory.consolidation.learned import Derived, LearnedCommitment, LearnedEpisode
from services.agent_memory.consolidation.writing.place import Writing, change
from services.agent_memory.long_term import queries_write
from services.agent_memory.long_term.content import LongTermContent, LongTermRow, row_of, words_of
from shared.concurrency.threads import beside
from shared.database.postgres import Connection

_MOST_TEXT, _MOST_NAME, _MOST_TOPICS, _MOST_TOPIC = 200_000, 200, 50, 100

E = TypeVar("E", bound=Derived)


class Memories:
    """Rows to write, with what they were learned from."""

    def __init__(self, kind: Kind, learned: Sequence[Derived], rows: list[LongTermRow]) -> None:
        self._kind = kind
        self._learned = learned
        self._rows = rows
        self._words: list[ChunkWords] = []

    async def prepare(self) -> None:
        """Finds the words for search. Call it outside of a transaction."""
        self._words = await beside(sum(len(row.content) for row in self._rows), words_of, self._rows)

    async def write(self, c: Connection, tenant: str, model: str) -> list[Change]:
        """Call it in a transaction."""
        if not self._rows:
            return []
        new = await queries_write.insert(c, tenant, self._rows, self._words, model)
        known = await queries_write.known(c, tenant, self._rows) if len(new) < len(self._rows) else new
        return [
            change(self._kind, "opened" if number in new else "confirmed", each, known.get(number))
            for number, each in enumerate(self._learned)
        ]


def episodes(writing: Writing, learned: Sequence[LearnedEpisode]) -> Memories:
    rows = [row_of(writing.tenant, _episode(writing, each)) for each in learned]
    return Memories("episode", learned, rows)


def commitments(writing: Writing, learned: Sequence[LearnedCommitment]) -> Memories:
    rows = [row_of(writing.tenant, _commitment(writing, each)) for each in learned]
    return Memories("commitment", learned, rows)


def _episode(writing: Writing, episode: LearnedEpisode) -> LongTermContent:
    """Its number in the session keeps it apart from an equal one of another time."""
    return _content(
        writing,
        episode,
        kind="episode",
        content=episode.content[:_MOST_TEXT],
        topics=[topic[:_MOST_TOPIC] for topic in episode.topics[:_MOST_TOPICS]],
        tone=_name(episode.tone),
        occurred_at=episode.began_at,
        ended_at=episode.ended_at,
        seq=max(episode.turns, default=None) if writing.source.session_id is not None else None,
    )


def _commitment(writing: Writing, promise: LearnedCommitment) -> LongTermContent:
    return _content(
        writing,
        promise,
        kind="commitment",
        content=promise.content[:_MOST_TEXT],
        owed_by=_name(promise.owed_by),
        owed_to=_name(promise.owed_to),
        due_at=promise.due_at,
        status="open",
        occurred_at=promise.said_at,
    )


def _name(name: str | None) -> str | None:
    return None if not name else name[:_MOST_NAME]


def _content(writing: Writing, of: Derived, **stated: Any) -> LongTermContent:
    return LongTermContent(
        scope=writing.place.scope,
        agent_name=writing.source.agent_name,
        user_id=writing.place.user_id,
        session_id=writing.source.session_id,
        written_by=writing.principal.key,
        source_kind="derived",
        source_claim=of.trust,
        **stated,
    )
