"""The tenants' folders of linked files."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from services.agent_memory.vault.files import LinkRefused, open_folder, open_tenant, read_beneath
from services.agent_memory.vault.schemas import LinkedFile, LinksRequest
from shared.auth import Principal

SHARED = "shared"
# What may be one step of a path.
_STEP = re.compile(r"(?!\.{1,2}$)[^/\x00]+")


class Vault:
    """The folders of all tenants, `<root>/<tenant>`. Without a root, no file is read."""

    def __init__(self, root: Path | None) -> None:
        self._root = root

    async def read(self, principal: Principal, request: LinksRequest) -> list[LinkedFile]:
        """One result per path, in order."""
        return await asyncio.to_thread(read_files, self._root, principal, request.paths, request.characters)


def own_folders(principal: Principal) -> list[str] | None:
    """The folders that a bound key may read in its tenant's: those of its bounds, and the shared one. None: all."""
    if not principal.bound:
        return None
    named = {
        "agents": () if principal.agent is None else (principal.agent,),
        "missions": principal.missions or (),
        "users": principal.users or (),
    }
    own = [f"{kind}/{name}" for kind, names in named.items() for name in names if _STEP.fullmatch(name)]
    return [SHARED, *own]


def read_files(
    root: Path | None, principal: Principal, paths: Sequence[str], characters: int
) -> list[LinkedFile]:
    try:
        tenant = open_tenant(root, principal.tenant)
    except LinkRefused as refused:
        return [LinkedFile(path, refused=refused.reason) for path in paths]
    own = own_folders(principal)
    try:
        return [_read_file(tenant, own, path, characters) for path in paths]
    finally:
        os.close(tenant)


def _read_file(tenant: int, own: Sequence[str] | None, path: str, characters: int) -> LinkedFile:
    try:
        if own is None:
            text, modified_at = read_beneath(tenant, path, characters)
        else:
            text, modified_at = _read_own(tenant, own, path, characters)
    except LinkRefused as refused:
        return LinkedFile(path, refused=refused.reason)
    return LinkedFile(path, text, modified_at)


def _read_own(tenant: int, own: Sequence[str], path: str, characters: int) -> tuple[str, datetime]:
    """A file beneath one of the key's own folders. Raises LinkRefused for any other path."""
    name = next((name for name in own if path.startswith(f"{name}/")), None)
    if name is None:
        raise LinkRefused("refused")
    folder = open_folder(tenant, name)
    try:
        return read_beneath(folder, path.removeprefix(f"{name}/"), characters)
    finally:
        os.close(folder)
