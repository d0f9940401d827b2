"""Writes with an Idempotency-Key happen once, in one transaction with the record of their answer."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from shared.database.idempotency import Key, Records
from shared.database.postgres import Database, Work
from shared.deadline import Deadline

T = TypeVar("T", bound=msgspec.Struct)


class KeyedWrites:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.records = Records("cache")

    async def once(
        self,
        tenant: str,
        mission_id: str,
        key: Key,
        kind: type[T],
        write: Work[T],
        deadline: Deadline,
        *,
        status: int = 201,
    ) -> T:
        """The answer of `write`, or of an earlier write with the key. Purging the mission erases the record."""
        scope = f"mission:{mission_id}"
        return await self._database.transaction(
            tenant,
            lambda c: self.records.once(c, tenant, scope, key, kind, lambda: write(c), status),
            deadline,
        )
