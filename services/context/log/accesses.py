"""Which items went into blocks, for the owners that count how often an item is read: in batches, off the hot path."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from services.context import stores
from services.context.forwarding.owners import Owners
from shared.auth import Principal
from shared.concurrency.batching import Batcher
from shared.deadline import Deadline
from shared.errors import AppError, Unavailable

_LINGER_SECONDS = 0.5
_RETRY_SECONDS = 2.0
_CALL_SECONDS = 5.0
_BATCH = 5_000
# While an owner is away, the oldest are lost first.
_MOST_WAITING = 100_000


class Access(NamedTuple):
    tenant: str
    store: str
    item: int


class Accesses:
    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._accesses: Batcher[Access] = Batcher(
            "accesses",
            self._write,
            size=_BATCH,
            limit=_MOST_WAITING,
            linger=_LINGER_SECONDS,
            retry=_RETRY_SECONDS,
        )
        self.start = self._accesses.start
        self.stop = self._accesses.stop

    def count(self, tenant: str, items: Iterable[tuple[str, int]]) -> None:
        """Each item counts once, however many of its chunks are in the block."""
        for store, item in set(items):
            self._accesses.add(Access(tenant, store, item))

    async def _write(self, accesses: list[Access]) -> list[Access]:
        """One call for each store and tenant. An owner that cannot be reached is asked again."""
        together: defaultdict[tuple[str, str], list[Access]] = defaultdict(list)
        for access in accesses:
            together[access.tenant, access.store].append(access)
        return [access for group in together.values() for access in await self._tell(group)]

    async def _tell(self, group: Sequence[Access]) -> Sequence[Access]:
        """What has to wait."""
        tenant, store, _ = group[0]
        body = msgspec.json.encode({"store": store, "ids": [access.item for access in group]})
        principal = Principal(tenant, key="accesses", access=frozenset({"write"}))
        try:
            await self._owners[stores.BY_NAME[store].owner].ask(
                "POST",
                "/internal/accesses",
                principal,
                Deadline(_CALL_SECONDS),
                secrets.token_hex(8),
                body=body,
            )
        except Unavailable:
            return group
        except AppError:
            # An owner of the release before does not count.
            return ()
        return ()
