"""Bodies of the internal call for explicitly linked files."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.text import Name

Refusal = Literal["no vault", "no openat2", "not found", "refused", "not a file", "too large", "not text"]
LinkPath = Annotated[str, Meta(min_length=1, max_length=1_000)]


class LinksRequest(Body, kw_only=True):
    paths: Annotated[list[LinkPath], Meta(min_length=1, max_length=20)]
    agent: Name | None = None
    characters: Annotated[int, Meta(ge=1, le=1_000_000)] = 64_000
    """How much of each file to read: its beginning is enough for a block."""


class LinkedFile(msgspec.Struct, omit_defaults=True):
    path: str
    text: str = ""
    modified_at: datetime | None = None
    refused: Refusal | None = None


class Links(msgspec.Struct):
    files: list[LinkedFile]
