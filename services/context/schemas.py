"""Request and response bodies of the context service."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

SourceStore = Literal["psychic_cache", "memory", "agent_memory_own", "agent_memory_peer", "vault_index"]
SearchableScope = Annotated[str, Meta(min_length=1, max_length=250)]

_SCOPE = re.compile(r"^(?:(?:mission|agent|user|project):\S.*|shared)$", re.S)


class Success(msgspec.Struct):
    success: bool = True
