"""Runs over the tenants' folders: at times, or when somebody asks. One replica at a time runs over a folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import structlog

from services.agent_memory.vault.disk.files import LinkRefused, is_tenant, open_tenant
from services.agent_memory.vault.folder_index import queries
from services.agent_memory.vault.folder_index.progress import LastRun, Progress
from services.agent_memory.vault.folder_index.run import Lost, Run
from shared.auth import Principal
from shared.concurrency.tasks import every
from shared.database.postgres import Database
from shared.deadline import Deadline

log = structlog.get_logger()

# How often a replica looks whether a folder's run is due.
_LOOK_SECONDS = 5.0


class FolderIndex:
    """Of the folders `<root>/<tenant>`."""

    def __init__(
        self, database: Database, root: Path | None, model: str, announce: Callable[[str], None]
    ) -> None:
        """It calls `announce` with the tenant when it has written something."""
        self._database = database
        self._root = root
        self._model = model
        self._announce = announce

    async def run_forever(self, seconds: float) -> None:
        """Over each folder, every so many seconds. Never, if that is 0."""
        if seconds and self._root is not None:
            await every(min(seconds, _LOOK_SECONDS), "indexing the vault", lambda: self.run_all(seconds))

    async def run_all(self, age: float = 0) -> None:
        for tenant in await asyncio.to_thread(self.tenants):
            try:
                await self.run(tenant, age)
            except LinkRefused as refused:
                log.warning("folder not indexed", tenant=tenant, reason=refused.reason)

    def tenants(self) -> list[str]:
        """Those that have a folder."""
        if self._root is None or not self._root.is_dir():
            return []
        with os.scandir(self._root) as entries:
            return sorted(
                entry.name
                for entry in entries
                if is_tenant(entry.name) and entry.is_dir(follow_symlinks=False)
            )

    async def run(
        self, tenant: str, age: float = 0, note: Callable[[Progress], None] = lambda _: None
    ) -> Progress | None:
        """None: another run is under way, or the last one began less than `age` seconds ago.

        Raises LinkRefused for a tenant without a folder.
        """
        folder = open_tenant(self._root, tenant)
        try:
            run = Run(self._database, tenant, folder, self._model, note)
            if not await run.begin(age):
                return None
            progress = await run.finish()
        except Lost:
            return None
        finally:
            os.close(folder)
        if progress.changed or progress.removed:
            self._announce(tenant)
        return progress

    async def last(self, principal: Principal, deadline: Deadline) -> LastRun:
        """It names files of every folder. Raises Forbidden for a bound key."""
        principal.require_unbounded()
        row = await self._database.run(
            principal.tenant, lambda c: queries.last(c, principal.tenant), deadline
        )
        return LastRun() if row is None else LastRun(**dict(row))
