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


def test_the_set_comes_from_a_list() -> None:
    values = {"DATABASE_URL": "d", "REDIS_URL": "r", "SCRUBJAY_CACHE_SECRET": "t"}
    assert Settings.from_env(values).tags is None
    assert Settings.from_env({**values, "SCRUBJAY_CACHE_TAGS": "a, b,,c"}).tags == frozenset({"a", "b", "c"})
