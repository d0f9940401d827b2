"""What a delta answer tells besides its items."""

from __future__ import annotations

import msgspec

from services.context.schemas import Degraded
from shared.states.schemas import What


class Correction(msgspec.Struct, omit_defaults=True):
    """What became of an item that the session was given. It is told once."""

    handle: str
    what: What
    """`edited`: it says something else now; `superseded` by a newer item; `gone`: deleted, expired, evicted, or out of
    this key's reach."""
    by: str | None = None
    """The handle of the newer item."""


class Changes(msgspec.Struct):
    """What the next answer with `delta` would correct."""

    position: int
    """The position of the last answer that told the session something; 0: it was given nothing."""
    corrections: list[Correction]
    """What became of items that the session was given, each as long as it was not told."""
    degraded: list[Degraded]
    """What did not answer: of its items nothing is known."""


class Delta(msgspec.Struct):
    """What the session knows with this answer."""

    position: int
    """Send it as `since` of the next request: what was told after it, and was lost on its way, comes again."""
    corrections: list[Correction]
    """Of what the session was given before. Their lines, `[update handle … nonce]`, begin the block."""
