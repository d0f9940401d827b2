"""Implicit feedback: a source read by its handle, or an assembly cited by a later write.

It is weak and marked so. A signal that cannot be written soon is dropped and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import structlog

from services.context.log import queries
from services.context.log.queries import Signal
from services.context.stores import HANDLE
from shared.auth import Principal
from shared.concurrency.batching import Batcher
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.telemetry import metrics
from shared.text import BigId

log = structlog.get_logger()

_WAITING = 1_000
_FLUSH_SECONDS = 0.5
_WRITE_SECONDS = 5.0
_CITED = b'"recalled_from"'
_MOST_BYTES = 262_144


class Signals:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._signals: Batcher[Signal] = Batcher(
            "signals", self._write, size=_WAITING, limit=_WAITING, linger=_FLUSH_SECONDS, lost=_count_lost
        )
        self.start = self._signals.start
        self.stop = self._signals.stop
        self.flush = self._signals.flush

    def read(self, principal: Principal, assembly_id: int, handle: str) -> None:
        """The caller has checked that the principal may read the assembly."""
        self._signals.add(_signal(principal, assembly_id, [handle]))

    def wrote(self, principal: Principal, body: bytes) -> None:
        """Takes the assembly that an accepted write names in `recalled_from`."""
        if len(body) > _MOST_BYTES or _CITED not in body:
            return
        try:
            document = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return
        for item in _writes(document):
            cited = _assembly_id(item.get("recalled_from"))
            if cited is not None:
                handles = sorted(set(HANDLE.findall(str(item.get("content", "")))))
                self._signals.add(_signal(principal, cited, handles))

    async def _write(self, signals: list[Signal]) -> tuple[()]:
        try:
            await self._database.run(
                EVERY_TENANT, lambda c: queries.signal(c, signals), Deadline(_WRITE_SECONDS)
            )
        except AppError as error:
            # A signal is not worth a second try.
            log.debug("signals not written", error=error.detail)
            _count_lost(signals)
        return ()


def _signal(principal: Principal, assembly_id: int, handles: list[str]) -> Signal:
    return Signal(
        of_tenant=principal.tenant,
        assembly_id=assembly_id,
        by_agent=principal.agent,
        by_missions=principal.seen_missions(),
        by_users=principal.seen_users(),
        cited=handles,
    )


def _assembly_id(value: Any) -> int | None:
    try:
        return msgspec.convert(value, BigId, strict=not isinstance(value, str))
    except msgspec.ValidationError:
        return None


def _count_lost(signals: Sequence[Signal]) -> None:
    metrics.SIGNALS_LOST.inc(len(signals))


def _writes(document: Any) -> list[dict[str, Any]]:
    """The single write, or the items of a batch."""
    if isinstance(document, list):
        return [item for item in document if isinstance(item, dict)]
    if not isinstance(document, dict):
        return []
    batches = [value for value in document.values() if isinstance(value, list)]
    return [document, *(item for batch in batches for item in batch if isinstance(item, dict))]
