"""Replicas of the agent-memory service inside the test's process, over a fake embedding API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from local.database import Database
from services.agent_memory.app import Services, connect, opened
from services.agent_memory.memories.schemas import CommitAgentMemoryInput, CommitResult
from services.agent_memory.settings import Settings
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.embeddings import EmbeddingSettings
from tests.support.fakes.fake_openai import FakeOpenAI

MANY_SECONDS = 60.0


def who(tenant: str, key: str = "key") -> Principal:
    return Principal(tenant, key, frozenset(["read", "write", "admin"]))


def fake_embedding(api: FakeOpenAI) -> EmbeddingSettings:
    return EmbeddingSettings(
        provider="openai",
        model="text-embedding-3-small",
        api_key=api.key,
        base_url=api.url,
        query_timeout=0.5,
        document_timeout=0.5,
        dedup_distance=0.2,
    )


@asynccontextmanager
async def replica(
    database: Database, redis_url: str, embedding: EmbeddingSettings
) -> AsyncIterator[Services]:
    settings = Settings(
        database_url=database.services["agent_memory"],
        redis_url=redis_url,
        identity_secrets=("t",),
        embedding=embedding,
        dedup_seconds=0.5 if embedding.provider == "openai" else 10,
    )
    async with opened(settings, connect(settings)) as services:
        yield services


async def commit(
    services: Services, tenant: str, agent: str, content: str, *, key: str = "key", **more: Any
) -> CommitResult:
    memory = CommitAgentMemoryInput(agent_name=agent, content=content, memory_type="lesson_learned", **more)
    committed = await services.commits.commit(who(tenant, key), [memory], None, Deadline(MANY_SECONDS))
    return committed.results[0]


async def settled(sql: Connection, tenant: str) -> None:
    """Waits until nothing of the tenant waits for a vector; what was put off is due at once."""
    async with asyncio.timeout(MANY_SECONDS):
        while await sql.fetchval("select exists (select from memory.index_queue where tenant = $1)", tenant):
            await sql.execute(
                "update memory.index_queue set due_at = clock_timestamp() where tenant = $1"
                " and due_at < clock_timestamp() + interval '50 seconds'",
                tenant,
            )
            await asyncio.sleep(0.2)
