"""The real clients against fake APIs over HTTP, and the real local model."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import numpy as np
import pytest
from prometheus_client import REGISTRY

from shared.concurrency.breaker import Breaker
from shared.embeddings import (
    DIM,
    CachedEmbedder,
    Embedder,
    EmbedderUnavailable,
    EmbeddingSettings,
    Kind,
    open_embedder,
)
from shared.embeddings.remote import RemoteEmbedder
from shared.settings import SettingsError
from tests.support.fakes.embedding_api import EmbeddingApi
from tests.support.fakes.fake_openai import FakeOpenAI
from tests.support.fakes.fake_voyage import FakeVoyage


def settings_for(api: EmbeddingApi, model: str | None = None, **env: str) -> EmbeddingSettings:
    name = "voyage" if isinstance(api, FakeVoyage) else "openai"
    values = {
        "SCRUBJAY_EMBEDDER": name,
        f"{name.upper()}_API_KEY": api.key,
        f"{name.upper()}_BASE_URL": api.url,
        **env,
    }
    if model:
        values["SCRUBJAY_EMBEDDING_MODEL"] = model
    return EmbeddingSettings.from_env(values)


@asynccontextmanager
async def opened(settings: EmbeddingSettings) -> AsyncIterator[RemoteEmbedder]:
    embedder = await open_embedder(settings)
    assert isinstance(embedder, RemoteEmbedder)
    try:
        yield embedder
    finally:
        await embedder.close()


class Remote(NamedTuple):
    embedder: RemoteEmbedder
    api: EmbeddingApi

    def calls(self, outcome: str) -> float:
        labels = {"provider": self.embedder.provider, "outcome": outcome}
        return REGISTRY.get_sample_value("scrubjay_embedding_calls_total", labels) or 0


@pytest.fixture(params=[FakeVoyage, FakeOpenAI])
def api(request: pytest.FixtureRequest) -> Iterator[EmbeddingApi]:
    with request.param() as api:
        yield api


@pytest.fixture
async def remote(api: EmbeddingApi) -> AsyncIterator[Remote]:
    async with opened(settings_for(api)) as embedder:
        api.requests.clear()
        yield Remote(embedder, api)


def assert_unit(vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]], count: int) -> None:
    assert vectors.shape == (count, DIM)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


async def test_vectors_come_back_in_order(remote: Remote) -> None:
    texts = [f"note {i}" for i in range(300)]
    vectors = await remote.embedder.embed(texts, "document")
    assert_unit(vectors, 300)
    assert remote.api.texts() == texts
    assert max(len(request.body["input"]) for request in remote.api.requests) <= remote.embedder.batch_texts
    alone = await remote.embedder.embed(["note 250"], "document")
    np.testing.assert_allclose(vectors[250], alone[0], atol=1e-6)


async def test_large_texts_are_spread_over_requests(remote: Remote) -> None:
    await remote.embedder.embed(["word " * 4_000] * 20, "document")
    assert len(remote.api.requests) > 1
    assert len(remote.api.texts()) == 20


async def test_what_an_api_would_refuse_is_mended_before_it_is_sent(remote: Remote) -> None:
    vectors = await remote.embedder.embed(["", " \n", "broken \ud800 text", "x" * 500_000], "document")
    assert_unit(vectors, 4)
    assert remote.api.texts()[2] == "broken \ufffd text"
    assert len(remote.api.texts()[3]) == remote.embedder.text_bytes


async def test_connections_are_kept(remote: Remote) -> None:
    before = remote.api.connections
    for i in range(10):
        await remote.embedder.embed([str(i)], "query")
    assert remote.api.connections == before


async def test_no_texts_no_request(remote: Remote) -> None:
    assert (await remote.embedder.embed([], "document")).shape == (0, DIM)
    assert remote.api.requests == []


async def test_voyage_is_told_the_kind_and_the_dimension() -> None:
    with FakeVoyage() as api:
        async with opened(settings_for(api)) as embedder:
            assert embedder.model == "voyage:voyage-4"
            assert embedder.dedup_distance == 0.2
            await embedder.embed(["q"], "query")
            await embedder.embed(["d"], "document")
    query, document = api.requests[-2:]
    assert (query.body["input_type"], document.body["input_type"]) == ("query", "document")
    assert query.body["output_dimension"] == DIM


async def test_openai_answers_are_put_in_order() -> None:
    with FakeOpenAI(shuffled=True) as api:
        async with opened(settings_for(api)) as embedder:
            both = await embedder.embed(["alpha", "beta"], "document")
            np.testing.assert_allclose(both[1], (await embedder.embed(["beta"], "document"))[0], atol=1e-6)
            assert api.requests[-1].body["dimensions"] == DIM


async def test_a_shorter_model_without_dimensions_is_padded() -> None:
    with FakeOpenAI(native=384, shortens=False) as api:
        async with opened(settings_for(api)) as embedder:
            vectors = await embedder.embed(["alpha"], "document")
            assert_unit(vectors, 1)
            assert not vectors[:, 384:].any()
            assert "dimensions" not in api.requests[-1].body
            assert len(api.requests) == 3


async def test_usage_is_reported() -> None:
    usage: list[tuple[str, int, int]] = []

    def counted() -> float:
        return REGISTRY.get_sample_value("scrubjay_embedding_texts_total", {"provider": "voyage"}) or 0

    with FakeVoyage() as api:
        embedder = await open_embedder(settings_for(api), lambda *row: usage.append(row))
        usage.clear()
        texts = counted()
        await embedder.embed(["one two", "three"], "document")
        await embedder.close()
    assert usage == [("voyage:voyage-4", 3, 2)]
    assert counted() == texts + 2


@pytest.mark.parametrize("model", ["voyage-finance-2", "no-such-model"])
async def test_voyage_models_without_512_dimensions_are_refused(model: str) -> None:
    with FakeVoyage() as api, pytest.raises(SettingsError, match=model):
        await open_embedder(settings_for(api, model))


async def test_openai_models_that_cannot_be_shortened_are_refused() -> None:
    with FakeOpenAI(native=1536, shortens=False) as api, pytest.raises(SettingsError, match="512"):
        await open_embedder(settings_for(api))


async def test_a_wrong_path_is_refused() -> None:
    with FakeOpenAI() as api:
        settings = settings_for(api, OPENAI_BASE_URL=api.url + "/elsewhere")
        with pytest.raises(SettingsError, match="404"):
            await open_embedder(settings)


@pytest.mark.parametrize("mode", ["503", "401"])
async def test_an_api_that_is_away_does_not_keep_the_service_down(api: EmbeddingApi, mode: str) -> None:
    api.mode = mode
    settings = settings_for(api, SCRUBJAY_EMBEDDING_QUERY_TIMEOUT="0.2")
    async with opened(settings) as embedder:
        api.mode = "ok"
        await until_closed(embedder.breaker)
        assert_unit(await embedder.embed(["back"], "document"), 1)


@pytest.mark.parametrize("mode", ["429", "500", "502", "503", "529", "reset"])
async def test_a_passing_fault_is_retried(remote: Remote, mode: str) -> None:
    remote.api.script.extend([mode, mode])
    assert_unit(await remote.embedder.embed(["again"], "document"), 1)
    assert len(remote.api.requests) == 3


async def test_retry_after_is_waited_for(remote: Remote) -> None:
    remote.api.retry_after = "0.5"
    remote.api.script.append("429")
    loop = asyncio.get_running_loop()
    start = loop.time()
    await remote.embedder.embed(["again"], "document")
    assert loop.time() - start >= 0.5


async def test_a_retry_after_beyond_the_limit_is_told_at_once(remote: Remote) -> None:
    remote.api.retry_after = "3600"
    remote.api.mode = "429"
    with pytest.raises(EmbedderUnavailable) as raised:
        await remote.embedder.embed(["later"], "query")
    assert (raised.value.reason, raised.value.retry_after) == ("rate_limited", 3600)
    assert len(remote.api.requests) == 1


@pytest.mark.parametrize("mode", ["400", "401", "403", "422"])
async def test_a_refusal_is_not_retried(remote: Remote, mode: str) -> None:
    before = remote.calls("refused")
    remote.api.mode = mode
    for _ in range(6):
        with pytest.raises(EmbedderUnavailable) as raised:
            await remote.embedder.embed(["never"], "document")
        assert raised.value.reason == "refused"
        assert raised.value.http_status == int(mode)
        assert raised.value.retry_after is None
    assert len(remote.api.requests) == 6
    assert remote.calls("refused") == before + 6
    remote.api.mode = "ok"
    await remote.embedder.embed(["well"], "document")


@pytest.mark.parametrize("mode", ["wrong_dimension", "wrong_count", "nan", "zero", "empty", "not_json"])
async def test_a_malformed_answer_is_never_taken(remote: Remote, mode: str) -> None:
    remote.api.mode = mode
    with pytest.raises(EmbedderUnavailable) as raised:
        await remote.embedder.embed(["one", "two"], "document")
    assert raised.value.reason == "malformed"
    assert len(remote.api.requests) == 1


async def test_a_slow_api_is_left_at_the_limit(api: EmbeddingApi) -> None:
    async with opened(settings_for(api, SCRUBJAY_EMBEDDING_QUERY_TIMEOUT="0.3")) as embedder:
        api.mode = "hang"
        with pytest.raises(EmbedderUnavailable) as raised:
            await embedder.embed(["waiting"], "query")
        assert raised.value.reason == "slow"


async def test_a_dead_api_is_named() -> None:
    with FakeVoyage() as voyage, FakeOpenAI() as openai:
        embedders = [await open_embedder(settings_for(api)) for api in (voyage, openai)]
    for embedder in embedders:
        with pytest.raises(EmbedderUnavailable) as raised:
            await embedder.embed(["anyone?"], "query")
        assert raised.value.reason in ("dead", "breaker_open")
        await embedder.close()


async def test_the_breaker_spares_a_failing_api_and_finds_it_well_again(remote: Remote) -> None:
    remote.api.mode = "500"
    while not remote.embedder.breaker.is_open:
        with pytest.raises(EmbedderUnavailable):
            await remote.embedder.embed(["x"], "document")
    asked = len(remote.api.requests)
    with pytest.raises(EmbedderUnavailable) as raised:
        await remote.embedder.embed(["x"], "document")
    assert raised.value.reason == "breaker_open"
    assert raised.value.retry_after == 1.0
    assert len(remote.api.requests) == asked
    remote.api.mode = "ok"
    await until_closed(remote.embedder.breaker)
    assert_unit(await remote.embedder.embed(["x"], "document"), 1)


async def test_texts_that_fail_do_not_open_the_breaker(api: EmbeddingApi) -> None:
    """One caller's texts make the API fail, again and again; the others' are embedded all the while."""

    async def fail(text: str) -> None:
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed([text], "document")

    async with opened(settings_for(api, SCRUBJAY_EMBEDDING_DOCUMENT_TIMEOUT="0.5")) as embedder:
        api.mode, api.failing = "ok", "poison"
        for number in range(4):
            await fail(f"poison {number}")
            assert_unit(await embedder.embed(["well"], "query"), 1)
        await asyncio.gather(*(fail(f"poison {number}") for number in range(20)))
        await asyncio.sleep(0.1)
        assert not embedder.breaker.is_open
        assert_unit(await embedder.embed(["still well"], "query"), 1)


async def until_closed(breaker: Breaker) -> None:
    async with asyncio.timeout(30):
        while breaker.is_open:
            await asyncio.sleep(0.05)


async def test_callers_that_give_up_early_still_open_the_breaker(api: EmbeddingApi) -> None:
    async with opened(settings_for(api, SCRUBJAY_EMBEDDING_QUERY_TIMEOUT="0.3")) as inner:
        api.mode = "hang"
        cached = CachedEmbedder(inner)
        # At once: where they follow each other on a busy machine, the breaker opens before the last.
        await asyncio.gather(*(_give_up(cached, str(number)) for number in range(5)))
        while not inner.breaker.is_open:
            await asyncio.sleep(0.02)
        with pytest.raises(EmbedderUnavailable, match="breaker_open"):
            await cached.embed(["next"], "query", "t")
        await cached.close()


async def _give_up(embedder: CachedEmbedder, text: str) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await embedder.embed([text], "query", "t")


@pytest.fixture(scope="module")
async def local() -> AsyncIterator[Embedder]:
    embedder = await open_embedder(EmbeddingSettings())
    yield embedder
    await embedder.close()


async def test_local_vectors_find_what_is_meant(local: Embedder) -> None:
    documents = await local.embed(
        [
            "The nightly backup failed because the disk was full.",
            "Caroline adopted a grey cat last spring.",
            "The gateway's TLS certificate expires in March.",
        ],
        "document",
    )
    queries = await local.embed(
        ["why did last night's dump not finish?", "which pet does she have?"], "query"
    )
    assert_unit(documents, 3)
    assert not documents[:, 384:].any()
    assert (queries @ documents.T).argmax(axis=1).tolist() == [0, 1]


async def test_local_vectors_do_not_depend_on_their_batch(local: Embedder) -> None:
    texts = ["alpha", "a much longer text about databases and their indexes", "gamma"]
    together = await local.embed(texts, "document")
    alone = [(await local.embed([text], "query"))[0] for text in texts]
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("text", ["", "\ud800", "\x00", "word " * 20_000, "x" * 200_000, "世界 🪶"])
async def test_local_takes_any_text(local: Embedder, text: str) -> None:
    assert_unit(await local.embed([text], "document"), 1)


async def test_local_repeats_are_nearer_than_the_dedup_distance(local: Embedder) -> None:
    fact = "The staging database listens on port 5433."
    vectors = await local.embed(
        [
            fact,
            fact.upper(),
            fact.rstrip("."),
            "Port 5433 is where the staging database listens.",
            "Lunch is at noon.",
        ],
        "document",
    )
    distances = 1 - vectors[1:] @ vectors[0]
    assert (distances[:3] < local.dedup_distance).all()
    assert distances[3] > local.dedup_distance


@pytest.mark.parametrize("kind", ["query", "document"])
async def test_one_text_does_not_wait_behind_a_batch(local: Embedder, kind: Kind) -> None:
    documents = asyncio.create_task(local.embed(["a long document about nothing " * 60] * 10, "document"))
    await asyncio.sleep(0)
    await local.embed(["a short one"], kind)
    assert not documents.done()
    await documents


async def test_the_event_loop_goes_on_while_the_local_model_works(local: Embedder) -> None:
    documents = asyncio.create_task(local.embed(["a document about nothing " * 40] * 10, "document"))
    ticks = 0
    while not documents.done():
        await asyncio.sleep(0.001)
        ticks += 1
    assert ticks > 10


def test_only_the_selected_provider_is_imported() -> None:
    check = "import sys, shared.embeddings as _; print({'voyageai', 'onnxruntime'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_the_runtime_reports_to_nobody() -> None:
    check = "import os, shared.embeddings.english; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    result = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True, env={"PATH": ""}
    )
    assert result.stdout.strip() == "1"
    assert "telemetry" not in result.stderr.lower()


async def test_no_texts_no_vectors(local: Embedder) -> None:
    assert (await local.embed([], "document")).shape == (0, DIM)
