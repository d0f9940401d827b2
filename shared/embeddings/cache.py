"""A cache of vectors, keyed by tenant, model, kind and text. Concurrent requests of a tenant for one text share one
embedding. The second level holds questions only: a document's vector is stored with the document.

No tenant finds a vector that another tenant's text left: how fast the answer came would tell what others asked.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import numpy as np
import structlog
from numpy.typing import NDArray

from shared.embeddings.band import Band, band_of
from shared.embeddings.base import DIM, Embedder, EmbedderUnavailable, Kind, Urgency, Vectors
from shared.embeddings.local import LocalEmbedder
from shared.spending import charged_to, payer_of
from shared.telemetry import tracing

log = structlog.get_logger()

Vector = NDArray[np.float32]
Load = Callable[[str, list[bytes]], Awaitable[dict[bytes, Vector]]]
Store = Callable[[str, dict[bytes, Vector]], Awaitable[None]]
"""Each takes the tenant first."""

# A second level slower than this does not help a query and must not stall one.
_LOAD_SECONDS = 0.25
_STORE_SECONDS = 5.0


def cache_key(tenant: str, model: str, kind: Kind, text: str) -> bytes:
    """32 bytes."""
    return hashlib.sha256(f"{tenant}\0{model}\0{kind}\0{text}".encode(errors="surrogatepass")).digest()


class _Missing(NamedTuple):
    """Texts of one tenant, by their keys, that the cache holds no vector of."""

    tenant: str
    kind: Kind
    urgency: Urgency
    texts: dict[bytes, str]


class CachedEmbedder:
    """An LRU of `size` vectors (2 kB each) in front of an embedder, with an optional second level.

    Cancelling a caller does not cancel its embedding: others may be waiting for it, the cache keeps it,
    and the embedder's breaker must learn the outcome.
    """

    def __init__(
        self,
        inner: Embedder,
        size: int = 2048,
        load: Load | None = None,
        store: Store | None = None,
        band: Band | None = None,
    ) -> None:
        """`band` is the installation's own cosine band for the model, if it has measured one."""
        self.inner = inner
        self.band = band or band_of(inner.model)
        self._size, self._load, self._store = size, load, store
        self._recent: OrderedDict[bytes, Vector] = OrderedDict()
        self._pending: dict[bytes, asyncio.Future[Vector]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def model(self) -> str:
        return self.inner.model

    @property
    def dedup_distance(self) -> float:
        return self.inner.dedup_distance

    async def embed(
        self, texts: Sequence[str], kind: Kind, tenant: str, *, urgency: Urgency = "asked"
    ) -> Vectors:
        """Raises EmbedderUnavailable. Any other error is a bug."""
        keys = [cache_key(tenant, self.model, kind, text) for text in texts]
        known = {key: vector for key in keys if (vector := self._recall(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            known |= await self._wait_for(_Missing(tenant, kind, urgency, missing))
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, DIM), np.float32)

    def leave_cores(self) -> None:
        """Leaves all cores but one to a question that brings its vector, if the model works in this process."""
        if isinstance(self.inner, LocalEmbedder):
            self.inner.leave_cores()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.inner.close()

    async def _wait_for(self, missing: _Missing) -> dict[bytes, Vector]:
        fresh = {key: text for key, text in missing.texts.items() if key not in self._pending}
        if fresh:
            self._start(missing._replace(texts=fresh))
        futures = {key: self._pending[key] for key in missing.texts}
        # asyncio.wait, unlike gather, leaves the futures alone when this caller is cancelled.
        await asyncio.wait(futures.values())
        return {key: future.result() for key, future in futures.items()}

    def _start(self, missing: _Missing) -> None:
        loop = asyncio.get_running_loop()
        futures = {key: loop.create_future() for key in missing.texts}
        self._pending |= futures
        with charged_to(payer_of(missing.tenant)):
            task = loop.create_task(self._fill(missing, futures))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fill(self, missing: _Missing, futures: dict[bytes, asyncio.Future[Vector]]) -> None:
        made: dict[bytes, Vector] = {}
        try:
            self._settle(await self._loaded(missing), futures)
            todo = [key for key, future in futures.items() if not future.done()]
            if todo:
                with tracing.embeddings(self.model, len(todo)):
                    vectors = await self.inner.embed(
                        [missing.texts[key] for key in todo], missing.kind, urgency=missing.urgency
                    )
                # Copies: a row would keep its whole batch alive.
                made = {key: row.copy() for key, row in zip(todo, vectors, strict=True)}
                self._settle(made, futures)
        except asyncio.CancelledError:
            self._fail(EmbedderUnavailable("dead", "closed"), futures)
            raise
        except Exception as error:
            # Every waiter raises this error.
            self._fail(error, futures)
        await self._remember(missing, made)

    def _settle(self, found: dict[bytes, Vector], futures: dict[bytes, asyncio.Future[Vector]]) -> None:
        for key, vector in found.items():
            self._pending.pop(key, None)
            self._recent[key] = vector
            futures[key].set_result(vector)
        while len(self._recent) > self._size:
            self._recent.popitem(last=False)

    def _fail(self, error: Exception, futures: dict[bytes, asyncio.Future[Vector]]) -> None:
        for key, future in futures.items():
            if not future.done():
                self._pending.pop(key, None)
                future.set_exception(error)
                # Read it, since nobody may be waiting: asyncio warns about exceptions never retrieved.
                future.exception()

    def _recall(self, key: bytes) -> Vector | None:
        vector = self._recent.get(key)
        if vector is not None:
            self._recent.move_to_end(key)
        return vector

    async def _loaded(self, missing: _Missing) -> dict[bytes, Vector]:
        if self._load is None or missing.kind == "document":
            return {}
        try:
            async with asyncio.timeout(_LOAD_SECONDS):
                found = await self._load(missing.tenant, list(missing.texts))
        except Exception as error:
            log.warning("embedding cache not read", error=type(error).__name__)
            return {}
        return {
            key: vector.astype(np.float32)
            for key, vector in found.items()
            if key in missing.texts and vector.shape == (DIM,)
        }

    async def _remember(self, missing: _Missing, made: dict[bytes, Vector]) -> None:
        if self._store is None or missing.kind == "document" or not made:
            return
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                await self._store(missing.tenant, made)
        except Exception as error:
            log.warning("embedding cache not written", error=type(error).__name__)
