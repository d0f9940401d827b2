"""The tenants' folders of linked files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from services.agent_memory.vault.files import LinkRefused, open_tenant, read_beneath
from services.agent_memory.vault.schemas import LinkedFile, LinksRequest
from shared.auth import Principal


class Vault:
    """The folders of all tenants, `<root>/<tenant>`. Without a root, no file is read."""

    def __init__(self, root: Path | None) -> None:
        self._root = root

    async def read(self, principal: Principal, request: LinksRequest) -> list[LinkedFile]:
        """One result per path, in order."""
        return await asyncio.to_thread(
            read_files, self._root, principal.tenant, request.paths, request.characters
        )


def read_files(root: Path | None, tenant: str, paths: Sequence[str], characters: int) -> list[LinkedFile]:
    try:
        folder = open_tenant(root, tenant)
    except LinkRefused as refused:
        return [LinkedFile(path, refused=refused.reason) for path in paths]
    try:
        return [_read_file(folder, path, characters) for path in paths]
    finally:
        os.close(folder)


def _read_file(folder: int, path: str, characters: int) -> LinkedFile:
    try:
        text, modified_at = read_beneath(folder, path, characters)
    except LinkRefused as refused:
        return LinkedFile(path, refused=refused.reason)
    return LinkedFile(path, text, modified_at)
