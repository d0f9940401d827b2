"""A turn with its context happens, or nothing does."""

from __future__ import annotations

from uuid import uuid4

import pytest

from local.database import Database
from services.cache.sessions.objects import queries
from services.cache.sessions.objects.schemas import AdmitInput, TurnInput
from services.cache.sessions.schemas import CreateSessionInput
from shared.database.tenancy import look
from shared.deadline import Deadline
from tests.support.cache_services import cache_service, principal

_BROKEN = look(
    "select 1 / (s.n - s.n) from generate_series(1, 1) s(n)"
    " where ($1::text, $2::text, $3::text[], $4::text[], $5::uuid, $6::text) is not null or true"
)


async def test_a_turn_whose_context_cannot_be_read_has_not_ended(
    database: Database, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a caller without a key, who repeats what failed, would end two."""
    wanted = TurnInput(admit=[AdmitInput(content="a plan", object_type="plan")], context=True)
    who = principal(f"turns-{uuid4().hex}")
    async with cache_service(database, redis_url) as service:
        made = await service.sessions.create(who, CreateSessionInput(agent_name="scout"), None, Deadline(5))
        session = str(made.data.id)
        with monkeypatch.context() as broken:
            broken.setattr(queries, "BLOCK", _BROKEN)
            with pytest.raises(Exception, match="division by zero"):
                await service.turns.end(who, session, wanted, None, Deadline(5))
        assert (await service.sessions.get(who, session, Deadline(5))).total_turns == 0
        ended = await service.turns.end(who, session, wanted, None, Deadline(5))
        assert ended.turn == 1
        assert ended.context is not None
        assert [each.tokens for each in ended.context.objects] == [ended.admitted[0].objects[0].tokens]
