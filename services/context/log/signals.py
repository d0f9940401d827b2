"""Implicit feedback: a source read again by its handle, or an assembly cited in a later write.

Weak and marked as such. Best effort: a signal that cannot be written soon is dropped and counted.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec
import structlog

from services.context.log import queries as queries_log
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.tasks import end
from shared.telemetry import metrics

log = structlog.get_logger()

_WAITING = 1_000
_FLUSH_SECONDS = 0.5
_CITED = b'"recalled_from"'
_MOST_BYTES = 262_144
_HANDLE = re.compile(r"\b(?:cache|own|peer|memory|vault):[1-9][0-9]{0,17}(?:#[0-9]{1,4})?|\blink:[^\s\]]+")


class Signal(msgspec.Struct):
    """`handles` that were read or cited; none: the block as a whole."""

    tenant: str
    id: int
    caller: str | None
    handles: list[str]


class Signals:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[Signal] = []
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            await end(self._task)
        await self.flush()

    def read(self, principal: Principal, assembly_id: int, handle: str) -> None:
        self._add(Signal(principal.tenant, assembly_id, principal.agent, [handle]))

    def wrote(self, principal: Principal, body: bytes) -> None:
        """Looks for the assembly that an accepted write says it was recalled from."""
        if _CITED not in body:
            return
        try:
            document = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return
        for item in _writes(document):
            cited = item.get("recalled_from")
            if isinstance(cited, int) and 0 < cited < 2**63:
                handles = sorted(set(_HANDLE.findall(str(item.get("content", "")))))
                self._add(Signal(principal.tenant, cited, principal.agent, handles))

    def _add(self, signal: Signal) -> None:
        if len(self._waiting) >= _WAITING:
            metrics.SIGNALS_LOST.inc()
            return
        self._waiting.append(signal)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        if not self._waiting:
            return
        signals, self._waiting = self._waiting, []
        # One statement updates a row once: signals for the same assembly become one.
        together: dict[tuple[str, int, str | None], Signal] = {}
        for one in signals:
            known = together.setdefault((one.tenant, one.id, one.caller), one)
            if known is not one:
                known.handles = sorted({*known.handles, *one.handles})
        try:
            ordered = [together[key] for key in sorted(together, key=str)]
            await self._database.run(lambda c: queries_log.signal(c, ordered), Deadline(5.0))
        except AppError as error:
            metrics.SIGNALS_LOST.inc(len(together))
            log.debug("signals not written", error=error.detail)
        except Exception as error:
            metrics.SIGNALS_LOST.inc(len(together))
            log.error("signals not written", exc_info=error)


def _writes(document: Any) -> list[dict[str, Any]]:
    """One write, or the items of a batch."""
    if isinstance(document, list):
        return [item for item in document if isinstance(item, dict)]
    if not isinstance(document, dict):
        return []
    batches = [value for value in document.values() if isinstance(value, list)]
    return [document, *(item for batch in batches for item in batch if isinstance(item, dict))]


class Tee:
    """Keeps what passes of a body, as long as it is short enough to look at."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= _MOST_BYTES:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def body(self) -> bytes:
        return b"".join(self._pieces) if self._size <= _MOST_BYTES else b""
