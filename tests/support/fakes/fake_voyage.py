"""Voyage AI's POST /v1/embeddings."""

from __future__ import annotations

from tests.support.fakes.embedding_api import EmbeddingApi, Json, Refused

_FIXED = {"voyage-finance-2": 1024, "voyage-law-2": 1024, "voyage-code-2": 1536}
_SHORTENABLE = ("voyage-4", "voyage-3.5", "voyage-3-large", "voyage-code-3")


class FakeVoyage(EmbeddingApi):
    key = "voyage-test-key"

    def dimensions(self, body: Json) -> int:
        model, asked = body["model"], body.get("output_dimension")
        if len(body["input"]) > 1000:
            raise Refused(400, "at most 1000 texts")
        if body.get("input_type") not in (None, "query", "document"):
            raise Refused(400, "bad input_type")
        if model in _FIXED:
            if asked not in (None, _FIXED[model]):
                raise Refused(400, f"{model} does not support output_dimension {asked}")
            return _FIXED[model]
        if not model.startswith(_SHORTENABLE):
            raise Refused(400, f"no model {model}")
        if asked not in (None, 256, 512, 1024, 2048):
            raise Refused(400, f"bad output_dimension {asked}")
        return asked or 1024

    def answer(self, body: Json, data: list[Json], tokens: int) -> Json:
        return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": tokens}}

    def error(self, message: str) -> Json:
        return {"detail": message}
