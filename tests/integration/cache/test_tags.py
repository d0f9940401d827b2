"""Tags are open, or a closed set of the installation's."""

from __future__ import annotations

import pytest

from local.database import Database
from services.cache.settings import Settings
from shared.deadline import Deadline
from shared.errors import Invalid
from tests.support.cache_services import cache_service, intel, principal


async def test_a_closed_set_refuses_others(database: Database, redis_url: str) -> None:
    who = principal("closed-tags")
    async with cache_service(database, redis_url, tags=frozenset({"a", "b"})) as service:
        written = await service.writer.write(who, intel("m", "text", tags=["a"]), None, Deadline(30))
        with pytest.raises(Invalid) as refused:
            await service.writer.write(who, intel("m", "text", tags=["a", "c"]), None, Deadline(30))
        errors = [{"field": "tags[1]", "message": "must be one of a, b", "allowed": ["a", "b"]}]
        assert refused.value.errors == errors
        with pytest.raises(Invalid):
            await service.entries.set_tags(who, written.id, ["c"], Deadline(30))
        assert (await service.entries.set_tags(who, written.id, ["b"], Deadline(30))).tags == ["b"]


async def test_tags_make_room_when_others_were_removed_meanwhile(database: Database, redis_url: str) -> None:
    who, deadline, budget = principal("tags-meanwhile"), Deadline(30), 100
    async with cache_service(database, redis_url, token_budget=budget) as service:
        await service.writer.write(who, intel("m", "oldest " * 10), None, deadline)
        edited = await service.writer.write(who, intel("m", "text", tags=["long" * 20]), None, deadline)
        row = await service.entries._own_row(who, edited.id, deadline)
        await service.entries.set_tags(who, edited.id, [], deadline)
        left = budget - (await service.missions.stats(who, "m", deadline)).total_tokens
        last = await service.writer.write(who, intel("m", "last" * (left - 5)), None, deadline)
        assert last.evicted_count == 0
        assert await service.entries._database.run(
            who.tenant, lambda c: service.entries._replace_tags(c, who, row, ["less" * 15]), deadline
        )
        stats = await service.missions.stats(who, "m", deadline)
    assert (stats.evicted_count, stats.total_tokens <= budget) == (1, True)


def test_the_set_comes_from_a_list() -> None:
    values = {"DATABASE_URL": "d", "REDIS_URL": "r", "SCRUBJAY_CACHE_SECRET": "t"}
    assert Settings.from_env(values).tags is None
    assert Settings.from_env({**values, "SCRUBJAY_CACHE_TAGS": "a, b,,c"}).tags == frozenset({"a", "b", "c"})
