from __future__ import annotations

import pytest

from shared.embeddings.band import Band, Floors
from shared.embeddings.settings import LOCAL_MODEL, MULTILINGUAL_MODEL, EmbeddingSettings
from shared.settings import SettingsError


def test_local_is_the_default_without_a_key() -> None:
    settings = EmbeddingSettings.from_env({})
    assert (settings.provider, settings.model) == ("local", LOCAL_MODEL)


def test_a_local_model_of_many_languages_may_be_chosen() -> None:
    settings = EmbeddingSettings.from_env({"SCRUBJAY_EMBEDDING_MODEL": MULTILINGUAL_MODEL})
    assert (settings.provider, settings.model) == ("local", MULTILINGUAL_MODEL)


def test_a_voyage_key_selects_voyage() -> None:
    settings = EmbeddingSettings.from_env({"VOYAGE_API_KEY": "k", "VOYAGE_BASE_URL": "http://host/v1/"})
    assert (settings.provider, settings.api_key, settings.base_url) == ("voyage", "k", "http://host/v1")
    assert EmbeddingSettings.from_env({"VOYAGE_API_KEY": "k", "SCRUBJAY_EMBEDDER": "local"}).api_key is None


def test_an_endpoint_of_ones_own_needs_no_key() -> None:
    settings = EmbeddingSettings.from_env(
        {"SCRUBJAY_EMBEDDER": "openai", "OPENAI_BASE_URL": "http://host/v1", "SCRUBJAY_DEDUP_DISTANCE": "0.1"}
    )
    assert settings.api_key is None
    assert settings.dedup_distance == 0.1


def test_an_installation_gives_its_own_cosine_band() -> None:
    band = {"SCRUBJAY_COSINE_BAND": "0.5, 0.9"}
    floors = {"SCRUBJAY_RELEVANCE_FLOORS": "0.2,0.5"}
    assert EmbeddingSettings.from_env(band).cosine_band == Band(0.5, 0.9)
    assert EmbeddingSettings.from_env(band | floors).cosine_band == Band(0.5, 0.9, Floors(0.2, 0.5))
    assert EmbeddingSettings.from_env(floors).cosine_band == Band(0.45, 0.85, Floors(0.2, 0.5))
    assert EmbeddingSettings.from_env({}).cosine_band is None


def test_the_key_is_not_printed() -> None:
    assert "hush" not in repr(EmbeddingSettings.from_env({"VOYAGE_API_KEY": "hush"}))


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"SCRUBJAY_EMBEDDER": "voyage"}, "VOYAGE_API_KEY"),
        ({"SCRUBJAY_EMBEDDER": "openai"}, "OPENAI_API_KEY"),
        ({"SCRUBJAY_EMBEDDER": "word2vec"}, "SCRUBJAY_EMBEDDER"),
        ({"SCRUBJAY_EMBEDDING_MODEL": "voyage-4"}, "SCRUBJAY_EMBEDDING_MODEL"),
        ({"SCRUBJAY_EMBEDDING_THREADS": "0"}, "SCRUBJAY_EMBEDDING_THREADS"),
        ({"SCRUBJAY_EMBEDDING_QUERY_TIMEOUT": "soon"}, "SCRUBJAY_EMBEDDING_QUERY_TIMEOUT"),
        ({"SCRUBJAY_DEDUP_DISTANCE": "2"}, "SCRUBJAY_DEDUP_DISTANCE"),
        ({"SCRUBJAY_COSINE_BAND": "0.8"}, "SCRUBJAY_COSINE_BAND"),
        ({"SCRUBJAY_COSINE_BAND": "0.8,0.4"}, "SCRUBJAY_COSINE_BAND"),
        ({"SCRUBJAY_COSINE_BAND": "nan,1"}, "SCRUBJAY_COSINE_BAND"),
        ({"SCRUBJAY_RELEVANCE_FLOORS": "0.2"}, "SCRUBJAY_RELEVANCE_FLOORS"),
        ({"SCRUBJAY_RELEVANCE_FLOORS": "0.5,0.2"}, "SCRUBJAY_RELEVANCE_FLOORS"),
        ({"SCRUBJAY_RELEVANCE_FLOORS": "0.2,1"}, "SCRUBJAY_RELEVANCE_FLOORS"),
        ({"SCRUBJAY_RELEVANCE_FLOORS": "nan,0.5"}, "SCRUBJAY_RELEVANCE_FLOORS"),
    ],
)
def test_refuses_to_start_naming_what_is_wrong(env: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        EmbeddingSettings.from_env(env)
