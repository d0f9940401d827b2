"""CrewAI: what crews remember, as files of the vault. `pip install scrubjay[crewai]`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo
from crewai.memory.unified_memory import Memory
from crewai.memory.utils import join_scope_paths

from scrubjay.adapters.files import Files, label_of, step_of
from scrubjay.adapters.sending import Sender, Steps
from scrubjay.client import Agent, Client

_END = ".json"
# What a question may have. CrewAI asks with a task's whole prompt, which begins with what is to be done.
_MOST_LETTERS = 8_000


class ScrubjayMemory(Memory):
    """What crews of an agent, a mission or a user remember, or all that the tenant shares.

    It is kept as it was said, and found by words and meaning, without a model or an embedder of CrewAI's. With an `llm`
    of its own, that model takes the result of a task apart before it is kept.
    """

    def __init__(
        self,
        client: Client | Agent,
        *,
        agent: str | None = None,
        mission: str | None = None,
        user: str | None = None,
        folder: str = "crewai",
        **settings: Any,
    ) -> None:
        files = Files(folder, agent=agent, mission=mission, user=user)
        super().__init__(storage=ScrubjayStorage(client, files), embedder=_as_vectors, **settings)

    def extract_memories(self, content: str) -> list[str]:
        if "llm" in self.model_fields_set:
            extracted: list[str] = super().extract_memories(content)
            return extracted
        return [content] if content.strip() else []

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: Literal["shallow", "deep"] = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """One search, whatever the depth: a question is not rewritten."""
        matches: list[MemoryMatch] = super().recall(
            query, scope, categories, limit, "shallow", source, include_private
        )
        return matches

    def _encode_batch(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        records = [
            MemoryRecord(
                content=content,
                scope=join_scope_paths(root_scope, scope),
                categories=categories or [],
                metadata=metadata or {},
                importance=self.default_importance if importance is None else importance,
                source=source,
                private=private,
            )
            for content in contents
        ]
        self._storage.save(records)
        return records


class _Place(NamedTuple):
    """Where a record is: its path tells its scope, its time and its id."""

    path: str
    folder: str
    made: str
    id: str


class ScrubjayStorage:
    """A `StorageBackend`. The vector of a question is its text, as `ScrubjayMemory` gives it."""

    def __init__(self, client: Client | Agent, files: Files) -> None:
        self._sender, self._files = Sender(client), files

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> ScrubjayStorage:
        """Copies of a crew share it."""
        return self

    def save(self, records: list[MemoryRecord]) -> None:
        self._sender.run(self._files.write({_path(record): _text(record) for record in records}))

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """The most relevant first, of fifty that are found at most."""
        query = "".join(chr(int(number)) for number in query_embedding[:_MOST_LETTERS])
        found = self._sender.run(self._files.search(query, _folder(scope_prefix)))
        scores = {self._files.below(each.path): each.score for each in found if each.score >= min_score}
        records = self._read(list(scores))
        pairs = zip(records, scores.values(), strict=True)
        wanted = [
            (record, score)
            for record, score in pairs
            if record is not None and _is_of(record, categories, metadata_filter)
        ]
        return wanted[:limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Of what every criterion matches. Returns how many there were."""
        places = [
            place
            for place in self._places(scope_prefix)
            if (record_ids is None or place.id in record_ids)
            and (older_than is None or place.made < _made(older_than))
        ]
        paths = [place.path for place in places]
        if categories or metadata_filter:
            records = zip(paths, self._read(paths), strict=True)
            paths = [path for path, one in records if one and _is_of(one, categories, metadata_filter)]
        return sum(self._sender.run(self._files.remove(paths)))

    def update(self, record: MemoryRecord) -> None:
        """Written before what it replaces is removed: at no time is it gone."""
        path = _path(record)
        before = [place.path for place in self._places() if place.id == record.id and place.path != path]
        self._sender.run(self._files.write({path: _text(record)}))
        self._sender.run(self._files.remove(before))

    def get_record(self, record_id: str) -> MemoryRecord | None:
        paths = [place.path for place in self._places() if place.id == record_id]
        return next(iter(self._read(paths[:1])), None)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        if limit <= 0 or offset < 0:
            return []
        newest = sorted(self._places(scope_prefix), key=lambda place: place.made, reverse=True)
        records = self._read([place.path for place in newest[offset : offset + limit]])
        return [record for record in records if record is not None]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        places = self._places(scope)
        made = sorted(datetime.fromisoformat(place.made) for place in places)
        return ScopeInfo(
            path=_scope(_folder(scope)),
            record_count=len(places),
            categories=sorted(self.list_categories(scope)),
            oldest_record=made[0] if made else None,
            newest_record=made[-1] if made else None,
            child_scopes=_children(places, _folder(scope)),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        return _children(self._places(parent), _folder(parent))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        records = self._read([place.path for place in self._places(scope_prefix)])
        return dict(Counter(name for record in records if record for name in record.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        return len(self._places(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        self.save(records)

    async def asearch(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        return self.search(query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)

    async def adelete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        return self.delete(scope_prefix, categories, record_ids, older_than, metadata_filter)

    def _places(self, scope: str | None = None) -> list[_Place]:
        listed = self._sender.run(self._files.listed(_folder(scope)))
        return [_place(self._files.below(file.path)) for file in listed]

    def _read(self, paths: Sequence[str]) -> list[MemoryRecord | None]:
        steps: Steps[list[str | None]] = self._files.read(paths)
        texts = self._sender.run(steps) if paths else []
        return [None if text is None else MemoryRecord.model_validate_json(text) for text in texts]


def _as_vectors(texts: list[str]) -> list[list[float]]:
    """CrewAI hands a storage the vector of a question alone. Ours is found by its text."""
    return [[float(ord(letter)) for letter in text] for text in texts]


def _text(record: MemoryRecord) -> str:
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False, indent=1)


def _path(record: MemoryRecord) -> str:
    return f"{_folder(record.scope)}{_made(record.created_at)}-{step_of(record.id)}{_END}"


def _place(path: str) -> _Place:
    folder, _, name = path.rpartition("/")
    made, _, id_ = name.removesuffix(_END).partition("-")
    return _Place(path, f"{folder}/" if folder else "", made, label_of(id_))


def _made(at: datetime) -> str:
    """In order, without a character that parts names. CrewAI's times are of UTC, without saying so."""
    naive = at.astimezone(UTC).replace(tzinfo=None) if at.tzinfo else at
    return naive.isoformat(timespec="microseconds").replace("-", "").replace(":", "")


def _folder(scope: str | None) -> str:
    return "".join(f"{step_of(label)}/" for label in (scope or "").split("/") if label)


def _scope(folder: str) -> str:
    return "/" + "/".join(label_of(step) for step in folder.split("/") if step)


def _children(places: Sequence[_Place], folder: str) -> list[str]:
    """The scopes right below one."""
    below = {place.folder.removeprefix(folder).split("/")[0] for place in places if place.folder != folder}
    return sorted(_scope(f"{folder}{step}") for step in below)


def _is_of(record: MemoryRecord, categories: Sequence[str] | None, metadata: dict[str, Any] | None) -> bool:
    return (not categories or any(name in record.categories for name in categories)) and all(
        record.metadata.get(name) == value for name, value in (metadata or {}).items()
    )
