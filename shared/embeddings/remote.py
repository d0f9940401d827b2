"""Calling an embedding API: batches, time limits, retries and a breaker around one request."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import aiohttp
import numpy as np
import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_before_delay
from tenacity.wait import wait_random_exponential

from shared.concurrency.breaker import Breaker
from shared.concurrency.calls import guarded, reason_of, retry_after_seconds
from shared.embeddings.base import (
    CALLS,
    DIM,
    TEXTS,
    TOKENS,
    EmbedderUnavailable,
    Kind,
    OnUsage,
    Urgency,
    Vectors,
    unit_rows,
)
from shared.embeddings.settings import EmbeddingSettings
from shared.settings import SettingsError
from shared.spending import Meter, Outcome, Tokens, estimated_tokens, outcome_of
from shared.spending.payer import charged_to_nobody

log = structlog.get_logger()

_SURROGATE = re.compile("[\ud800-\udfff]")
# APIs refuse a whole batch for one empty text.
_BLANK = "."
_PROBE_TEXT = "ready?"
_BAD_MODEL_OR_DIMENSION = (400, 404, 422)
_backoff = wait_random_exponential(multiplier=0.1, max=2.0)


class Answer(NamedTuple):
    rows: Any
    """One unchecked sequence of numbers per text."""
    tokens: int | None
    """None where the server counts none."""


class RemoteEmbedder(ABC):
    provider: ClassVar[str]
    batch_texts: ClassVar[int]
    batch_tokens: ClassVar[int]
    text_bytes: ClassVar[int]
    """Longer texts are cut. The model would cut them too, or refuse the batch."""
    default_dedup_distance: ClassVar[float]

    def __init__(
        self, settings: EmbeddingSettings, on_usage: OnUsage | None = None, meter: Meter | None = None
    ) -> None:
        self.model = settings.stored_name
        self._meter = meter
        self._distance = settings.dedup_distance
        self._timeout: dict[Kind, float] = {
            "query": settings.query_timeout,
            "document": settings.document_timeout,
        }
        # A call may fail by its texts, or by one caller's many: only a cheap call that fails too opens the breaker.
        self.breaker = Breaker(
            self.provider,
            self._probe,
            failures=5,
            probe_seconds=settings.query_timeout,
            # A probe is one short text, and costs nothing unless it is answered. So vectors are soon back.
            shortest=1.0,
            longest=1.0,
        )
        self._on_usage = on_usage
        self._width: int | None = None
        self._session = aiohttp.ClientSession(
            raise_for_status=_check_status,
            connector=aiohttp.TCPConnector(keepalive_timeout=60),
        )

    @property
    def dedup_distance(self) -> float:
        return self.default_dedup_distance if self._distance is None else self._distance

    async def embed(self, texts: Sequence[str], kind: Kind, *, urgency: Urgency = "asked") -> Vectors:
        if self._meter is not None and texts and (ceiling := await self._meter.reached()) is not None:
            CALLS.labels(self.provider, "ceiling").inc()
            raise EmbedderUnavailable("ceiling", ceiling)
        clean = [clean_text(text, self.text_bytes) for text in texts]
        parts = [await self._embed_batch(batch, kind) for batch in self._batches(clean)]
        return np.concatenate(parts) if parts else np.empty((0, DIM), np.float32)

    async def checked(self) -> Self:
        """Raises SettingsError when the model cannot give 512 dimensions. An unreachable API is no error."""
        try:
            await self._check()
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        await self.breaker.close()
        await self._session.close()

    async def _probe(self) -> None:
        try:
            with charged_to_nobody():
                await self._metered([_PROBE_TEXT], "query")
        except EmbedderUnavailable as error:
            if error.reason != "refused":
                raise

    async def _check(self) -> None:
        try:
            await self.embed([_PROBE_TEXT], "query")
        except EmbedderUnavailable as error:
            if error.reason == "malformed" or error.http_status in _BAD_MODEL_OR_DIMENSION:
                raise SettingsError([f"{self.model} cannot give {DIM} dimensions: {error}"]) from error
            log.warning("embedder unavailable at start", model=self.model, reason=error.reason)

    @abstractmethod
    async def _request(self, texts: list[str], kind: Kind) -> Answer:
        """One HTTP request. Raises EmbedderUnavailable, aiohttp.ClientError or OSError."""

    def _batches(self, texts: list[str]) -> Iterator[list[str]]:
        return batches(texts, self.batch_texts, self.batch_tokens)

    async def _embed_batch(self, texts: list[str], kind: Kind) -> Vectors:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeout[kind]
        # Retrying costs as much as half a request, so nothing prepares for it before a request has failed.
        try:
            return await self._attempt(texts, kind, deadline)
        except EmbedderUnavailable as error:
            failed = [error]

        async def attempt() -> Vectors:
            if failed:
                raise failed.pop()
            return await self._attempt(texts, kind, deadline)

        return await AsyncRetrying(
            stop=stop_before_delay(deadline - loop.time()),
            wait=_pause,
            retry=retry_if_exception(_is_passing),
            reraise=True,
        )(attempt)

    async def _attempt(self, texts: list[str], kind: Kind, deadline: float) -> Vectors:
        try:
            with guarded(self.breaker, EmbedderUnavailable):
                vectors, tokens = await self._vectors(texts, kind, deadline)
        except EmbedderUnavailable as error:
            CALLS.labels(self.provider, error.reason).inc()
            if error.reason in ("refused", "malformed"):
                log.warning(
                    "embedding failed", model=self.model, reason=error.reason, status=error.http_status
                )
            raise
        CALLS.labels(self.provider, "ok").inc()
        TEXTS.labels(self.provider).inc(len(texts))
        TOKENS.labels(self.provider).inc(tokens)
        if self._on_usage is not None:
            self._on_usage(self.model, tokens, len(texts))
        return vectors

    async def _vectors(self, texts: list[str], kind: Kind, deadline: float) -> tuple[Vectors, int]:
        try:
            async with asyncio.timeout_at(deadline):
                rows, tokens = await self._metered(texts, kind)
        except TimeoutError as error:
            raise EmbedderUnavailable("slow", f"no answer in {self._timeout[kind]:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise EmbedderUnavailable("dead", repr(error)) from error
        vectors = unit_rows(rows, len(texts), self._width)
        self._width = self._width or len(rows[0])
        return vectors, tokens or 0

    async def _metered(self, texts: list[str], kind: Kind) -> Answer:
        """One request, noted however it ends: the provider may count what we no longer wait for."""
        outcome: Outcome = "abandoned"
        tokens: Tokens | None = None
        try:
            answer = await self._request(texts, kind)
            outcome = "uncounted" if answer.tokens is None else "ok"
            tokens = None if answer.tokens is None else Tokens(answer.tokens, 0)
            return answer
        except EmbedderUnavailable as error:
            outcome = outcome_of(error)
            raise
        finally:
            if self._meter is not None:
                purpose = "probe" if texts == [_PROBE_TEXT] else kind
                sent = estimated_tokens(sum(map(len, texts)))
                self._meter.note(purpose, self.model, tokens, outcome, sent)


def clean_text(text: str, max_bytes: int) -> str:
    text = _SURROGATE.sub("\ufffd", text)
    if len(text) * 4 > max_bytes:
        text = text.encode()[:max_bytes].decode(errors="ignore")
    return text if text.strip() else _BLANK


def batches(texts: Sequence[str], max_texts: int, max_tokens: int) -> Iterator[list[str]]:
    """Consecutive texts within both limits. A text above `max_tokens` goes alone."""
    batch: list[str] = []
    room = max_tokens
    for text in texts:
        # A safe estimate for every script: English has four bytes per token, Chinese and code about three.
        tokens = len(text.encode()) // 3 + 1
        if batch and (len(batch) == max_texts or tokens > room):
            yield batch
            batch, room = [], max_tokens
        batch.append(text)
        room -= tokens
    if batch:
        yield batch


async def _check_status(response: aiohttp.ClientResponse) -> None:
    """Runs before the caller sees the response, so that voyageai never interprets an error itself."""
    status = response.status
    if status < 400:
        return
    body = (await response.read())[:300].decode(errors="replace")
    wait = retry_after_seconds(response.headers.get("Retry-After"))
    raise EmbedderUnavailable(
        reason_of(status), f"HTTP {status}: {body}", retry_after=wait, http_status=status
    )


def _is_passing(error: BaseException) -> bool:
    return isinstance(error, EmbedderUnavailable) and error.passing


def _pause(state: RetryCallState) -> float:
    error = state.outcome and state.outcome.exception()
    asked = error.retry_after if isinstance(error, EmbedderUnavailable) else None
    return (asked or 0.0) + _backoff(state)
