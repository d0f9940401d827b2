"""Voyage AI's POST /v1/rerank: the more of the query's words a document has, the better."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.support.fakes.embedding_api import Json, Refused, Request
from tests.support.fakes.fake_voyage import FakeVoyage


class FakeRerank(FakeVoyage):
    def respond(self, request: Request, mode: str) -> tuple[int, bytes]:
        if request.path != "/v1/rerank":
            return super().respond(request, mode)
        if mode.isdigit():
            # As the API's other path fails.
            return super().respond(replace(request, path="/v1/embeddings"), mode)
        try:
            if request.headers.get("Authorization") != f"Bearer {self.key}":
                raise Refused(401, "bad key")
            if not str(request.body["model"]).startswith("rerank-"):
                raise Refused(400, f"no model {request.body['model']}")
            if mode == "not_json":
                return 200, b"<html>a proxy's page</html>"
            return 200, json.dumps(self._ranking(request.body, mode)).encode()
        except Refused as refused:
            return refused.status, json.dumps(self.error(str(refused))).encode()

    def _ranking(self, body: Json, mode: str) -> Json:
        asked = set(body["query"].casefold().split())
        data = [
            {"index": index, "relevance_score": len(asked & set(text.casefold().split())) / len(asked)}
            for index, text in enumerate(body["documents"])
        ]
        data.sort(key=lambda one: -float(one["relevance_score"]))
        if mode == "wrong_count":
            data = data[:-1]
        return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": 1}}
