"""Reads the files that a request links from the tenant's folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from services.agent_memory.vault.disk.files import LinkRefused, open_folder, open_tenant, read_beneath
from services.agent_memory.vault.folders import is_operators, own_folders
from services.agent_memory.vault.schemas import LinkedFile
from shared.auth import Principal


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
    return LinkedFile(path, text, modified_at, operators=is_operators(path))


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
