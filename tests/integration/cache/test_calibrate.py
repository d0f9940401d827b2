"""The cosine band of a model, measured on a tenant's own entries."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from local.database import Database
from services.cache.calibrate import report
from services.cache.settings import Settings
from shared.deadline import Deadline
from shared.embeddings import EmbeddingSettings
from shared.embeddings.band import FLOORS, FLOORS_VARIABLE, VARIABLE, Band
from tests.support.agent_memory import fake_embedding
from tests.support.cache_services import cache_service, intel, principal
from tests.support.fakes.fake_openai import FakeOpenAI

DECISIONS = Path(__file__).parents[3] / "docs" / "decisions"


async def fill(database: Database, redis_url: str, tenant: str) -> Settings:
    """Writes this project's decisions as entries, and returns the service's settings."""
    async with cache_service(database, redis_url) as service:
        for number, path in enumerate(sorted(DECISIONS.glob("0*.md"))[:70]):
            text = path.read_text().partition("## Context")[2]
            await service.writer.write(principal(tenant), intel(f"m{number % 12}", text), None, Deadline(30))
    return Settings(
        database_url=database.services["cache"],
        redis_url=redis_url,
        identity_secrets=("none",),
        embedding=EmbeddingSettings(),
    )


async def calibrated(settings: Settings, tenant: str, texts: int) -> Band:
    lines = (await report(settings, tenant, texts, 1_000)).splitlines()
    variables = dict(line.split("=") for line in lines if not line.startswith("#"))
    assert set(variables) == {VARIABLE, FLOORS_VARIABLE}
    band = EmbeddingSettings.from_env(variables).cosine_band
    assert band is not None
    return band


async def test_the_local_models_band_is_about_the_built_in_one(database: Database, redis_url: str) -> None:
    settings = await fill(database, redis_url, "calibrate-local")
    band = await calibrated(settings, "calibrate-local", 60)
    assert band.low == pytest.approx(0.45, abs=0.08)
    assert band.high == pytest.approx(0.85, abs=0.08)
    assert band.floors.answer == FLOORS.answer


async def test_a_model_behind_an_api_gets_its_own_band(
    database: Database, redis_url: str, embedding_api: FakeOpenAI
) -> None:
    settings = await fill(database, redis_url, "calibrate-api")
    settings = dataclasses.replace(settings, embedding=fake_embedding(embedding_api))
    band = await calibrated(settings, "calibrate-api", 60)
    assert band.low < 0.4
    assert FLOORS.noise <= band.floors.noise < band.floors.answer


async def test_too_few_texts_are_refused(database: Database, redis_url: str) -> None:
    settings = await fill(database, redis_url, "calibrate-few")
    with pytest.raises(ValueError, match="two groups"):
        await report(settings, "calibrate-nobody", 60, 1_000)
