"""OpenAI's POST /v1/embeddings, and servers that only resemble it."""

from __future__ import annotations

from tests.support.fakes.embedding_api import EmbeddingApi, Json, Refused


class FakeOpenAI(EmbeddingApi):
    """`shortens`: whether the model takes `dimensions`. `shuffled`: answers in another order than asked."""

    key = "openai-test-key"

    def __init__(
        self, port: int = 0, native: int = 1536, shortens: bool = True, shuffled: bool = False
    ) -> None:
        super().__init__(port)
        self.native, self.shortens, self.shuffled = native, shortens, shuffled

    def dimensions(self, body: Json) -> int:
        asked = body.get("dimensions")
        if len(body["input"]) > 2048:
            raise Refused(400, "at most 2048 texts")
        if asked is not None and (not self.shortens or asked > self.native):
            raise Refused(400, "this model does not support specifying dimensions")
        return asked or self.native

    def answer(self, body: Json, data: list[Json], tokens: int) -> Json:
        return {
            "object": "list",
            "data": data[::-1] if self.shuffled else data,
            "model": body["model"],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def error(self, message: str) -> Json:
        return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
