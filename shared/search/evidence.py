"""What a store answers to a search: candidates with raw evidence, comparable over stores.

A store's own best score says nothing (the best of an irrelevant store would look like the best of a relevant
one), so it reports what was seen: the cosine, and for each word of the question how much of it the text holds
and how rare it is there. `shared.search.relevance` makes one number of it, for all stores alike.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from shared.body import Body
from shared.embeddings import DIM
from shared.errors import Invalid
from shared.text import Name, Query

# Per arm: neighbours smooth each other only where both are candidates.
DEPTH = 50


class Candidate(msgspec.Struct, omit_defaults=True):
    """One chunk of an item, by (id, chunk). It holds the lexemes at `places` (from 1), each `tf` much."""

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
    user_id: str | None = None
    composite: dict[str, float] | None = None

    @property
    def scopes(self) -> list[str]:
        """What is made of it goes when one of these is purged, and is shown to those only who may see each."""
        return [self.scope] if self.user_id is None else [self.scope, f"user:{self.user_id}"]


class StoreResult(msgspec.Struct, omit_defaults=True):
    """`documents` chunks were searched; `df[i]` of them hold lexeme i."""

    documents: int
    df: list[int]
    candidates: list[Candidate]


class SearchResult(msgspec.Struct, omit_defaults=True):
    lexemes: list[str]
    stores: dict[str, StoreResult]


class SearchRequest(Body, kw_only=True):
    """The one internal call for several stores of an owner. `vector` is base64 of 512 float32, or absent.

    With `as_of`, what was recorded by then; a few of later may be among it. With `user_id`, nothing of other users.
    """

    query: Query
    stores: dict[str, list[str]]
    agent: Name | None = None
    user_id: Name | None = None
    vector: str | None = None
    model: str = ""
    as_of: datetime | None = None
    depth: Annotated[int, Meta(ge=1, le=1_000)] = DEPTH


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
    """From the rows of a store's search statement, which has one row without an item when nothing was found."""
    first = rows[0]
    lexemes = first["lexemes"] or []
    return SearchResult(
        lexemes=lexemes,
        stores={
            store: StoreResult(
                documents=first["documents"],
                df=(first["df"] or []) if lexemes else [],
                candidates=[candidate(row) for row in rows if row["item_id"] is not None],
            )
        },
    )


def together(results: Sequence[SearchResult]) -> SearchResult:
    """The evidence of several stores about one question, whose lexemes are the same for all."""
    stores = {name: found for result in results for name, found in result.stores.items()}
    return SearchResult(lexemes=results[0].lexemes if results else [], stores=stores)


def candidate_from_row(row: Any, text: str, **more: Any) -> Candidate:
    """From a row of a store's search statement; `text` is the chunk's."""
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
        **more,
    )
