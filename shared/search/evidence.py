"""What a store answers to a search: candidates with raw evidence that is comparable across stores.

A store reports no score of its own: the best match of an irrelevant store would look like that of a relevant one.
It reports the evidence: the cosine, and for each word of the question how much of it the text holds and how rare it
is. `shared.search.relevance` turns the evidence of all stores into one relevance.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, field
from numpy.typing import NDArray

from shared.body import Body
from shared.embeddings import DIM
from shared.errors import Invalid
from shared.provenance import author, doubt
from shared.text import Language, Name, Query

# Candidates per arm. It is deep because neighbouring turns smooth each other only when both are candidates.
DEPTH = 50
# The kind that a header leaves out: the store's name in the handle says as much.
_PLAIN = "knowledge"


class Candidate(msgspec.Struct, omit_defaults=True):
    """One chunk of an item. `places` are the question's lexemes (from 1) that it contains, `tf` their weights."""

    id: int
    scope: str
    kind: str
    text: str
    created_at: datetime
    chunk: int = 0
    chunks: int = 1
    words: int = 1
    cosine: float | None = None
    places: list[int] = []
    tf: list[float] = []
    agent: str | None = None
    speaker: str | None = None
    session_id: str | None = None
    seq: int | None = None
    occurred_at: datetime | None = None
    confirmed_at: datetime | None = None
    """When a memory was last stated again."""
    confidence: float | None = None
    """Of what was kept for a user, as of when it was last stated. It counts in place of the age."""
    user_id: str | None = None
    source_kind: str = "agent"
    source_claim: str | None = None
    superseded_by: int | None = None
    """The newer item of the same store that supersedes it, as its writer stated."""
    labels: list[str] = []
    """What its header in a block says besides its kind, its source and its author."""
    names: list[str] = []
    """The paths and symbols that its writer says it is about."""
    step: str | None = None
    """Which kind of step it records, as its writer stated or else as its text shows."""
    step_is_stated: bool = False
    composite: dict[str, float] | None = None

    @property
    def time(self) -> datetime:
        """When it happened, or else when it was recorded."""
        return self.occurred_at or self.created_at

    @property
    def stated_at(self) -> datetime:
        """When it was last stated."""
        return self.time if self.confirmed_at is None else max(self.time, self.confirmed_at)

    @property
    def header(self) -> list[str]:
        """What stands in a block between its time and its text."""
        kind = None if self.kind == _PLAIN else self.kind
        words = [kind, doubt(self.source_kind, self.source_claim), author(self.agent, self.speaker)]
        return [*filter(None, words), *self.labels]

    @property
    def scopes(self) -> list[str]:
        """Whatever uses the candidate is purged with any of these scopes, and readable only to keys that read all."""
        return [self.scope] if self.user_id is None else [self.scope, f"user:{self.user_id}"]


class StoreResult(msgspec.Struct, omit_defaults=True):
    """`documents` is the number of chunks searched; `df[i]` of them contain lexeme i."""

    documents: int
    df: list[int]
    candidates: list[Candidate]
    items: dict[str, int] | None = None
    """How many the store holds of each scope, about."""
    background: list[Candidate] = []
    """Whole items, found or not: all that the scope holds, where the request asks for it and it is little."""

    @classmethod
    def of_nothing(cls, scopes: Iterable[str]) -> StoreResult:
        return cls(documents=0, df=[], candidates=[], items=dict.fromkeys(scopes, 0))


GRAPH = "graph"
"""Stands among the stores of a request that asks for facts of the question's entities."""


NEAR = "near:"
"""Begins the name of a store in a request that asks for it a second time, in other scopes, and in its answer."""


class Triple(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A fact of an entity that the question names."""

    id: int
    scope: str
    subject: str
    predicate: str
    object: str
    valid_from: datetime
    valid_to: datetime | None = None
    user_id: str | None = None
    agent_name: str | None = None
    source_kind: str = "agent"
    source_claim: str | None = None
    disputed: bool = False
    overlap: float = 0.0
    """The share of the question's words that it holds."""
    weight: float = 1.0
    """What is left of it, as nobody has stated it again for long."""
    half_life_days: float | None = None
    stated_at: datetime | None = None
    confirmations: int = 0

    @property
    def scopes(self) -> list[str]:
        """As of a candidate."""
        return [self.scope] if self.user_id is None else [self.scope, f"user:{self.user_id}"]


class SearchResult(msgspec.Struct, omit_defaults=True):
    lexemes: list[str]
    stores: dict[str, StoreResult]
    graph: list[Triple] | None = None
    """None: nobody asked, or the owner does not know of facts yet."""


class SearchRequest(Body, kw_only=True):
    """One internal call searches several stores of an owner. `vector` is base64 of 512 float32 numbers, or absent.

    `likely` are the languages of a query that does not tell its own; by default, the tenant's.
    `as_of` limits the search to items recorded by then, though a few later ones may slip in. `user_id` excludes
    items about other users. `background` asks for all that the agent's own memory holds, if that is little, within so
    many tokens. `whole` asks also for what the context of a session shows whole.
    """

    query: Query
    stores: dict[str, list[str]]
    agent: Name | None = None
    user_id: Name | None = None
    language: Language | None = None
    likely: Annotated[list[Language], Meta(max_length=10)] = field(default_factory=list)
    vector: str | None = None
    model: str = ""
    as_of: datetime | None = None
    depth: Annotated[int, Meta(ge=1, le=1_000)] = DEPTH
    background: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    whole: bool = False


def encode_vector(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def decode_vector(text: str) -> NDArray[np.float32]:
    try:
        vector = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4")
    except ValueError as error:
        raise Invalid.field("vector", "must be base64 of float32 numbers") from error
    if vector.shape != (DIM,) or not np.isfinite(vector).all():
        raise Invalid.field("vector", f"must hold {DIM} finite numbers")
    return vector


def store_result(store: str, rows: Sequence[Any], candidate: Callable[[Any], Candidate]) -> SearchResult:
    """From the rows of a store's search statement. When nothing was found, it has one row without an item."""
    first = rows[0]
    lexemes = first["lexemes"] or []
    found = [] if first["item_id"] is None else rows
    return SearchResult(
        lexemes=lexemes,
        stores={
            store: StoreResult(
                documents=first["documents"],
                df=(first["df"] or []) if lexemes else [],
                candidates=[candidate(row) for row in found],
            )
        },
    )


def together(results: Sequence[SearchResult]) -> SearchResult:
    """Merges the results of several stores for one question: where there are lexemes, they are the same."""
    stores = {name: store for result in results for name, store in result.stores.items()}
    return SearchResult(lexemes=next((each.lexemes for each in results if each.lexemes), []), stores=stores)


def candidate_from_row(row: Any, text: str, **more: Any) -> Candidate:
    """From a row of a store's search statement. `text` is the chunk's text."""
    return Candidate(
        id=row["item_id"],
        scope=row["scope"],
        kind=row["kind"],
        text=text,
        created_at=row["created_at"],
        chunk=row["chunk"],
        chunks=row["chunks"],
        words=row["words"],
        cosine=row["cosine"],
        places=row["places"] or [],
        tf=row["tfs"] or [],
        agent=row["agent_name"],
        speaker=row["speaker"],
        session_id=row["session_id"],
        seq=row["seq"],
        occurred_at=row["occurred_at"],
        user_id=row["user_id"],
        source_kind=row["source_kind"],
        source_claim=row["source_claim"],
        superseded_by=row["superseded_by"],
        names=[*row["paths"], *row["symbols"]],
        **more,
    )
