"""`python -m services.cache.calibrate TENANT`: measures a model's cosine band and floors on a tenant's entries.

It runs with the cache service's settings, changes nothing, and prints the settings for all services.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

import numpy as np

from services.cache.settings import Settings
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable, Kind, Vectors, open_embedder
from shared.embeddings.band import FLOORS_VARIABLE, VARIABLE, band_of
from shared.search.calibration import Measured, Sample, measure, samples
from shared.settings import SettingsError

_SECONDS = 60.0
_BATCH = 32
SAMPLE = """
select mission_id, content from cache.psychic_cache
where tenant = $1 and expires_at > now() order by id desc limit $2
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m services.cache.calibrate", description=__doc__)
    parser.add_argument("tenant")
    parser.add_argument("--texts", type=int, default=200, help="how many texts to embed (default 200)")
    parser.add_argument("--newest", type=int, default=10_000, help="how many entries to choose from")
    arguments = parser.parse_args()
    try:
        settings = Settings.from_env()
        found = asyncio.run(report(settings, arguments.tenant, arguments.texts, arguments.newest))
    except (SettingsError, EmbedderUnavailable, ValueError) as error:
        sys.exit(str(error))
    sys.stdout.write(found + "\n")


async def report(settings: Settings, tenant: str, texts: int, newest: int) -> str:
    """Raises ValueError when the tenant's texts say too little."""
    database = Database(settings.database_url, connections=1)
    await database.open()
    embedder = await open_embedder(settings.embedding)
    try:
        chosen = samples(await _texts(database, tenant, newest), texts)
        measured = await _measured(embedder, chosen)
    finally:
        await embedder.close()
        await database.close()
    return _lines(embedder.model, measured)


async def _texts(database: Database, tenant: str, newest: int) -> list[tuple[str, str]]:
    async def work(c: Connection) -> list[tuple[str, str]]:
        rows = await c.fetch(SAMPLE, tenant, newest)
        return [(row["mission_id"], row["content"]) for row in rows]

    return await database.run(tenant, work, Deadline(_SECONDS))


async def _measured(embedder: Embedder, chosen: list[Sample]) -> Measured:
    questions = await _vectors(embedder, [sample.sentence for sample in chosen], "query")
    return measure(
        chosen, questions, await _vectors(embedder, [sample.text for sample in chosen], "document")
    )


async def _vectors(embedder: Embedder, texts: Sequence[str], kind: Kind) -> Vectors:
    parts = [
        await embedder.embed(texts[start : start + _BATCH], kind, urgency="backlog")
        for start in range(0, len(texts), _BATCH)
    ]
    return np.concatenate(parts) if parts else np.empty((0, 1), np.float32)


def _lines(model: str, measured: Measured) -> str:
    built_in, band = band_of(model), measured.band
    return "\n".join(
        [
            f"# {model}, {measured.samples} texts. Without the settings: {built_in.low},{built_in.high}"
            f" and {built_in.floors.noise},{built_in.floors.answer}",
            f"# With them, unrelated texts above the floor: {measured.noise_kept:.0%}",
            f"# sentences that an unrelated text would answer: {measured.noise_answering:.0%}",
            f"{VARIABLE}={band.low},{band.high}",
            f"{FLOORS_VARIABLE}={band.floors.noise},{band.floors.answer}",
        ]
    )


if __name__ == "__main__":
    main()
