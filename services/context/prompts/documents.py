"""Reads what the blocks of a prompt name: files of the vault, and what handles lead to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from services.context.forwarding.owners import Failed, LinkedFile, Owner
from services.context.log.sources import Sources
from services.context.prompts.schemas import BlockInput
from services.context.prompts.tiers import Document, Named
from services.context.schemas import Degraded
from services.context.stores import LINKS
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import AppError

# Where the owners' answers have an item's text.
_TEXTS = ("content", "text", "content_full")
_MOST_CHARACTERS = 1_000_000


class Read(NamedTuple):
    blocks: list[Named]
    degraded: list[Degraded]


class Documents:
    def __init__(self, owners: Mapping[str, Owner], sources: Sources) -> None:
        self._vault = owners[LINKS.owner]
        self._sources = sources

    async def read(
        self,
        principal: Principal,
        blocks: Sequence[BlockInput],
        characters: int,
        deadline: Deadline,
        request_id: str,
    ) -> Read:
        """At most so many characters of each file, as far as the key may read it. Names what could not be read."""
        handles = [block.handle for block in blocks if block.handle is not None]
        files, others = await asyncio.gather(
            self._files(principal, blocks, characters, deadline, request_id),
            asyncio.gather(*(self._behind(principal, handle, deadline, request_id) for handle in handles)),
        )
        behind = dict(zip(handles, others, strict=True))
        named = [Named(block.name, _document(block, files, behind)) for block in blocks]
        return Read(named, [_degraded(each) for each in named if each.document.missing is not None])

    async def _files(
        self,
        principal: Principal,
        blocks: Sequence[BlockInput],
        characters: int,
        deadline: Deadline,
        request_id: str,
    ) -> dict[str, Document]:
        paths = list(dict.fromkeys(block.path for block in blocks if block.path is not None))
        if not paths:
            return {}
        most = min(characters, _MOST_CHARACTERS)
        try:
            files = await self._vault.links(paths, most, principal, deadline, request_id)
        except Failed as error:
            return {path: Document("", missing=f"{LINKS.owner} {error.reason}") for path in paths}
        return {file.path: _of_file(file) for file in files}

    async def _behind(
        self, principal: Principal, handle: str, deadline: Deadline, request_id: str
    ) -> Document:
        try:
            found = await self._sources.source(principal, handle, deadline, request_id)
        except AppError as error:
            return Document("", missing="not found" if error.status in (403, 404) else error.detail)
        item = msgspec.to_builtins(found.item)
        text = (
            next((item[name] for name in _TEXTS if item.get(name)), None) if isinstance(item, dict) else None
        )
        if text is None:
            return Document("", missing="no document")
        return Document(text, handle, _words(item))


def _document(block: BlockInput, files: Mapping[str, Document], behind: Mapping[str, Document]) -> Document:
    if block.text is not None:
        return Document(block.text)
    return files[block.path] if block.path is not None else behind[block.handle or ""]


def _of_file(file: LinkedFile) -> Document:
    """An operator's file stands as it is, like the caller's own words."""
    if file.refused is not None:
        return Document("", missing=file.refused)
    if file.operators:
        return Document(file.text)
    return Document(file.text, LINKS.handle(quote(file.path, safe="/._-~")), ["file"])


def _words(item: Mapping[str, Any]) -> list[str]:
    """What kind of item it is, and the agent that wrote it."""
    words = (item.get("kind"), item.get("agent_name"))
    return [word for word in words if isinstance(word, str)]


def _degraded(block: Named) -> Degraded:
    return Degraded(f"block:{block.name}", block.document.missing or "")
