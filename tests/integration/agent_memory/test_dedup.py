"""Near misses stay apart and repeats are one, with the local model's vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from local.database import Database
from services.agent_memory.app import Services
from shared.database.postgres import Connection
from shared.embeddings import EmbeddingSettings, same_fact
from tests.support.agent_memory import commit, replica, settled

# One number, name, sign, unit, negation, direction or qualifier apart.
NEAR_MISSES = [
    ("The staging database listens on port 5433.", "The staging database listens on port 5434."),
    ("Retry the payment webhook at most 3 times.", "Retry the payment webhook at most 5 times."),
    ("The nightly backup starts at 02:30 UTC.", "The nightly backup starts at 03:30 UTC."),
    ("The cache holds entries for .5 seconds.", "The cache holds entries for 5 seconds."),
    ("Invoice 2024-117 was paid twice.", "Invoice 2024-171 was paid twice."),
    ("The p95 latency budget is 250 ms.", "The p95 latency budget is 250 s."),
    ("Pin the client to version 4.2.0.", "Pin the client to version 4.2.1."),
    ("The limit is 1,500 requests a minute.", "The limit is 15,000 requests a minute."),
    ("Alice approves production deploys.", "Bob approves production deploys."),
    ("Ask Johnson before you touch the ledger.", "Ask Johnston before you touch the ledger."),
    ("Christine owns the billing service.", "Christina owns the billing service."),
    ("The failover replica is in Frankfurt.", "The failover replica is in Frankenthal."),
    ("The orders service writes to Kafka.", "The orders service writes to Kinesis."),
    ("Alice reports to Bob.", "Bob reports to Alice."),
    ("The production database is read-only.", "The product database is read-only."),
    ("Write the connector in C++.", "Write the connector in C#."),
    ("The plan costs $20 a month.", "The plan costs €20 a month."),
    ("Alert when the queue is > 100.", "Alert when the queue is < 100."),
    ("Keep the freezer at -5 degrees.", "Keep the freezer at 5 degrees."),
    ("Deploys are allowed on Fridays.", "Deploys are not allowed on Fridays."),
    ("The migration can run during the day.", "The migration can't run during the day."),
    ("Run the linter before the tests.", "Run the linter after the tests."),
    ("Scale up when the load falls.", "Scale down when the load falls."),
    ("Logs are kept in /var/log/app.", "Logs are kept in /var/log/web."),
    ("Mount the volume at /data.", "Mount the volume at data."),
    ("Backups run every night.", "Backups run every night except Sundays."),
    ("The API key is rotated monthly.", "The API key is rotated weekly."),
    ("The gateway accepts TLS 1.2.", "The gateway rejects TLS 1.2."),
    ("Set MAX_CONNECTIONS to the pool size.", "Set MIN_CONNECTIONS to the pool size."),
    ("Use the --force option to reindex.", "Use the --dry-run option to reindex."),
]
REPEATS = [
    ("The staging database listens on port 5433.", "the staging database listens on port 5433"),
    ("Retry the payment webhook at most 3 times.", "Retry the payment webhooks at most 3 times!"),
    ("The limit is 1,500 requests a minute.", "The limit is 1500 requests a minute."),
    ("The migration cannot run during the day.", "The migration can't run during the day."),
    ("Deploys need a migration check.", "The deploy needs a migrations check"),
]
DISTANCES = {"local": None, "voyage": 0.2}


@pytest.fixture(scope="module", params=DISTANCES, ids=lambda name: f"at the distance for {name}")
async def services(
    request: pytest.FixtureRequest, database: Database, redis_url: str
) -> AsyncIterator[Services]:
    embedding = EmbeddingSettings(dedup_distance=DISTANCES[request.param])
    async with replica(database, redis_url, embedding) as services:
        yield services


async def test_near_misses_stay_apart_and_repeats_are_one(services: Services, sql: Connection) -> None:
    """One agent has them all: what is not its pair's other half is a neighbour, too."""
    tenant = f"near-{id(services)}"
    for pair in NEAR_MISSES:
        first, second = [await commit(services, tenant, "apart", text) for text in pair]
        assert second.status == "created", pair
        assert first.memory_id != second.memory_id
    for one, other in REPEATS:
        first = await commit(services, tenant, "same", one)
        second = await commit(services, tenant, "same", other)
        assert (second.status, second.memory_id) == ("updated", first.memory_id), (one, other)
    await settled(sql, tenant)
    held = "select count(*) from memory.agent_memory where tenant = $1 and agent_name = $2"
    assert await sql.fetchval(held, tenant, "apart") == 2 * len(NEAR_MISSES)
    assert await sql.fetchval(held, tenant, "same") == len(REPEATS)


@pytest.mark.parametrize("pair", NEAR_MISSES, ids=lambda pair: pair[1])
def test_distance_is_not_asked_where_the_words_tell(pair: tuple[str, str]) -> None:
    assert not same_fact(*pair)
    assert not same_fact(*pair[::-1])
