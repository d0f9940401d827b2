"""The item behind a block's handle, as its owner returns it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from services.context import stores
from services.context.forwarding.owners import Failed, Owner
from services.context.log.schemas import SourceItem
from services.context.profiles.service import ProfileService
from services.context.stores import Owned
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import NotFound, Unavailable


class Sources:
    def __init__(self, owners: Mapping[str, Owner], profiles: ProfileService) -> None:
        self._owners = owners
        self._profiles = profiles

    async def source(
        self, principal: Principal, handle: str, deadline: Deadline, request_id: str
    ) -> SourceItem:
        """The whole item behind a handle, as its owner returns it to this key."""
        store, rest = stores.source_of(handle), handle.partition(":")[2]
        if store is stores.LINKS:
            return await self._linked(principal, handle, rest, deadline, request_id)
        if store is stores.PROFILES:
            return await self._profile(principal, handle, unquote(rest), deadline)
        name, _, chunk = rest.partition("#")
        if not isinstance(store, Owned) or not _is_id(name) or (chunk and not _is_id(chunk)):
            raise NotFound(f"no source {handle!r}")
        path = store.item_path.format(id=name)
        item = await self._owners[store.owner].ask("GET", path, principal, deadline, request_id)
        if isinstance(item, dict) and len(item) == 1:
            # Unwrap the owner's envelope.
            (item,) = item.values()
        return SourceItem(handle, store.name, item, int(chunk) if chunk else None)

    async def _linked(
        self, principal: Principal, handle: str, path: str, deadline: Deadline, request_id: str
    ) -> SourceItem:
        try:
            files = await self._owners[stores.LINKS.owner].links(
                [unquote(path)], 1_000_000, principal, deadline, request_id
            )
        except Failed as error:
            raise Unavailable(stores.LINKS.owner, f"{stores.LINKS.owner}: {error.reason}") from error
        if files[0].refused is not None:
            raise NotFound(f"no source {handle!r}: {files[0].refused}")
        return SourceItem(handle, stores.LINKS.name, files[0])

    async def _profile(self, principal: Principal, handle: str, scope: str, deadline: Deadline) -> SourceItem:
        profile = await self._profiles.find(principal, scope, deadline)
        if profile is None:
            raise NotFound(f"no source {handle!r}")
        return SourceItem(handle, stores.PROFILES.name, profile)


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
