"""The second look: Voyage's real client against a fake API, and assembly that goes on without it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.database import Database
from services.context.rerank import RerankerUnavailable, RerankSettings, open_reranker, voyage
from services.context.rerank.voyage import VoyageReranker
from shared.settings import SettingsError
from tests.support.calls import note, question
from tests.support.cluster import Cluster
from tests.support.fakes.fake_rerank import FakeRerank

TEXTS = ["the cat sleeps", "the database failed over", "a database"]
QUERY = "when the database failed over"


@pytest.fixture
def api() -> Iterator[FakeRerank]:
    with FakeRerank() as api:
        yield api


def settings_for(api: FakeRerank) -> RerankSettings:
    return RerankSettings.from_env(
        {"SCRUBJAY_RERANKER": "voyage", "VOYAGE_API_KEY": api.key, "VOYAGE_BASE_URL": api.url}
    )


async def test_each_text_has_its_score_in_order(api: FakeRerank) -> None:
    scores = await VoyageReranker(settings_for(api)).score(QUERY, TEXTS)
    assert scores == [pytest.approx(0.2), pytest.approx(0.8), pytest.approx(0.2)]
    (request,) = api.requests
    assert request.body["model"] == "rerank-2.5-lite"
    assert request.body["documents"] == TEXTS


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("401", "refused"),
        ("400", "refused"),
        ("429", "dead"),
        ("500", "dead"),
        ("529", "dead"),
        ("reset", "dead"),
        ("not_json", "dead"),
        ("wrong_count", "malformed"),
    ],
)
async def test_what_fails_is_named_and_tried_once(
    api: FakeRerank, mode: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may take longer to hand over the request.
    monkeypatch.setattr(voyage, "_SECONDS", 30.0)
    api.mode = mode
    with pytest.raises(RerankerUnavailable) as raised:
        await VoyageReranker(settings_for(api)).score(QUERY, TEXTS)
    assert raised.value.reason == reason
    assert len(api.requests) == 1


async def test_a_server_that_hangs_is_given_up(api: FakeRerank) -> None:
    api.mode = "hang"
    with pytest.raises(RerankerUnavailable) as raised:
        await asyncio.wait_for(VoyageReranker(settings_for(api)).score(QUERY, TEXTS), 10)
    assert raised.value.reason == "dead"
    api.release()


def test_settings_are_checked() -> None:
    with pytest.raises(SettingsError, match="VOYAGE_API_KEY"):
        RerankSettings.from_env({"SCRUBJAY_RERANKER": "voyage"})
    with pytest.raises(SettingsError, match="SCRUBJAY_RERANKER must be one of"):
        RerankSettings.from_env({"SCRUBJAY_RERANKER": "magic"})
    assert open_reranker(RerankSettings()) is None


async def test_assembly_takes_the_second_look_and_goes_on_without_it(
    fresh_database: Database, redis_url: str, tmp_path: Path, api: FakeRerank
) -> None:
    settings = {"SCRUBJAY_RERANKER": "voyage", "VOYAGE_API_KEY": api.key, "VOYAGE_BASE_URL": api.url}
    cluster = Cluster(
        fresh_database,
        redis_url,
        tmp_path,
        settings={"SCRUBJAY_EMBEDDER": "local"},
        settings_of={"context": settings},
    )
    async with cluster, cluster.client("write") as client:
        for text in TEXTS:
            written = await client.post("/api/psychic-cache/write?wait=indexed", note("m", text))
            assert written.status == 201
        seen = await client.post("/api/context/assemble", question("m", text=QUERY))
        assert seen.body["degraded"] == []
        assert any(request.path == "/v1/rerank" for request in api.requests)
        for mode, reason in (("500", "dead"), ("wrong_count", "malformed"), ("hang", "timeout")):
            api.mode = mode
            started = time.monotonic()
            seen = await client.post("/api/context/assemble", question("m", text=QUERY))
            assert time.monotonic() - started < 10
            assert seen.status == 200
            (trouble,) = seen.body["degraded"]
            assert trouble["source"] == "reranker"
            assert trouble["reason"] in (reason, "dead")
            assert seen.body["sources"]
        api.release()
