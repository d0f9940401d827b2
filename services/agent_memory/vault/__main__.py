"""`python -m services.agent_memory.vault index [TENANT …]`: indexes the tenants' folders below VAULT_ROOT.

It runs with the agent-memory service's settings, prints its progress, and names each file that it refuses. The running
service then adds the vectors.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import sys
import time
from collections.abc import Sequence

from services.agent_memory.settings import Settings
from services.agent_memory.vault.disk.files import LinkRefused
from services.agent_memory.vault.folder_index.progress import Progress
from services.agent_memory.vault.folder_index.service import FolderIndex
from shared.database.postgres import Database
from shared.errors import Unavailable
from shared.settings import SettingsError


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m services.agent_memory.vault", description=__doc__)
    commands = parser.add_subparsers(required=True)
    index = commands.add_parser("index", help="index what is new or differs, and remove what is gone")
    index.add_argument("tenants", nargs="*", metavar="TENANT", help="by default, all that have a folder")
    arguments = parser.parse_args()
    try:
        complete = asyncio.run(run(Settings.from_env(), arguments.tenants))
    except (SettingsError, LinkRefused, Unavailable) as error:
        sys.exit(str(error))
    sys.exit(0 if complete else 1)


async def run(settings: Settings, tenants: Sequence[str]) -> bool:
    """Whether every run was complete. Raises LinkRefused for a tenant without a folder."""
    database = Database(settings.database_url, connections=2)
    await database.open()
    try:
        folders = FolderIndex(database, settings.vault_root, settings.embedding.stored_name, lambda _: None)
        done = [await _run(folders, tenant) for tenant in tenants or folders.tenants()]
    finally:
        await database.close()
    return all(done)


async def _run(folders: FolderIndex, tenant: str) -> bool:
    begun = shown = time.monotonic()

    def note(progress: Progress) -> None:
        nonlocal shown
        _return_memory()
        if time.monotonic() - shown > 1:
            shown = time.monotonic()
            _say(f"{tenant}: {progress.files} files, {progress.changed} changed")

    progress = await folders.run(tenant, note=note)
    if progress is None:
        _say(f"{tenant}: another run is under way")
        return False
    seconds = time.monotonic() - begun
    for refused in progress.refused:
        _say(f"{tenant}: {refused.path}: {refused.reason}")
    _say(
        f"{tenant}: {progress.files} files in {seconds:.1f} s ({progress.files / seconds:.0f} a second):"
        f" {progress.changed} changed, {progress.unchanged} unchanged, {progress.removed} removed,"
        f" {progress.refusals} refused"
    )
    return True


def _return_memory() -> None:
    """A long text needs many times its size, which the C library would keep beside the converter's."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
