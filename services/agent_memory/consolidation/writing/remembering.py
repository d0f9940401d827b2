"""Writes learned episodes and commitments. What the scope has already stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from services.agent_memory.chunk_words import ChunkWords
from services.agent_memory.consolidation.changes import Change, Kind
from services.agent_memory.consolidation.learned import Derived, LearnedCommitment, LearnedEpisode
from services.agent_memory.consolidation.writing.place import Writing, change
from services.agent_memory.long_term import queries_write
from services.agent_memory.long_term.content import LongTermContent, LongTermRow
from services.agent_memory.long_term.prepared import prepare
from shared.database.postgres import Connection

_MOST_TEXT, _MOST_NAME, _MOST_TOPICS, _MOST_TOPIC = 200_000, 200, 50, 100

E = TypeVar("E", bound=Derived)


class Memories:
    """Rows to write, with what they were learned from."""

    def __init__(
        self, kind: Kind, tenant: str, learned: Sequence[Derived], contents: list[LongTermContent]
    ) -> None:
        self._kind = kind
        self._tenant = tenant
        self._learned = learned
        self._contents = contents
        self._rows: list[LongTermRow] = []
        self._words: list[ChunkWords] = []

    async def prepare(self) -> None:
        """Makes the rows, and the words for search. Call it outside of a transaction."""
        self._rows, self._words = await prepare(self._tenant, self._contents)

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
    return Memories("episode", writing.tenant, learned, [_episode(writing, each) for each in learned])


def commitments(writing: Writing, learned: Sequence[LearnedCommitment]) -> Memories:
    return Memories("commitment", writing.tenant, learned, [_commitment(writing, each) for each in learned])


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
