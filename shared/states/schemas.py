"""The bodies of the internal call that asks for what changed."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.text import Name

MOST_KNOWN = 5_000
"""Parts of items in one request."""
_LONGEST_STATE = 100

What = Literal["gone", "edited", "superseded"]


class KnownPart(msgspec.Struct, array_like=True):
    """A part of an item, and the state in which the session was given it."""

    id: int
    chunk: int | None
    """None: the item as a whole."""
    state: Annotated[str, Meta(max_length=_LONGEST_STATE)]


class StatesRequest(Body, kw_only=True):
    """`agent` is who was given the items: only it still sees what it keeps private."""

    agent: Name
    stores: dict[str, Annotated[list[KnownPart], Meta(max_length=MOST_KNOWN)]]


class ChangedPart(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A part whose state is another one now. `text` is what an edited one says, `by` the item that supersedes it."""

    id: int
    chunk: int | None
    what: What
    state: str
    text: str | None = None
    by: int | None = None


class States(msgspec.Struct):
    """What changed, by store. What did not is not named."""

    stores: dict[str, list[ChangedPart]]


def state_of(text: str, superseded_by: int | None) -> str:
    """Names what an item says, and what supersedes it, as its writer stated."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
    return digest if superseded_by is None else f"{digest} {superseded_by}"


def state_of_fact(
    subject: str, predicate: str, object_: str, valid_to: datetime | None, *, disputed: bool
) -> str:
    return state_of("\n".join((subject, predicate, object_, str(valid_to), str(disputed))), None)


GONE = "gone"
"""The state of what is not there any more, or not for this key."""


def gone(known: KnownPart) -> ChangedPart | None:
    """What became of a part that is not there; None where that is known."""
    if known.state == GONE:
        return None
    return ChangedPart(id=known.id, chunk=known.chunk, what="gone", state=GONE)
