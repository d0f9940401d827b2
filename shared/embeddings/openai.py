"""Any endpoint that speaks OpenAI's POST /embeddings."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import numpy as np

from shared.embeddings.base import DIM, EmbedderUnavailable, Kind, OnUsage
from shared.embeddings.remote import Answer, RemoteEmbedder
from shared.embeddings.settings import EmbeddingSettings
from shared.spending import Meter

_BASE_URL = "https://api.openai.com/v1"
_EXTRAS = {"dimensions": DIM, "encoding_format": "base64"}


class _Item(msgspec.Struct):
    embedding: str | list[float]
    index: int = 0


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None


class _Body(msgspec.Struct):
    data: list[_Item]
    usage: _Usage | None = None


class OpenAIEmbedder(RemoteEmbedder):
    provider = "openai"
    # OpenAI takes 2,048 texts per call and 8,191 tokens per text; common self-hosted servers take 32 texts.
    batch_texts = 32
    batch_tokens = 100_000
    text_bytes = 24_000
    # Not measured, so strict: a missed repeat costs a second row, a false one a memory.
    default_dedup_distance = 0.05

    def __init__(
        self, settings: EmbeddingSettings, on_usage: OnUsage | None = None, meter: Meter | None = None
    ) -> None:
        super().__init__(settings, on_usage, meter)
        self._url = f"{settings.base_url or _BASE_URL}/embeddings"
        self._headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._name = settings.model
        self._extras: dict[str, Any] = _EXTRAS

    async def _request(self, texts: list[str], kind: Kind) -> Answer:
        try:
            return await self._post(texts)
        except EmbedderUnavailable as error:
            # Models with a fixed size, and some servers, refuse the optional fields until one call has succeeded.
            if error.http_status not in (400, 422) or self._width is not None or not self._extras:
                raise
        answer = await self._post(texts, extras={})
        self._extras = {}
        return answer

    async def _post(self, texts: list[str], extras: dict[str, Any] | None = None) -> Answer:
        body = {"model": self._name, "input": texts, **(self._extras if extras is None else extras)}
        async with self._session.post(self._url, json=body, headers=self._headers) as response:
            return _parse(await response.read())


def _parse(raw: bytes) -> Answer:
    try:
        body = msgspec.json.decode(raw, type=_Body)
        rows = [_row(item.embedding) for item in sorted(body.data, key=lambda item: item.index)]
    except ValueError as error:
        raise EmbedderUnavailable("malformed", str(error)) from error
    return Answer(rows, body.usage.prompt_tokens if body.usage else None)


def _row(embedding: str | list[float]) -> Any:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    return embedding
